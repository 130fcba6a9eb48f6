/// The address at which a socket listens or to which it connects.
public enum SocketAddress: Hashable, Sendable {
    /// An IPv4 address, four bytes in network order, and a port.
    case ipv4(bytes: [UInt8], port: UInt16)
    /// An IPv6 address, sixteen bytes in network order, and a port.
    case ipv6(bytes: [UInt8], port: UInt16)
    /// A Unix socket. The path is empty for a peer, which has none.
    case unix(path: String)

    /// The longest path of a Unix socket, in bytes (`sun_path` with its final NUL is 108).
    static let longestUnixPath = 107

    /// The port; nil for a Unix socket.
    public var port: UInt16? {
        switch self {
        case .ipv4(_, let port), .ipv6(_, let port): port
        case .unix: nil
        }
    }

    /// True if only programs of this machine can connect to the address.
    public var isLoopback: Bool {
        switch self {
        case .ipv4(let bytes, _): bytes.first == 127
        case .ipv6(let bytes, _): bytes == [UInt8](repeating: 0, count: 15) + [1]
        case .unix: true
        }
    }

    /// The address without the port: "127.0.0.1", "::1", or the path of a Unix socket.
    public var host: String {
        switch self {
        case .ipv4(let bytes, _): bytes.map { String($0) }.joined(separator: ".")
        case .ipv6(let bytes, _): Self.describe(ipv6: bytes)
        case .unix(let path): path
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// The form that `init(_:)` parses.
    public var description: String {
        switch self {
        case .ipv4(_, let port): "\(host):\(port)"
        case .ipv6(_, let port): "[\(host)]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
