#if os(Linux)
    import Foundation
    public import SojournClient

    /// A transport over plain sockets to a server on this machine, one connection for each request.
    public struct SocketTransport: Transport {
        /// Creates a transport.
        public init() {}

        /// Sends `request` to a port of 127.0.0.1.
        public func send(
            _ request: HTTPMessage, within limit: Duration
        ) async throws(TransportFailure) -> HTTPAnswer {
            let deadline = ContinuousClock.now + limit
            let result = await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<HTTPAnswer, TransportFailure>, Never>) in
                // A thread of its own, because reading blocks.
                Thread.detachNewThread {
                    do {
                        let answer = try Self.exchange(request, until: deadline)
                        continuation.resume(returning: .success(answer))
                    } catch {
                        let isLate = ContinuousClock.now >= deadline
                        continuation.resume(returning: .failure(isLate ? .timedOut : .unreachable("\(error)")))
                    }
                }
            }
            return try result.get()
        }

        static func exchange(_ request: HTTPMessage, until deadline: ContinuousClock.Instant) throws -> HTTPAnswer {
            guard let port = request.url.port.flatMap({ UInt16(exactly: $0) }) else { throw SocketStream.Broken() }
            let stream = try SocketStream(port: port)
            stream.deadline = deadline
            try stream.write(text(of: request))
            while true {
                let (first, fields, body) = try stream.message(hasContent: request.method != "HEAD")
                let words = first.split(separator: " ", maxSplits: 2)
                guard words.count >= 2, let status = Int(words[1]) else { throw SocketStream.Broken() }
                // An interim answer (RFC 9110 section 15.2).
                if status < 200 { continue }
                return HTTPAnswer(status: status, fields: fields, body: body)
            }
        }

        /// The request as it is sent, for a connection that ends with its answer.
        static func text(of request: HTTPMessage) -> [UInt8] {
            let path = request.url.path(percentEncoded: true)
            let query = request.url.query(percentEncoded: true).map { "?" + $0 } ?? ""
            var text = "\(request.method) \(path.isEmpty ? "/" : path)\(query) HTTP/1.1\r\n"
            let own: Set = ["host", "connection", "content-length", "keep-alive"]
            if let host = request.fields.first(where: { $0.name.lowercased() == "host" })?.value {
                text += "Host: \(host)\r\n"
            } else {
                text += "Host: \(request.url.host() ?? "127.0.0.1"):\(request.url.port ?? 80)\r\n"
            }
            text += "Connection: close\r\nContent-Length: \(request.body.count)\r\n"
            for field in request.fields where !own.contains(field.name.lowercased()) {
                text += "\(field.name): \(field.value)\r\n"
            }
            return Array((text + "\r\n").utf8) + request.body
        }
    }
#endif
