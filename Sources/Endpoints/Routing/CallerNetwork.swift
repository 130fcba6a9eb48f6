internal import Glibc

/// The address range that the rate limits count as one caller: an IPv4 address or an IPv6 prefix.
struct CallerNetwork: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The network of an address in text form. A text that is no address, such as an obfuscated identifier from a proxy (RFC
    /// 7239 section 6.3), is a network of its own.
    init(_ address: String, ipv6PrefixBits: Int) {
        guard address.utf8.contains(UInt8(ascii: ":")) else {
            bytes = Array(address.utf8)
            return
        }
        var parsed = [UInt8](repeating: 0, count: 16)
        guard unsafe inet_pton(AF_INET6, address, &parsed) == 1 else {
            bytes = Array(address.utf8)
            return
        }
        // An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) counts as the IPv4 address.
        if parsed.prefix(10).allSatisfy({ $0 == 0 }), parsed[10] == 0xFF, parsed[11] == 0xFF {
            bytes = Array(parsed[12...].map { String($0) }.joined(separator: ".").utf8)
            return
        }
        for index in parsed.indices {
            let bits = min(max(ipv6PrefixBits - index * 8, 0), 8)
            parsed[index] &= UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
        bytes = parsed
    }
}
