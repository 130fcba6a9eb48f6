import COpenSSL
import Sockets

/// A client of TLS for what programs of the system do not do: the bytes of libssl go through memory, so that a test can cut,
/// hold back and change them.
actor TLSClient {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let engine = ClientEngine()
    private var socket: ClientSocket?
    private var buffer: [UInt8] = []

    /// - Parameter preamble: what goes before the handshake, in clear text.
    init(
        _ address: SocketAddress, maximumVersion: Int32 = TLS1_3_VERSION, preamble: String = ""
    ) async throws {
        try connect(address, maximumVersion, Array(preamble.utf8))
    }

    private func connect(_ address: SocketAddress, _ maximumVersion: Int32, _ preamble: [UInt8]) throws {
        SSL_ctrl(engine.session, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(maximumVersion), nil)
        socket = try ClientSocket(to: address, timeout: .seconds(60))
        var preamble = preamble
        while true {
            let result = SSL_do_handshake(engine.session)
            // With the greeting in one piece, so that a reader of the one must leave the other.
            try socket?.send(preamble + engine.takeOutput())
            preamble = []
            if result == 1 { return }
            guard SSL_get_error(engine.session, result) == SSL_ERROR_WANT_READ else { throw failure("handshake") }
            try fill()
        }
    }

    /// Encrypts, and keeps the records back until `flush`.
    func prepare(_ text: String) throws {
        let bytes = Array(text.utf8)
        var count = 0
        guard SSL_write_ex(engine.session, bytes, bytes.count, &count) == 1, count == bytes.count else {
            throw failure("write")
        }
    }

    /// Says that nothing more comes; kept back like everything else.
    func prepareGoodbye() { SSL_shutdown(engine.session) }

    /// Changes the keys, and asks the server to do the same.
    func prepareKeyUpdate() throws {
        guard SSL_key_update(engine.session, SSL_KEY_UPDATE_REQUESTED) == 1, SSL_do_handshake(engine.session) == 1
        else { throw failure("key update") }
    }

    /// Asks for a new handshake on the connection (TLS 1.2); throws when the server does not want one.
    func renegotiate() throws {
        SSL_renegotiate(engine.session)
        while true {
            let result = SSL_do_handshake(engine.session)
            try flush()
            if result == 1 { return }
            guard SSL_get_error(engine.session, result) == SSL_ERROR_WANT_READ else { throw failure("renegotiation") }
            try fill()
        }
    }

    /// Sends what was prepared, in pieces of so many bytes.
    func flush(inPiecesOf size: Int = .max) throws {
        let bytes = engine.takeOutput()
        var start = 0
        while start < bytes.count {
            let end = size < bytes.count - start ? start + size : bytes.count
            try socket?.send(Array(bytes[start..<end]))
            start = end
        }
    }

    func ask(_ text: String) throws -> String {
        try prepare(text)
        try flush()
        return try response()
    }

    /// The next response: head and content.
    func response() throws -> String {
        while true {
            let text = String(decoding: buffer, as: UTF8.self)
            if let head = text.range(ofText: "\r\n\r\n") {
                let length = text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                let count = head + 4 + (length.flatMap { Int($0.dropFirst(16)) } ?? 0)
                if buffer.count >= count {
                    defer { buffer.removeFirst(count) }
                    return String(decoding: buffer[..<count], as: UTF8.self)
                }
            }
            guard let bytes = try read(), !bytes.isEmpty else { throw failure("end of stream") }
            buffer += bytes
        }
    }

    /// Sends, and reads up to `end`.
    func ask(_ text: String, until end: String) throws -> String {
        try prepare(text)
        try flush()
        return try receive(until: end)
    }

    /// Reads up to `end`, and what came with it.
    func receive(until end: String) throws -> String {
        while String(decoding: buffer, as: UTF8.self).range(ofText: end) == nil {
            guard let bytes = try read(), !bytes.isEmpty else { throw failure("end of stream") }
            buffer += bytes
        }
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Whether the server ends in good order, by a close_notify and without another byte.
    func isClosed() throws -> Bool { try read() == [] }

    /// Waits for the end, however it comes.
    func waitForEnd() { while let bytes = try? read(), !bytes.isEmpty {} }

    /// Closes without a word of TLS.
    func cut() { socket = nil }

    /// The next bytes; empty after a close_notify, nil when the stream ends without.
    private func read() throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            var count = 0
            let result = SSL_read_ex(engine.session, &bytes, bytes.count, &count)
            if result == 1 { return Array(bytes.prefix(count)) }
            switch SSL_get_error(engine.session, result) {
            case SSL_ERROR_ZERO_RETURN: return []
            case SSL_ERROR_WANT_READ:
                guard let more = try socket?.receive(), !more.isEmpty else { return nil }
                engine.putInput(more)
            default: throw failure("read")
            }
        }
    }

    private func fill() throws {
        guard let bytes = try socket?.receive(), !bytes.isEmpty else { throw failure("end of stream") }
        engine.putInput(bytes)
    }

    private func failure(_ what: String) -> Failure {
        let reason = COpenSSL_take_error().map { String(cString: $0) } ?? "no reason"
        return Failure(description: "\(what): \(reason)")
    }

    /// The first message of a client, as it goes over the network.
    static func greeting() -> [UInt8] {
        let engine = ClientEngine()
        SSL_do_handshake(engine.session)
        return engine.takeOutput()
    }
}

/// A session of a client that reads and writes memory.
final class ClientEngine {
    let session: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer

    init() {
        guard let context = SSL_CTX_new(TLS_client_method()), let session = SSL_new(context),
            let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
        else { fatalError("no memory") }
        SSL_CTX_free(context)
        (self.session, self.input, self.output) = (session, input, output)
        SSL_set_bio(session, input, output)
        SSL_set_connect_state(session)
    }

    deinit { SSL_free(session) }

    func takeOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = BIO_read(output, &buffer, Int32(buffer.count)), count > 0 {
            bytes += buffer.prefix(Int(count))
        }
        return bytes
    }

    func putInput(_ bytes: [UInt8]) { _ = BIO_write(input, bytes, Int32(bytes.count)) }
}

extension String {
    /// The offset in bytes of a part.
    fileprivate func range(ofText part: String) -> Int? {
        let (bytes, wanted) = (Array(utf8), Array(part.utf8))
        guard bytes.count >= wanted.count else { return nil }
        return (0...(bytes.count - wanted.count)).first { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}
