public import HTTP

extension HTTPServer {
    /// What the engine allows, and for how long. Every number is a default that one machine with a few cores can keep.
    public struct Configuration: Sendable {
        /// What the parser accepts.
        public var limits = Limits()

        /// From the first byte of a request (or the start of a connection) to the end of its head. A phone on a bad line needs two or three seconds;
        /// somebody who sends one byte at a time to hold connections (slowloris) gets no longer. Then: 408.
        public var headerTimeout: Duration = .seconds(10)
        /// The content has so long to arrive; one that is longer has so long again each time that enough of it came meanwhile
        /// (`bodyMinimumRate`). A phone that loses its network for half a minute has lost the request too. Then: 408.
        public var bodyTimeout: Duration = .seconds(30)
        /// Bytes of content per second that each `bodyTimeout` must bring on average: what the slowest mobile network (GPRS,
        /// a good 1000) carries, twice over. Dripping a byte now and then, one gets no second `bodyTimeout`. 0 is any byte.
        public var bodyMinimumRate = 500
        /// Between two requests: longer than the 60 s for which common proxies keep a connection, so that the proxy closes
        /// first and never sends into a connection that is just being closed. Then: closed without a word.
        public var idleTimeout: Duration = .seconds(75)
        /// How long an answer may wait for a client that does not read it; again and again, as long as enough of it is read
        /// meanwhile (`writeMinimumRate`). Then: cut.
        public var writeTimeout: Duration = .seconds(30)
        /// Bytes per second that a client must take of an answer, on average over each `writeTimeout`: as with content that
        /// comes in. What counts is what the client has acknowledged, not what the system keeps for it. 0 is any byte.
        public var writeMinimumRate = 500
        /// How long a handler may take: longer than the 10 s that a decision of the token service may take. Then: 503, the task
        /// is cancelled, its late answer dropped and the connection closed.
        public var requestTimeout: Duration = .seconds(15)
        /// How long, after an answer that ends a connection early, unread bytes are taken and dropped, so that the answer
        /// is not lost in a reset (RFC 9112 §9.6).
        public var lingerTimeout: Duration = .seconds(2)
        /// How long, when the server stops, a connection stays open on which nothing is under way. Its client may just be
        /// sending a request: within the grace it gets an answer, which says `Connection: close`. Proxies under load use a
        /// connection several times a second.
        public var drainGrace: Duration = .seconds(1)
        /// How long a listener that shares its port with another process still takes connections, when new ones go to
        /// the other one already: as long as a handshake of TCP takes that was under way.
        public var handOverTime: Duration = .seconds(1)
        /// How many bytes at most are dropped so.
        public var lingerBytes = 1 << 20

        /// Connections of all listeners, those whose handler has not ended included. An idle one costs little more than its descriptor; the
        /// engine lowers the number to what the process's descriptor limit allows, and keeps some for files. Beyond: 503.
        public var maximumConnections = 10_000
        /// Connections from one IP address; 0 is no limit, the default, because behind a proxy all come from one address, and
        /// mobile networks put thousands of phones behind another. Unix sockets are not counted. Beyond: 503.
        public var maximumConnectionsPerAddress = 0
        /// How many leading bits of an IPv6 address count as one address: a customer usually owns a /64, 2^64 addresses.
        public var ipv6PrefixBits = 64
        /// Connections that listeners with `isReserved` take beyond the maximum: enough for a health check, a scrape of
        /// the metrics and a few people who look for the cause.
        public var reservedConnections = 16
        /// After so many requests a connection closes, so that load spreads again after a start or a change of proxies. 0 is no limit.
        public var maximumRequestsPerConnection = 100_000
        /// Requests in handlers at one time, for each listener; each loop has its share. At 2000 answers per second, which a slow
        /// disk still carries, the last one waits two seconds: longer queues only make every answer late. Beyond: 503 at once.
        public var maximumPendingRequests = 4096
        /// Replies that take their time: long polls and streams, of all listeners; each loop has its share. They wait and cost
        /// no work, but each holds a connection, which nobody else can have. Beyond: 503 at once.
        public var maximumPatientReplies = 1024
        /// Memory, in bytes, that all connections together take for what is only partly here or partly gone (heads, content and
        /// answers) and for requests in handlers, beyond the 4 KiB that each connection has of its own, in which most requests
        /// fit. A thousand of the largest requests at a time. Beyond: 503, and an answer that finds no room is cut.
        public var maximumBufferedBytes = 64 << 20
        /// What `Retry-After` says in the engine's own 503, in seconds.
        public var retryAfterSeconds = 1
        /// For how long accepting stops when no descriptors are left.
        public var acceptPause: Duration = .milliseconds(100)

        /// The defaults; change what has to differ.
        public init() {}
    }
}
