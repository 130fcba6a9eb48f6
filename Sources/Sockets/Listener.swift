import CLinux
import Glibc

/// A socket that waits for connections; never blocks. Closing it removes the file of a Unix socket.
public struct Listener: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    /// Where it really listens: port 0 has become a number.
    public let address: SocketAddress
    /// Tells the file that this listener made from one that a successor put in its place.
    private let fileIdentity: UInt64?

    /// For the event loop.
    public var number: Int32 { descriptor.number }

    /// Binds and listens.
    ///
    /// A Unix socket has mode 0600 from birth. Its file may be left over from a process that is gone: it is replaced if
    /// nobody answers on it.
    ///
    /// - Parameter backlog: connections that may wait to be accepted; the system cuts it at `net.core.somaxconn`.
    public init(_ address: SocketAddress, backlog: Int32 = 4096) throws(SocketError) {
        let number = socket(address.family, Int32(SOCK_STREAM.rawValue) | StreamSocket.creationFlags, 0)
        guard number >= 0 else { throw .last("socket", on: "\(address)") }
        let descriptor = FileDescriptor(owning: number)
        if case .unix(let path) = address {
            // Linux gives the new file the socket's own mode, so there is no moment in which others may connect.
            guard fchmod(number, 0o600) == 0 else { throw .last("fchmod", on: "\(address)") }
            try Self.bindUnix(number, address, path)
        } else {
            StreamSocket.enable(SO_REUSEADDR, SOL_SOCKET, on: number)
            if case .ipv6 = address { StreamSocket.enable(Int32(IPV6_V6ONLY), Int32(IPPROTO_IPV6), on: number) }
            try Self.bind(number, address)
        }
        guard Glibc.listen(number, backlog) == 0 else { throw .last("listen", on: "\(address)") }
        guard let bound = unsafe SocketAddress.filled(by: { unsafe getsockname(number, $0, $1) }) else {
            throw .last("getsockname", on: "\(address)")
        }
        self.address = bound.address
        if case .unix(let path) = address { fileIdentity = Self.socketIdentity(path) } else { fileIdentity = nil }
        self.descriptor = descriptor
    }

    deinit {
        if case .unix(let path) = address, let fileIdentity, fileIdentity == Self.socketIdentity(path) {
            unsafe unlink(path)
        }
    }

    /// Takes the next connection that waits.
    public func accept() -> AcceptResult {
        while true {
            let accepted = unsafe SocketAddress.filled { address, length in
                unsafe accept4(descriptor.number, address, length, StreamSocket.creationFlags)
            }
            if let accepted { return .connection(number: accepted.result, from: accepted.address) }
            switch errno {
            case EAGAIN: return .nobodyWaits
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .outOfResources
            case EINTR: continue
            // The connection ended before it was taken (accept(2) lists more such errors): the next one, please.
            case ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH: continue
            default: return .outOfResources
            }
        }
    }

    private static func bind(_ number: Int32, _ address: SocketAddress) throws(SocketError) {
        let result = unsafe address.withNative { unsafe Glibc.bind(number, $0, $1) }
        guard result == 0 else { throw .last("bind", on: "\(address)") }
    }

    private static func bindUnix(_ number: Int32, _ address: SocketAddress, _ path: String) throws(SocketError) {
        do {
            try bind(number, address)
        } catch .addressInUse where isAbandoned(address, path) {
            unsafe unlink(path)
            try bind(number, address)
        }
    }

    /// Whether the file is a socket on which nobody listens any more.
    private static func isAbandoned(_ address: SocketAddress, _ path: String) -> Bool {
        guard socketIdentity(path) != nil else { return false }
        do {
            _ = try ClientSocket(to: address, timeout: .seconds(1))
            return false
        } catch {
            if case .connectionRefused = error { return true }
            return false
        }
    }

    /// The inode of a socket file; nil if the path is anything else.
    private static func socketIdentity(_ path: String) -> UInt64? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return UInt64(status.st_ino)
    }
}

/// What `Listener.accept` found.
public enum AcceptResult: Sendable {
    /// A connection: non-blocking, closed on exec. The caller owns the descriptor from now on.
    case connection(number: Int32, from: SocketAddress)
    /// All have been taken.
    case nobodyWaits
    /// The process or the system has no descriptors or no memory left: pause, do not ask again at once.
    case outOfResources
}
