public import HTTP
public import Sockets
public import TLS

extension HTTPServer {
    /// How one listener treats what comes in.
    public struct ServiceOptions: Sendable {
        /// For `RequestContext.listenerName`.
        public var name: String
        /// Whether connections are taken here when others are refused (`Configuration.reservedConnections`), so that those
        /// who look after the server get in when it is overrun.
        public var isReserved = false
        /// Which requests are handled however many are pending: health checks that have to wait for something.
        public var isUrgent: @Sendable (Request) -> Bool = { _ in false }

        /// Has connections speak TLS, with the context that it holds at the time; nil: clear text.
        public var tls: TLSContextHolder?
        /// When given, connections are taken from these addresses alone, and each must begin with the header of the PROXY
        /// protocol, before TLS. `RequestContext.remoteAddress` is then what the header says.
        public var proxies: [AddressRange]?
        /// Proxies that may have ended TLS for their clients: from them, targets with `https` are taken.
        public var gateways: [AddressRange] = []
        /// Whether connections wait until `beginAccepting()`.
        public var waits = false

        /// The defaults; change what has to differ.
        public init(name: String = "public") { self.name = name }
    }
}

/// Who answers what comes in on a listener.
final class Service: Sendable {
    /// Counts the services of a server: 0, 1, 2 …
    let number: Int
    let options: HTTPServer.ServiceOptions
    let responder: Responder
    /// Whether its connections begin with something else than a request.
    var wantsOpening: Bool { options.tls != nil || options.proxies != nil }

    init(number: Int, _ options: HTTPServer.ServiceOptions, _ responder: @escaping Responder) {
        self.number = number
        self.options = options
        self.responder = responder
    }
}
