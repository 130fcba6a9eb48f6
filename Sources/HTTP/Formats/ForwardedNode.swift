/// The node that sent a request to a proxy, as the proxy names it (RFC 7239 §6).
public enum ForwardedNode: Hashable, Sendable {
    /// The text of an IPv4 address, or of an IPv6 address without brackets. A port is checked and dropped.
    case address(String)
    /// The proxy does not know the node, hides it, or uses an obfuscated identifier (RFC 7239 §6.2, §6.3).
    case unknown
    /// Not a node. Elements left of it cannot be trusted either.
    case malformed

    /// Parses `node = nodename [ ":" node-port ]` (RFC 7239 §6), without quotes.
    init(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else {
            self = .malformed
            return
        }
        if bytes[0] == UInt8(ascii: "[") {
            self = Self.bracketed(bytes)
            return
        }
        let end = Self.firstIndex(of: UInt8(ascii: ":"), in: bytes) ?? bytes.count
        let name = bytes.extracting(0..<end)
        guard end == bytes.count || Self.isPort(bytes.extracting(end + 1..<bytes.count)) else {
            self = .malformed
            return
        }
        if Authority.isIPv4Address(name) {
            self = .address(String(ascii: name))
        } else if Grammar.equalsIgnoringCase(name, "unknown".utf8.span) || Self.isObfuscated(name) {
            self = .unknown
        } else {
            self = .malformed
        }
    }

    /// Parses a member of `X-Forwarded-For`: a node, or an IPv6 address without brackets, which most proxies send.
    init(member bytes: Span<UInt8>) {
        if Authority.isIPv6Address(bytes) {
            self = .address(String(ascii: bytes))
        } else {
            self.init(bytes)
        }
    }

    /// Parses `"[" IPv6address "]"`, with or without a port.
    private static func bracketed(_ bytes: Span<UInt8>) -> ForwardedNode {
        guard let close = firstIndex(of: UInt8(ascii: "]"), in: bytes) else { return .malformed }
        let address = bytes.extracting(1..<close)
        guard Authority.isIPv6Address(address) else { return .malformed }
        let rest = bytes.extracting(close + 1..<bytes.count)
        guard rest.isEmpty || rest[0] == UInt8(ascii: ":") && isPort(rest.extracting(1..<rest.count)) else {
            return .malformed
        }
        return .address(String(ascii: address))
    }

    /// `node-port = port / obfport`, `port = 1*5DIGIT`, `obfport` like `obfnode`.
    private static func isPort(_ bytes: Span<UInt8>) -> Bool {
        if isObfuscated(bytes) { return true }
        guard (1...5).contains(bytes.count) else { return false }
        var port = 0
        for index in bytes.indices {
            guard Grammar.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] - 0x30)
        }
        return port <= 65535
    }

    /// `obfnode = "_" 1*( ALPHA / DIGIT / "." / "_" / "-" )`
    private static func isObfuscated(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "_") else { return false }
        for index in bytes.indices {
            let byte = bytes[index]
            let isListed = byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            guard isListed || Grammar.isDigit(byte) || (0x61...0x7A).contains(Grammar.lowercased(byte)) else {
                return false
            }
        }
        return true
    }

    private static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>) -> Int? {
        for index in bytes.indices where bytes[index] == byte { return index }
        return nil
    }
}
