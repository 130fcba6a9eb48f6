import Sockets

/// What a connection reads from and writes to. One object owns the descriptor, so that whoever works on the connection
/// away from its loop can hold it, and a number is never closed, and given to somebody else, under his hands.
///
/// It costs a request nothing but a branch that always goes the same way.
final class Transport: Sendable {
    private let socket: StreamSocket

    init(_ socket: consuming StreamSocket) { self.socket = socket }

    /// For the event loop.
    var number: Int32 { socket.number }

    /// Reads what is there into the buffer. Less than the buffer holds means that nothing more was there, unless
    /// `holdsMore` says otherwise.
    func receive(into buffer: inout [UInt8]) -> StreamSocket.Transfer { socket.receive(into: &buffer) }

    /// Whether the next `receive` has something to tell that the kernel will not announce.
    var holdsMore: Bool { false }

    /// Writes as much of `bytes[offset...]` as goes. Less than all of it means that the kernel will tell when there is room.
    func send(_ bytes: [UInt8], from offset: Int = 0) -> StreamSocket.Transfer { socket.send(bytes, from: offset) }

    /// Bytes that were sent and that the other end has not acknowledged yet.
    var unacknowledgedCount: Int { socket.unacknowledgedCount }

    /// Says that no more bytes will follow; the other direction stays open.
    func shutdownWrite() { socket.shutdownWrite() }

    /// Takes bytes as they come from the network, to be forgotten: after the last answer.
    func discard(into buffer: inout [UInt8]) -> StreamSocket.Transfer { socket.receive(into: &buffer) }

    /// Says good-bye, if the protocol has a word for it, just before the connection is let go of.
    func sayGoodbye() {}
}
