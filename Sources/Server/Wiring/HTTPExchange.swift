public import HTTP
public import Sockets

/// One request to a listener of a server, and its answer, over a new connection.
public enum HTTPExchange {
    /// Sends `request` to `address` and waits for the complete answer.
    public static func send(_ request: Request, to address: SocketAddress) throws(SocketError) -> Response {
        let socket = try ClientSocket(to: address, timeout: .seconds(30))
        try socket.send(bytes(of: request))
        var bytes: [UInt8] = []
        while true {
            let more = try socket.receive()
            if more.isEmpty { break }
            bytes += more
        }
        guard let response = response(from: bytes) else { throw .connectionClosed }
        return response
    }

    private static func bytes(of request: Request) -> [UInt8] {
        let query = request.target.query.map { "?" + $0 } ?? ""
        var head = "\(request.method) \(request.target.path)\(query) HTTP/1.1\r\nConnection: close\r\n"
        if request.fields.first("Host") == nil { head += "Host: localhost\r\n" }
        for (name, value) in request.fields { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(request.body.count)\r\n\r\n"
        return Array(head.utf8) + request.body
    }

    /// The server closes the connection after its answer, so that everything after the head is the content.
    private static func response(from bytes: [UInt8]) -> Response? {
        let lineEnd = Array("\r\n".utf8)
        guard let end = bytes.firstRange(of: lineEnd + lineEnd) else { return nil }
        guard let lineStart = bytes.firstRange(of: lineEnd) else { return nil }
        let words = String(decoding: bytes[..<lineStart.lowerBound], as: UTF8.self).split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let code = Int(words[1]), (100...599).contains(code),
            let fields = try? Fields(parsing: Array(bytes[lineStart.upperBound..<end.lowerBound + 2]))
        else { return nil }
        var response = Response(status: Status(code: code, reason: ""), fields: fields)
        response.body = Array(bytes[end.upperBound...])
        if let length = response.fields.first("Content-Length").flatMap(Int.init), length != response.body.count {
            return nil
        }
        return response
    }
}
