import CLinux
import Glibc

/// An accepted connection. It owns its descriptor, never blocks and never raises SIGPIPE.
public struct StreamSocket: ~Copyable, Sendable {
    static let creationFlags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// The result of a read or a write.
    public enum Transfer: Equatable, Sendable {
        /// The number of bytes that were transferred. 0 from a read means that the other side sends no more.
        case bytes(Int)
        /// Nothing can be transferred at the moment.
        case wouldBlock
        /// The connection is broken.
        case failed
    }

    private let descriptor: FileDescriptor

    /// The descriptor, for the event loop.
    public var number: Int32 { descriptor.number }

    /// Takes over a descriptor that `Listener.accept` returned.
    public init(owning number: Int32) { descriptor = FileDescriptor(owning: number) }

    /// Sends small responses at once instead of waiting for more bytes (TCP_NODELAY). It has no effect on a Unix
    /// socket.
    public func sendWithoutDelay() { Self.enable(TCP_NODELAY, Int32(IPPROTO_TCP), on: number) }

    /// Reads what has arrived into the buffer.
    public func receive(into buffer: inout [UInt8]) -> Transfer { receive(into: &buffer, 0) }

    private func receive(into buffer: inout [UInt8], _ flags: Int32) -> Transfer {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(number, $0.baseAddress, $0.count, flags) }
            if count >= 0 { return .bytes(count) }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    /// Copies what has arrived without removing it.
    public func peek(into buffer: inout [UInt8]) -> Transfer { receive(into: &buffer, Int32(MSG_PEEK)) }

    /// Writes as much of `bytes[offset...]` as the system accepts.
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

    /// The number of bytes that were sent and not acknowledged by the other end; 0 if the system does not say.
    public var unacknowledgedCount: Int {
        var count: Int32 = 0
        return unsafe CLinux_unacknowledged(number, &count) == 0 ? Int(count) : 0
    }

    /// Ends the sending direction; the other one stays open.
    public func shutdownWrite() { shutdown(number, Int32(SHUT_WR)) }

    /// Ends both directions; the descriptor stays open.
    public func shutdownBoth() { shutdown(number, Int32(SHUT_RDWR)) }

    static func enable(_ option: Int32, _ level: Int32, on number: Int32) {
        var on: Int32 = 1
        unsafe setsockopt(number, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
