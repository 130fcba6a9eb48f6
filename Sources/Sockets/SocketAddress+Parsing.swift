import Glibc

extension SocketAddress {
    /// Parses "127.0.0.1:8080", "[::1]:0", "localhost:8080" (127.0.0.1), "*:8080" (every IPv4 address) or "unix:/path".
    ///
    /// It does not resolve names, because the address of a server should not depend on a name server.
    public init(_ text: String) throws(SocketError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty, path.utf8.count <= Self.longestUnixPath, !path.utf8.contains(0) else {
                throw SocketError.invalidAddress(text)
            }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            throw SocketError.invalidAddress(text)
        }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]"), host.count > 2 {
            guard let bytes = Self.bytes(String(host.dropFirst().dropLast()), AF_INET6, count: 16) else {
                throw SocketError.invalidAddress(text)
            }
            self = .ipv6(bytes: bytes, port: port)
            return
        }
        switch host {
        case "*": self = .ipv4(bytes: [0, 0, 0, 0], port: port)
        case "localhost": self = .ipv4(bytes: [127, 0, 0, 1], port: port)
        default:
            guard let bytes = Self.bytes(String(host), AF_INET, count: 4) else {
                throw SocketError.invalidAddress(text)
            }
            self = .ipv4(bytes: bytes, port: port)
        }
    }

    /// Parses an IP address alone: "192.0.2.1" or "2001:db8::1", without brackets, zone or name.
    public init?(host text: String, port: UInt16) {
        if let bytes = Self.bytes(text, AF_INET, count: 4) {
            self = .ipv4(bytes: bytes, port: port)
        } else if let bytes = Self.bytes(text, AF_INET6, count: 16) {
            self = .ipv6(bytes: bytes, port: port)
        } else {
            return nil
        }
    }

    /// Parses digits only, because `UInt16(_:)` would accept "+80".
    private static func port(_ text: Substring) -> UInt16? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(text)
    }

    private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
        if text.utf8.contains(0) { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    static func describe(ipv6 bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isDescribed = unsafe text.withUnsafeMutableBytes { buffer in
            unsafe inet_ntop(AF_INET6, bytes, buffer.baseAddress, socklen_t(buffer.count)) != nil
        }
        return isDescribed ? String(decoding: text.prefix { $0 != 0 }, as: UTF8.self) : "?"
    }
}
