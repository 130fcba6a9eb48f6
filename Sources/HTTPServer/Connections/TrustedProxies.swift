public import HTTP
public import Sockets

/// Whom a server believes about the clients for whom it passes requests on: proxies, by their addresses, and one field.
///
/// The rule: begin with the address of the connection. As long as it is a trusted proxy's, take the address that this
/// proxy names instead. The first that is not trusted is the client. Where a proxy names nobody, or what stands there is no
/// address, it is itself the last that is known. So an invented chain reaches as far as the first honest proxy, no farther.
///
/// Only one of the fields is read, because a proxy that writes one passes the other on as the client made it up.
public struct TrustedProxies: Hashable, Sendable {
    /// The proxies.
    public let ranges: [AddressRange]
    /// Where they say it.
    public let field: ForwardingField

    /// Proxies, and where they say for whom they ask.
    public init(_ ranges: [AddressRange], field: ForwardingField = .xForwardedFor) {
        self.ranges = ranges
        self.field = field
    }

    /// Whether `address` is one of the proxies.
    public func trusts(_ address: SocketAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Where a request came from.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - isSecure: whether the connection itself is encrypted.
    /// - Returns: the client, with port 0 if a proxy named it, and whether it came over https: as the nearest proxy says, if
    ///   it is trusted and says so, else as the connection is.
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

/// Who asked, and over what.
public struct RequestOrigin: Hashable, Sendable {
    /// The client, as far as it is known: no proxy that is trusted, unless there is nobody else.
    public var client: SocketAddress
    /// Whether the client used https.
    public var isSecure: Bool
    /// Whether it comes from a trusted proxy, whose word is believed.
    public var isFromProxy = false
}
