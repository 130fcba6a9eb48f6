import CLinux
import Glibc

extension SocketAddress {
    /// Reads the C form of an address, for instance what a resolver has found. Nil for a family that is neither IPv4 nor IPv6.
    public init?(native: UnsafeRawBufferPointer) {
        let address = unsafe Self.read(from: native)
        if case .unix = address { return nil }
        self = address
    }

    /// Whether the address leads to the public internet: it is globally reachable by the registries of special addresses
    /// (RFC 6890), and is no form of another address.
    ///
    /// Loopback, private, shared, link-local, unique local, multicast and unspecified addresses are not public, nor are the
    /// IPv6 forms of IPv4 addresses: mapped ones, and those of NAT64, 6to4 and Teredo, because a gateway would make a private
    /// address of them.
    public var isPublic: Bool {
        switch self {
        case .ipv4: !Self.specialIPv4.contains { $0.contains(self) }
        case .ipv6:
            unmapped == self && Self.globalUnicast.contains { $0.contains(self) }
                && !Self.specialIPv6.contains { $0.contains(self) }
        case .unix: false
        }
    }

    private static let specialIPv4 = ranges([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // The virtual address at which Azure serves each machine its own secrets.
        "168.63.129.16",
    ])
    private static let globalUnicast = ranges(["2000::/3"])
    private static let specialIPv6 = ranges([
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ])

    private static func ranges(_ texts: [String]) -> [AddressRange] {
        texts.map { text in
            guard let range = AddressRange(text) else { preconditionFailure("\(text) is no range") }
            return range
        }
    }

    /// The addresses of this machine's interfaces, which change while it runs.
    public static var ofThisMachine: Set<SocketAddress> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return [] }
        defer { unsafe freeifaddrs(first) }
        var found: Set<SocketAddress> = []
        var next = unsafe first
        while let interface = unsafe next {
            unsafe next = unsafe interface.pointee.ifa_next
            guard let address = unsafe interface.pointee.ifa_addr else { continue }
            let length =
                switch unsafe Int32(address.pointee.sa_family) {
                case AF_INET: MemoryLayout<sockaddr_in>.size
                case AF_INET6: MemoryLayout<sockaddr_in6>.size
                default: 0
                }
            if let own = unsafe SocketAddress(native: UnsafeRawBufferPointer(start: address, count: length)) {
                found.insert(own.withoutPort)
            }
        }
        return found
    }

    /// The address with port 0.
    public var withoutPort: SocketAddress {
        switch self {
        case .ipv4(let bytes, _): .ipv4(bytes: bytes, port: 0)
        case .ipv6(let bytes, _): .ipv6(bytes: bytes, port: 0)
        case .unix: self
        }
    }
}
