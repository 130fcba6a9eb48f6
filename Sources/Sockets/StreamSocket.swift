import CLinux
import Glibc

/// An accepted connection: owns its descriptor, never blocks, never raises SIGPIPE.
public struct StreamSocket: ~Copyable, Sendable {
    static let creationFlags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// What a read or a write came to.
    public enum Transfer: Equatable, Sendable {
        /// So many bytes went; 0 when reading: the other side sends no more.
        case bytes(Int)
        /// Nothing can be done right now.
        case wouldBlock
        /// The connection is broken.
        case failed
    }

    private let descriptor: FileDescriptor

    /// For the event loop.
    public var number: Int32 { descriptor.number }

    /// Takes over a descriptor that `Listener.accept` handed out.
    public init(owning number: Int32) { descriptor = FileDescriptor(owning: number) }

    /// Sends small answers at once instead of waiting for more (TCP_NODELAY). Without effect on a Unix socket.
    public func sendWithoutDelay() { Self.enable(TCP_NODELAY, Int32(IPPROTO_TCP), on: number) }

    /// Reads what is there into the buffer.
    public func receive(into buffer: inout [UInt8]) -> Transfer { receive(into: &buffer, 0) }

    private func receive(into buffer: inout [UInt8], _ flags: Int32) -> Transfer {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(number, $0.baseAddress, $0.count, flags) }
            if count >= 0 { return .bytes(count) }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    /// Shows what is there, and leaves it there.
    public func peek(into buffer: inout [UInt8]) -> Transfer { receive(into: &buffer, Int32(MSG_PEEK)) }

    /// Writes as much of `bytes[offset...]` as the system takes.
    public func send(_ bytes: [UInt8], from offset: Int = 0) -> Transfer {
        while true {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer.dropFirst(offset))
                return unsafe Glibc.send(number, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return .bytes(count) }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    /// Bytes that were sent and not yet acknowledged by the other end: what the system still keeps. 0 if it does not say.
    public var unacknowledgedCount: Int {
        var count: Int32 = 0
        return unsafe CLinux_unacknowledged(number, &count) == 0 ? Int(count) : 0
    }

    /// Says that no more bytes will follow; the other direction stays open.
    public func shutdownWrite() { shutdown(number, Int32(SHUT_WR)) }

    /// Ends both directions; the descriptor stays open.
    public func shutdownBoth() { shutdown(number, Int32(SHUT_RDWR)) }

    static func enable(_ option: Int32, _ level: Int32, on number: Int32) {
        var on: Int32 = 1
        unsafe setsockopt(number, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
