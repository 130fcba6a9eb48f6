public import HTTP
public import Sockets

/// The proxies that a server trusts to name their clients, by address, and the one field in which they do.
///
/// The client is found from the address of the connection. As long as the address is a trusted proxy's, the address
/// that this proxy names replaces it. The first address that is not trusted is the client. If a proxy names no address,
/// the proxy itself counts as the client. So a forged chain reaches only to the first honest proxy.
///
/// Only one of the two fields is read, because a proxy that writes one forwards the other unchecked.
public struct TrustedProxies: Hashable, Sendable {
    /// The addresses of the proxies.
    public let ranges: [AddressRange]
    /// The field in which they name their clients.
    public let field: ForwardingField

    /// Creates the rule from the addresses of the proxies and their field.
    public init(_ ranges: [AddressRange], field: ForwardingField = .xForwardedFor) {
        self.ranges = ranges
        self.field = field
    }

    /// Returns true if `address` is one of the proxies.
    public func trusts(_ address: SocketAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Returns the client of a request.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - isSecure: whether the connection itself is encrypted.
    /// - Returns: the client, with port 0 if a proxy named it, and whether it used https: as the nearest proxy says, if
    ///   that is trusted and says so, otherwise as the connection is.
    public func origin(of fields: Fields, from peer: SocketAddress, isSecure: Bool = false) -> RequestOrigin {
        var origin = RequestOrigin(client: peer, isSecure: isSecure)
        guard field != .none, trusts(peer) else { return origin }
        origin.isFromProxy = true
        var isNearest = true
        for hop in ForwardedHops(fields, in: field) {
            if isNearest, let says = hop.isSecure { origin.isSecure = says }
            isNearest = false
            guard case .address(let host) = hop.node, let address = SocketAddress(host: host, port: 0) else { break }
            origin.client = address.unmapped
            guard trusts(address) else { break }
        }
        return origin
    }
}

/// The client of a request, and how it connected.
public struct RequestOrigin: Hashable, Sendable {
    /// The client, as far as it is known. It is a trusted proxy only if that proxy names no client.
    public var client: SocketAddress
    /// True if the client used https.
    public var isSecure: Bool
    /// True if the request comes from a trusted proxy, so that its fields are used.
    public var isFromProxy = false
}
