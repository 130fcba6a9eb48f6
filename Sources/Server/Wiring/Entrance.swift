internal import Endpoints
internal import HTTP
internal import HTTPServer
internal import Locks
internal import Sockets
internal import Synchronization

/// What the listeners lead to: nothing until the server is ready, because the port that the issuer is named after is
/// known only when it listens.
final class Entrance: Sendable {
    private final class Box: Sendable {
        let endpoints: Endpoints
        init(_ endpoints: Endpoints) { self.endpoints = endpoints }
    }

    /// Apart from the entrance, because the endpoints hold it and the entrance holds the endpoints.
    final class Closing: Sendable {
        private let isSet = Atomic<Bool>(false)

        /// Whether the server is about to stop.
        var isStopping: Bool { isSet.load(ordering: .relaxed) }

        fileprivate func set() { isSet.store(true, ordering: .relaxed) }
    }

    private let box = Locked<Box?>(nil)
    /// Whether the server is about to stop.
    let closing = Closing()

    /// Lets requests in.
    func open(_ endpoints: Endpoints) { box.withLock { $0 = Box(endpoints) } }

    /// Says that the server is about to stop; requests are still answered.
    func close() { closing.set() }

    func reply(to request: Request, from caller: Caller) -> Reply {
        guard let box = box.withLock({ $0 }) else {
            return .now(Response(status: .serviceUnavailable, fields: ["Retry-After": "1"]))
        }
        return box.endpoints.reply(to: request, from: caller)
    }
}

extension SocketAddress {
    /// The URL at which a program on this machine reaches a listener on the address.
    func baseURL(isSecure: Bool) -> String {
        let scheme = isSecure ? "https" : "http"
        return switch self {
        case .ipv4(let bytes, let port) where bytes == [0, 0, 0, 0]: "\(scheme)://127.0.0.1:\(port)"
        case .ipv6(let bytes, let port) where bytes.allSatisfy { $0 == 0 }: "\(scheme)://[::1]:\(port)"
        case .unix: "\(self)"
        default: "\(scheme)://\(self)"
        }
    }
}

extension Request {
    /// Whether it asks if the server lives: to be told no for being busy would have it restarted.
    var isHealthCheck: Bool { target.path == "/healthz" || target.path == "/readyz" }
}

extension ServerLimits {
    /// The limits in the endpoints' terms.
    var doorLimits: RateLimits {
        var limits = doors
        limits.ipv6PrefixBits = ipv6PrefixBits
        return limits
    }

    /// The limits in the engine's terms.
    var engine: HTTPServer.Configuration {
        var engine = HTTPServer.Configuration()
        engine.limits.requestLine = requestLineBytes
        engine.limits.fieldCount = fieldCount
        engine.limits.fieldBytes = fieldBytes
        engine.limits.body = bodyBytes
        engine.headerTimeout = headerTimeout
        engine.bodyTimeout = bodyTimeout
        engine.bodyMinimumRate = bodyMinimumRate
        engine.idleTimeout = idleTimeout
        engine.writeTimeout = writeTimeout
        engine.writeMinimumRate = writeMinimumRate
        engine.requestTimeout = requestTimeout
        engine.drainGrace = stopGrace
        engine.maximumConnections = connections
        engine.maximumConnectionsPerAddress = connectionsPerAddress
        engine.ipv6PrefixBits = ipv6PrefixBits
        engine.maximumRequestsPerConnection = requestsPerConnection
        engine.maximumPendingRequests = pendingRequests
        engine.maximumStreamingReplies = subscribers
        engine.maximumBufferedBytes = bufferedBytes
        return engine
    }
}
