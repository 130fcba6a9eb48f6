import Sockets

/// The unit that the limit per address counts: an IPv4 address, or the IPv6 network of one customer.
struct AddressBlock: Hashable {
    private let high: UInt64
    private let low: UInt64

    /// Returns the block of an address; nil for a Unix socket, because its peers are processes of this machine.
    ///
    /// - Parameter ipv6PrefixBits: the leading bits of an IPv6 address that identify its owner.
    init?(_ address: SocketAddress, ipv6PrefixBits: Int) {
        switch address {
        case .unix: return nil
        case .ipv4(let bytes, _):
            high = 0
            low = Self.mappedPrefix | Self.number(bytes[...])
        case .ipv6(let bytes, _):
            let (high, low) = (Self.number(bytes.prefix(8)), Self.number(bytes.dropFirst(8)))
            // An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) counts as that IPv4 address.
            if high == 0, low >> 32 == Self.mappedPrefix >> 32 {
                (self.high, self.low) = (high, low)
                return
            }
            self.high = high & Self.mask(ipv6PrefixBits)
            self.low = low & Self.mask(ipv6PrefixBits - 64)
        }
    }

    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    /// Returns a mask of the leading `bits` of 64. `<<` defines a shift by 64 bits, too.
    private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : UInt64.max << (64 - min(bits, 64)) }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
