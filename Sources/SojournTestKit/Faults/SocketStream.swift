#if os(Linux)
    import Glibc
    import SojournClient

    /// A connection over TCP on the loopback address, read and written by one thread that may block.
    final class SocketStream {
        struct Broken: Error {}

        private let descriptor: Int32
        private var buffer: [UInt8] = []
        /// No read waits longer than until then.
        var deadline: ContinuousClock.Instant?

        /// Takes over a connected socket.
        init(descriptor: Int32) { self.descriptor = descriptor }

        /// Connects to a port of 127.0.0.1.
        init(port: UInt16) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw Broken() }
            var one: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            let status = Self.withLoopback(port: port) { connect(descriptor, $0, $1) }
            // The deinitializer closes it.
            guard status == 0 else { throw Broken() }
        }

        /// The other side learns of the end even if a program that was started meanwhile has inherited the descriptor.
        deinit {
            shutdown(descriptor, Int32(SHUT_RDWR))
            close(descriptor)
        }

        static func withLoopback<Result>(
            port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
        ) -> Result {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        func write(_ bytes: [UInt8]) throws {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw Broken() }
                sent += count
            }
        }

        /// Reads more bytes. Throws at the end of the stream.
        private func fill() throws {
            if let deadline {
                let left = ContinuousClock.now.duration(to: deadline)
                guard left > .zero else { throw Broken() }
                var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
                guard Glibc.poll(&poll, 1, Int32(clamping: milliseconds + 1)) > 0 else { throw Broken() }
            }
            var bytes = [UInt8](repeating: 0, count: 16_384)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw Broken() }
            buffer += bytes[..<count]
        }

        /// Reads a line, without its end.
        func line() throws -> String {
            while true {
                if let end = buffer.firstIndex(of: 10) {
                    let line = buffer[..<end].filter { $0 != 13 }
                    buffer.removeFirst(end + 1)
                    return String(decoding: line, as: UTF8.self)
                }
                try fill()
            }
        }

        private func bytes(_ count: Int) throws -> [UInt8] {
            while buffer.count < count { try fill() }
            defer { buffer.removeFirst(count) }
            return Array(buffer[..<count])
        }

        /// Reads a request or an answer: the first line, the fields, and the content by its `Content-Length`.
        func message(hasContent: Bool = true) throws -> (first: String, fields: [HTTPMessageField], body: [UInt8]) {
            let first = try line()
            var fields: [HTTPMessageField] = []
            while true {
                let text = try line()
                if text.isEmpty { break }
                guard let colon = text.firstIndex(of: ":") else { throw Broken() }
                let value = text[text.index(after: colon)...].drop { $0 == " " }
                fields.append(HTTPMessageField(String(text[..<colon]), String(value)))
            }
            let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
            return (first, fields, hasContent ? try bytes(length) : [])
        }
    }
#endif
