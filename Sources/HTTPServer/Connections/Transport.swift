import Sockets
import TLS

/// The stream that a connection reads from and writes to: a socket, or TLS over one. One object owns the descriptor, so
/// that a handshake thread can hold it, and so that the number is never closed and reused while it is in use.
///
/// Clear text pays for TLS only with a branch that always goes the same way.
final class Transport: Sendable {
    private let socket: StreamSocket
    private let session: TLSSession?

    /// - Parameter context: nil for clear text.
    init(_ socket: consuming StreamSocket, _ context: TLSContext? = nil) {
        session = context.map { [number = socket.number] in TLSSession($0, descriptor: number) }
        self.socket = socket
    }

    /// The descriptor, for the event loop.
    var number: Int32 { socket.number }

    /// True if the connection is encrypted.
    var isSecure: Bool { session != nil }

    /// Reads what has arrived into the buffer. Fewer bytes than the buffer holds mean that nothing more has arrived,
    /// unless `holdsMore` is true.
    func receive(into buffer: inout [UInt8]) -> StreamSocket.Transfer {
        guard let session else { return socket.receive(into: &buffer) }
        return StreamSocket.Transfer(session.receive(into: &buffer))
    }

    /// True if the next `receive` returns something that the kernel will not report.
    var holdsMore: Bool { session?.holdsMore ?? false }

    /// Writes as much of `bytes[offset...]` as possible. After a partial write the kernel reports when there is room;
    /// then the same bytes must be passed again, from where it stopped.
    func send(_ bytes: [UInt8], from offset: Int = 0) -> StreamSocket.Transfer {
        guard let session else { return socket.send(bytes, from: offset) }
        return StreamSocket.Transfer(session.send(bytes, from: offset))
    }

    /// The number of bytes that were sent and not acknowledged by the other end.
    var unacknowledgedCount: Int { socket.unacknowledgedCount }

    /// Ends the sending direction; the other one stays open.
    func shutdownWrite() {
        session?.sendCloseNotify()
        socket.shutdownWrite()
    }

    // MARK: Before and after the conversation

    /// Copies the first bytes that arrived without removing them.
    func peek(into buffer: inout [UInt8]) -> StreamSocket.Transfer { socket.peek(into: &buffer) }

    /// Continues the handshake. It computes, so it must not run on an event loop.
    func handshake() -> TLSSession.Step { session?.handshake() ?? .failed("no TLS") }

    /// Writes without encryption, to a client that does not speak TLS.
    func sendInClear(_ bytes: [UInt8]) { _ = socket.send(bytes) }

    /// Reads raw bytes in order to drop them, after the last response.
    func discard(into buffer: inout [UInt8]) -> StreamSocket.Transfer { socket.receive(into: &buffer) }

    /// Ends the connection before it is released, with TLS's closing alert.
    ///
    /// - Parameter isHandshaking: true while a handshake thread uses the connection. It finds the connection ended, and the
    ///   release of its reference closes it.
    func end(isHandshaking: Bool) {
        guard let session else { return }
        if isHandshaking {
            session.abandon()
            socket.shutdownBoth()
        } else {
            session.sendCloseNotify()
        }
    }
}

extension StreamSocket.Transfer {
    fileprivate init(_ transfer: TLSSession.Transfer) {
        switch transfer {
        case .bytes(let count): self = .bytes(count)
        case .wouldBlock: self = .wouldBlock
        case .failed: self = .failed
        }
    }
}
