import Sockets
import TLS

/// What a connection reads from and writes to: a socket, or TLS on one. One object owns the descriptor, so that whoever
/// works on the connection away from its loop can hold it, and a number is never closed, and given to somebody else,
/// under his hands.
///
/// TLS costs a request in clear text nothing but a branch that always goes the same way.
final class Transport: Sendable {
    private let socket: StreamSocket
    private let session: TLSSession?

    /// - Parameter context: nil for clear text.
    init(_ socket: consuming StreamSocket, _ context: TLSContext? = nil) {
        session = context.map { [number = socket.number] in TLSSession($0, descriptor: number) }
        self.socket = socket
    }

    /// For the event loop.
    var number: Int32 { socket.number }

    /// Whether what goes over it is encrypted.
    var isSecure: Bool { session != nil }

    /// Reads what is there into the buffer. Less than the buffer holds means that nothing more was there, unless
    /// `holdsMore` says otherwise.
    func receive(into buffer: inout [UInt8]) -> StreamSocket.Transfer {
        guard let session else { return socket.receive(into: &buffer) }
        return StreamSocket.Transfer(session.receive(into: &buffer))
    }

    /// Whether the next `receive` has something to tell that the kernel will not announce.
    var holdsMore: Bool { session?.holdsMore ?? false }

    /// Writes as much of `bytes[offset...]` as goes. Less than all of it means that the kernel will tell when there is room; then the
    /// same bytes have to be offered again, from where it stopped.
    func send(_ bytes: [UInt8], from offset: Int = 0) -> StreamSocket.Transfer {
        guard let session else { return socket.send(bytes, from: offset) }
        return StreamSocket.Transfer(session.send(bytes, from: offset))
    }

    /// Bytes that were sent and that the other end has not acknowledged yet.
    var unacknowledgedCount: Int { socket.unacknowledgedCount }

    /// Says that no more bytes will follow; the other direction stays open.
    func shutdownWrite() {
        session?.sayGoodbye()
        socket.shutdownWrite()
    }

    // MARK: Before and after the conversation

    /// Shows the first bytes that came, and leaves them where they are.
    func peek(into buffer: inout [UInt8]) -> StreamSocket.Transfer { socket.peek(into: &buffer) }

    /// Goes on with the handshake. Not on a loop: it computes.
    func handshake() -> TLSSession.Step { session?.handshake() ?? .failed("no TLS") }

    /// Writes without encryption, to somebody who does not speak it.
    func sendInClear(_ bytes: [UInt8]) { _ = socket.send(bytes) }

    /// Takes bytes as they come from the network, to be forgotten: after the last answer.
    func discard(into buffer: inout [UInt8]) -> StreamSocket.Transfer { socket.receive(into: &buffer) }

    /// The connection is about to be let go of. TLS has a word for that.
    ///
    /// - Parameter isAway: somebody else works on it at this moment: he finds it ended, and closes it when he lets go.
    func letGo(isAway: Bool) {
        guard let session else { return }
        if isAway {
            session.abandon()
            socket.shutdownBoth()
        } else {
            session.sayGoodbye()
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
