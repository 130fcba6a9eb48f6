public import HTTP

extension HTTPServer {
    /// The limits of the server. Every default suits one machine with a few cores.
    public struct Configuration: Sendable {
        /// The limits of the parser.
        public var limits = Limits()

        /// The time from the first byte of a request (or the start of a connection) to the end of its head. A phone on
        /// a bad line needs two or three seconds. A client that sends one byte at a time to hold connections
        /// (slowloris) gets no longer. Then: 408.
        public var headerTimeout: Duration = .seconds(10)
        /// The time for the content to arrive. Longer content gets the same time again whenever enough of it has
        /// arrived (`bodyMinimumRate`). A phone that loses its network for half a minute has lost the request too.
        /// Then: 408.
        public var bodyTimeout: Duration = .seconds(30)
        /// The bytes of content per second that must arrive on average in each `bodyTimeout`. The slowest mobile
        /// network (GPRS, a good 1000) carries twice as much. A client that sends a byte now and then gets no second
        /// `bodyTimeout`. 0 accepts any rate.
        public var bodyMinimumRate = 500
        /// The time between two requests. It is longer than the 60 s for which common proxies keep a connection, so
        /// that the proxy closes first and never sends into a connection that is being closed. Then: closed without a
        /// response.
        public var idleTimeout: Duration = .seconds(75)
        /// The time that a response waits for a client that does not read it. It is granted again as long as the client
        /// reads enough meanwhile (`writeMinimumRate`). Then: the connection is cut.
        public var writeTimeout: Duration = .seconds(30)
        /// The bytes of a response per second that the client must take, on average over each `writeTimeout`. Only
        /// acknowledged bytes count, not those in the system's buffers. 0 accepts any rate.
        public var writeMinimumRate = 500
        /// The time that a handler has. It is longer than the 10 s that a decision of the token service may take. Then:
        /// 503; the server cancels the task, drops its late response and closes the connection.
        public var requestTimeout: Duration = .seconds(15)
        /// The time after the last response of a connection in which unread bytes are read and dropped, so that a reset
        /// does not destroy the response (RFC 9112 §9.6).
        public var lingerTimeout: Duration = .seconds(2)
        /// The time that an idle connection stays open after the server begins to stop. Its client may be sending a
        /// request at that moment; within this time it gets a response with `Connection: close`. Proxies under load use
        /// a connection several times a second.
        public var drainGrace: Duration = .seconds(1)
        /// The time for which a listener that shares its port with another process still accepts connections after new
        /// ones go to the other process. It covers TCP handshakes that are in progress.
        public var handOverTime: Duration = .seconds(1)
        /// The number of bytes that are dropped after the last response at most.
        public var lingerBytes = 1 << 20

        /// The number of connections of all listeners, including those with a handler that still runs. An idle one
        /// costs little more than its descriptor. The server lowers the number to what the process's descriptor limit
        /// allows, less a reserve for files. Beyond: 503.
        public var maximumConnections = 10_000
        /// The number of connections from one IP address. 0, the default, is no limit, because all connections behind a
        /// proxy come from one address, and mobile networks put thousands of phones behind one. Unix sockets are not
        /// counted. Beyond: 503.
        public var maximumConnectionsPerAddress = 0
        /// The leading bits of an IPv6 address that count as one address, because a customer usually owns a /64, that
        /// is 2^64 addresses.
        public var ipv6PrefixBits = 64
        /// The connections that listeners with `isReserved` accept beyond the maximum: enough for a health check, a
        /// scrape of the metrics and a few operators.
        public var reservedConnections = 16
        /// The requests after which a connection closes, so that load spreads again after a start or a change of
        /// proxies. 0 is no limit.
        public var maximumRequestsPerConnection = 100_000
        /// The requests in handlers at one time, per listener; each loop has its share. At 2000 responses per second,
        /// which a slow disk still carries, the last one waits two seconds. A longer queue would only delay every
        /// response. Beyond: 503 at once.
        public var maximumPendingRequests = 4096
        /// The long polls and streams at one time, of all listeners without `isReserved`. Each occupies a connection
        /// and, by its handler, what the handler does while it waits: most look again now and then. Beyond: 503 at
        /// once.
        public var maximumStreamingReplies = 1024
        /// The long polls and streams at one time, of all listeners with `isReserved`, so that those of the others
        /// leave room for operators. Beyond: 503 at once.
        public var reservedStreamingReplies = 512
        /// The memory in bytes for partly received requests, partly sent responses and requests in handlers, of all
        /// connections together. The 4 KiB of each connection, which hold most requests, do not count. The default
        /// holds a thousand of the largest requests. Beyond: 503; a response without room is cut.
        public var maximumBufferedBytes = 64 << 20
        /// The time for which accepting pauses when no descriptors are left.
        public var acceptPause: Duration = .milliseconds(100)

        /// Creates the default configuration.
        public init() {}
    }
}
