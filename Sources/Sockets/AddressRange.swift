/// A range of addresses: "10.0.0.0/8", "2001:db8::/32", one address, or "unix" for every peer of a Unix socket.
///
/// An IPv4-mapped IPv6 address (::ffff:192.0.2.1) counts as its IPv4 address, in ranges and in look-ups, so that the
/// result does not depend on the family of the listener. `::/0` therefore contains no IPv4 address.
public struct AddressRange: Hashable, Sendable {
    private enum Family: Hashable { case ipv4, ipv6, unix }

    private let family: Family
    /// The first address of the range as a number; its lower `freeBits` bits are 0.
    private let prefix: UInt128
    /// The number of lower bits that differ between members: 0 for one address.
    private let freeBits: Int

    /// Parses "192.0.2.0/24", "2001:db8::/32", "192.0.2.1", "::1" or "unix"; returns nil for anything else.
    ///
    /// Bits after the prefix must be 0, because 10.0.0.1/8 means either one address or another range.
    public init?(_ text: String) {
        if text == "unix" {
            (family, prefix, freeBits) = (.unix, 0, 0)
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = SocketAddress(host: String(parts[0]), port: 0), let width = address.bitWidth else {
            return nil
        }
        var length = width
        if parts.count > 1 {
            guard let number = Self.prefixLength(parts[1]), number <= width else { return nil }
            length = number
        }
        // A mapped range counts its 96 constant bits. A shorter prefix would cover more than IPv4, so it is a range of
        // IPv6.
        let isMapped = address.unmapped != address && length >= 96
        let (bits, family) = (isMapped ? address.unmapped : address).bits(as: Family.ipv4, .ipv6)
        let freeBits = width - length
        guard freeBits == 128 ? bits == 0 : bits & ((1 << UInt128(freeBits)) - 1) == 0 else { return nil }
        (self.family, prefix, self.freeBits) = (family, bits, freeBits)
    }

    /// Returns true if the address is in the range. Ports are ignored.
    public func contains(_ address: SocketAddress) -> Bool {
        if case .unix = address { return family == .unix }
        let (bits, family) = address.unmapped.bits(as: Family.ipv4, .ipv6)
        guard family == self.family else { return false }
        return freeBits == 128 || (bits ^ prefix) >> UInt128(freeBits) == 0
    }

    /// Parses digits without a leading zero.
    private static func prefixLength(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text == "0" || !text.hasPrefix("0")
        else { return nil }
        return Int(text)
    }
}

extension AddressRange: CustomStringConvertible {
    /// The form that `init(_:)` parses. A range of one address has no length.
    public var description: String {
        let width: Int
        let host: String
        switch family {
        case .unix: return "unix"
        case .ipv4:
            width = 32
            host = SocketAddress.ipv4(bytes: Self.bytes(prefix, count: 4), port: 0).host
        case .ipv6:
            width = 128
            host = SocketAddress.ipv6(bytes: Self.bytes(prefix, count: 16), port: 0).host
        }
        return freeBits == 0 ? host : "\(host)/\(width - freeBits)"
    }

    private static func bytes(_ bits: UInt128, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: bits >> UInt128(8 * (count - 1 - $0))) }
    }
}

extension SocketAddress {
    /// The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2); any other address unchanged.
    public var unmapped: SocketAddress {
        guard case .ipv6(let bytes, let port) = self, bytes.count == 16, bytes[10] == 0xFF, bytes[11] == 0xFF,
            bytes[..<10].allSatisfy({ $0 == 0 })
        else { return self }
        return .ipv4(bytes: Array(bytes[12...]), port: port)
    }

    fileprivate var bitWidth: Int? {
        switch self {
        case .ipv4: 32
        case .ipv6: 128
        case .unix: nil
        }
    }

    fileprivate func bits<Family>(as ipv4: Family, _ ipv6: Family) -> (UInt128, Family) {
        switch self {
        case .ipv4(let bytes, _): (Self.number(bytes), ipv4)
        case .ipv6(let bytes, _): (Self.number(bytes), ipv6)
        case .unix: (0, ipv6)
        }
    }

    private static func number(_ bytes: [UInt8]) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
}
