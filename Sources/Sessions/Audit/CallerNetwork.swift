internal import Glibc

/// The address range that counts as one caller: the leading bits of an IPv4 or IPv6 address.
public struct CallerNetwork: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The network of an address in text form. A text that is no address, such as an obfuscated identifier from a proxy (RFC
    /// 7239 section 6.3), is a network of its own.
    public init(_ address: String, ipv4PrefixBits: Int = 32, ipv6PrefixBits: Int) {
        if let parsed = Self.bytes(of: address, AF_INET, count: 4) {
            bytes = Self.prefix(of: parsed, bits: ipv4PrefixBits)
        } else if let parsed = Self.bytes(of: address, AF_INET6, count: 16) {
            // An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) counts as the IPv4 address.
            let isMapped = parsed.prefix(10).allSatisfy { $0 == 0 } && parsed[10] == 0xFF && parsed[11] == 0xFF
            bytes =
                isMapped
                ? Self.prefix(of: Array(parsed[12...]), bits: ipv4PrefixBits)
                : Self.prefix(of: parsed, bits: ipv6PrefixBits)
        } else {
            // Longer than an address, so that no text is one.
            bytes = [UInt8](repeating: 0, count: 17) + Array(address.utf8)
        }
    }

    private static func bytes(of address: String, _ family: Int32, count: Int) -> [UInt8]? {
        var parsed = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, address, &parsed) == 1 ? parsed : nil
    }

    private static func prefix(of address: [UInt8], bits: Int) -> [UInt8] {
        address.indices.map { index in
            address[index] & UInt8(truncatingIfNeeded: 0xFF00 >> min(max(bits - index * 8, 0), 8))
        }
    }
}
