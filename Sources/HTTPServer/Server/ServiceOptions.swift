public import HTTP
public import Sockets
public import TLS

extension HTTPServer {
    /// How one listener treats its connections.
    public struct ServiceOptions: Sendable {
        /// The value of `RequestContext.listenerName`.
        public var name: String
        /// True if this listener still accepts connections when others refuse them
        /// (`Configuration.reservedConnections`), so that operators can reach an overloaded server.
        public var isReserved = false
        /// Selects the requests that are handled however many are pending: health checks that have to wait for
        /// something.
        public var isUrgent: @Sendable (Request) -> Bool = { _ in false }

        /// The holder of the current TLS context; nil for clear text.
        public var tls: TLSContextHolder?
        /// If set, only these addresses may connect, and each connection must begin with the header of the PROXY
        /// protocol, before TLS. `RequestContext.remoteAddress` is then the address that the header names.
        public var proxies: [AddressRange]?
        /// The proxies that may have ended TLS for their clients. Targets with `https` are accepted from them.
        public var gateways: [AddressRange] = []
        /// Whether connections wait until `beginAccepting(by:)`.
        public var waits = false

        /// Creates the default options.
        public init(name: String = "public") { self.name = name }
    }
}

/// What answers the requests of a listener.
final class Service: Sendable {
    /// The number of the service in its server: 0, 1, 2 …
    let number: Int
    let options: HTTPServer.ServiceOptions
    let responder: Responder
    /// True if its connections begin with something other than a request.
    var wantsOpening: Bool { options.tls != nil || options.proxies != nil }

    init(number: Int, _ options: HTTPServer.ServiceOptions, _ responder: @escaping Responder) {
        self.number = number
        self.options = options
        self.responder = responder
    }
}
