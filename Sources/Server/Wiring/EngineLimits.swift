internal import Configuration
internal import Endpoints
internal import HTTP
internal import HTTPServer

extension ServerLimits {
    /// The rate limits, for `Endpoints`.
    var effectiveRateLimits: RateLimits {
        var limits = rateLimits
        limits.ipv6PrefixBits = ipv6PrefixBits
        return limits
    }

    /// The limits of calls that wait, for `Endpoints`.
    var effectiveWaitingLimits: WaitingLimits {
        var limits = waiting
        limits.ipv6PrefixBits = ipv6PrefixBits
        return limits
    }

    /// The limits of connections and requests, for `HTTPServer`.
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
        engine.reservedStreamingReplies = adminSubscribers
        engine.maximumBufferedBytes = bufferedBytes
        return engine
    }
}
