import CLinux
import Glibc

/// A blocking connection to a server, for the command line and for tests. Each call waits for the time-out at most.
public struct ClientSocket: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    private let peer: SocketAddress

    /// Connects to an address.
    public init(to address: SocketAddress, timeout: Duration) throws(SocketError) {
        let number = socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last("socket", on: "\(address)") }
        let descriptor = FileDescriptor(owning: number)
        // Linux applies the send time-out to connect(2) as well.
        let (seconds, attoseconds) = timeout.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            unsafe setsockopt(number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        let result = unsafe address.withNative { unsafe connect(number, $0, $1) }
        guard result == 0 else { throw .last("connect", on: "\(address)") }
        self.descriptor = descriptor
        peer = address
    }

    /// The local end of the connection.
    public var localAddress: SocketAddress? {
        unsafe SocketAddress.filled { unsafe getsockname(descriptor.number, $0, $1) }?.address
    }

    /// Writes all bytes.
    public func send(_ bytes: [UInt8]) throws(SocketError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer.dropFirst(sent))
                return unsafe Glibc.send(descriptor.number, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last("send", on: "\(peer)") }
            sent += count
        }
    }

    /// Waits for bytes. Returns an empty array if the server sends no more.
    public func receive(upTo limit: Int = 65_536) throws(SocketError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(descriptor.number, $0.baseAddress, $0.count, 0)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last("recv", on: "\(peer)") }
            return Array(buffer.prefix(count))
        }
    }

    /// Ends the sending direction; responses can still be read.
    public func shutdownWrite() { shutdown(descriptor.number, Int32(SHUT_WR)) }

    /// Makes closing reset the connection instead of ending it in order.
    public func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            descriptor.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
