import CLinux
import Glibc

/// A socket that waits for connections and never blocks. Closing it removes the file of a Unix socket that it created.
public struct Listener: ~Copyable, Sendable {
    /// The options of a listener.
    public struct Options: Hashable, Sendable {
        /// The connections that may wait to be accepted. The system limits it to `net.core.somaxconn`.
        public var backlog: Int32 = 4096
        /// How other processes may listen on the same port. It has no effect on a Unix socket.
        public var sharing = Sharing.none
        /// The mode of a Unix socket's file, which decides which users may connect.
        public var unixMode: UInt32 = 0o600

        /// Creates the default options.
        public init() {}
    }

    /// How other processes of the same user may listen on the same address and port, each with a queue of its own
    /// (`SO_REUSEPORT`), and how new connections are distributed then.
    public enum Sharing: Hashable, Sendable {
        /// Only this process listens.
        case none
        /// The kernel distributes new connections among all processes.
        case balanced
        /// One process serves at a time. A second one takes the port, gets nothing until the first stops, and then
        /// everything.
        case succession
    }

    private let descriptor: FileDescriptor
    /// The actual address: port 0 is replaced by a number.
    public let address: SocketAddress
    /// True if another process created the socket and keeps it open, so that new connections wait for a successor.
    public let isInherited: Bool
    /// How other processes may listen on the same port.
    public let sharing: Sharing
    /// Distinguishes the file that this listener created from one that a successor put in its place.
    private let fileIdentity: UInt64?

    /// The descriptor, for the event loop.
    public var number: Int32 { descriptor.number }

    /// Binds and listens.
    ///
    /// A Unix socket has its mode from the moment of creation. A file that a dead process has left is replaced, if
    /// nothing listens on it.
    public init(_ address: SocketAddress, _ options: Options = Options()) throws(SocketError) {
        let number = socket(address.family, Int32(SOCK_STREAM.rawValue) | StreamSocket.creationFlags, 0)
        guard number >= 0 else { throw .last("socket", on: "\(address)") }
        let descriptor = FileDescriptor(owning: number)
        if case .unix(let path) = address {
            // Linux gives the new file the socket's own mode without the bits of the umask, so it never allows more
            // users than configured. The chmod afterwards adds the bits that the umask removed.
            guard fchmod(number, mode_t(options.unixMode)) == 0 else { throw .last("fchmod", on: "\(address)") }
            try Self.bindUnix(number, address, path)
            guard unsafe chmod(path, mode_t(options.unixMode)) == 0 else { throw .last("chmod", on: "\(address)") }
        } else {
            StreamSocket.enable(SO_REUSEADDR, SOL_SOCKET, on: number)
            if options.sharing != .none { StreamSocket.enable(SO_REUSEPORT, SOL_SOCKET, on: number) }
            if case .ipv6 = address { StreamSocket.enable(Int32(IPV6_V6ONLY), Int32(IPPROTO_IPV6), on: number) }
            try Self.bind(number, address)
        }
        guard Glibc.listen(number, options.backlog) == 0 else { throw .last("listen", on: "\(address)") }
        guard let bound = unsafe SocketAddress.filled(by: { unsafe getsockname(number, $0, $1) }) else {
            throw .last("getsockname", on: "\(address)")
        }
        self.address = bound.address
        if case .unix(let path) = address { fileIdentity = Self.socketIdentity(path) } else { fileIdentity = nil }
        self.descriptor = descriptor
        isInherited = false
        sharing = address.port == nil ? .none : options.sharing
    }

    /// Takes over a listening socket that belongs to the process's starter. Its file is left alone.
    public init(inheriting number: Int32) throws(SocketError) {
        let descriptor = FileDescriptor(owning: number)
        guard Self.option(SO_ACCEPTCONN, of: number) == 1,
            Self.option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue),
            let bound = unsafe SocketAddress.filled(by: { unsafe getsockname(number, $0, $1) }),
            [AF_INET, AF_INET6, AF_UNIX].contains(Self.option(SO_DOMAIN, of: number) ?? -1)
        else { throw .notAListener(number) }
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else {
            throw .last("fcntl", on: "\(bound.address)")
        }
        address = bound.address
        self.descriptor = descriptor
        fileIdentity = nil
        isInherited = true
        sharing = .none
    }

    deinit { removeFile() }

    /// Removes the file of a Unix socket, so that no new clients can connect. Connections that wait can still be
    /// accepted.
    public func removeFile() {
        if case .unix(let path) = address, let fileIdentity, fileIdentity == Self.socketIdentity(path) {
            unsafe unlink(path)
        }
    }

    /// Accepts the next connection that waits.
    public func accept() -> AcceptResult {
        while true {
            let accepted = unsafe SocketAddress.filled { address, length in
                unsafe accept4(descriptor.number, address, length, StreamSocket.creationFlags)
            }
            if let accepted { return .connection(number: accepted.result, from: accepted.address) }
            switch errno {
            case EAGAIN: return .noneWaiting
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .outOfResources
            case EINTR: continue
            // The connection ended before it was accepted (accept(2) lists more such errors), so the next one follows.
            case ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH: continue
            default: return .outOfResources
            }
        }
    }

    private static func option(_ name: Int32, of number: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
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

    /// Returns true if the file is a socket on which no process listens.
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

    /// Returns the inode of a socket file; nil if the path is anything else.
    private static func socketIdentity(_ path: String) -> UInt64? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return UInt64(status.st_ino)
    }
}

/// The result of `Listener.accept`.
public enum AcceptResult: Sendable {
    /// A connection: non-blocking, closed on exec. The caller owns the descriptor.
    case connection(number: Int32, from: SocketAddress)
    /// No connection waits.
    case noneWaiting
    /// The process or the system has no descriptors or no memory left. The caller must pause before it asks again.
    case outOfResources
}
