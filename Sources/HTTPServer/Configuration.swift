public import HTTP

extension HTTPServer {
    /// What the engine allows, and for how long. Every number is a default that one machine with a few cores can keep.
    public struct Configuration: Sendable {
        /// What the parser accepts.
        public var limits = Limits()

        /// From the first byte of a request (or the start of a connection) to the end of its head. A phone on a bad line needs two or three seconds;
        /// somebody who sends one byte at a time to hold connections (slowloris) gets no longer. Then: 408.
        public var headerTimeout: Duration = .seconds(10)
        /// From the end of the head to the end of the content: 64 KiB at 17 kbit/s. Then: 408.
        public var bodyTimeout: Duration = .seconds(30)
        /// Between two requests: longer than the 60 s for which common proxies keep a connection, so that the proxy closes
        /// first and never sends into a connection that is just being closed. Then: closed without a word.
        public var idleTimeout: Duration = .seconds(75)
        /// How long a client may read nothing of an answer that waits for it. Then: cut.
        public var writeTimeout: Duration = .seconds(30)
        /// How long a handler may take: longer than the 10 s that a decision of the token service may take. Then: 503, the task
        /// is cancelled, its late answer dropped and the connection closed.
        public var requestTimeout: Duration = .seconds(15)
        /// How long, after an answer that ends a connection early, unread bytes are taken and dropped, so that the answer
        /// is not lost in a reset (RFC 9112 §9.6).
        public var lingerTimeout: Duration = .seconds(2)
        /// How many bytes at most are dropped so.
        public var lingerBytes = 1 << 20

        /// Connections of all listeners, those whose handler has not ended included. An idle one costs little more than its descriptor; the
        /// engine lowers the number to what the process's descriptor limit allows, and keeps some for files. Beyond: 503.
        public var maximumConnections = 10_000
        /// Connections from one IP address; 0 is no limit, the default, because behind a proxy all come from one address, and
        /// mobile networks put thousands of phones behind another. Unix sockets are not counted. Beyond: 503.
        public var maximumConnectionsPerAddress = 0
        /// After so many requests a connection closes, so that load spreads again after a start or a change of proxies. 0 is no limit.
        public var maximumRequestsPerConnection = 100_000
        /// What `Retry-After` says in the engine's own 503, in seconds.
        public var retryAfterSeconds = 1
        /// For how long accepting stops when no descriptors are left.
        public var acceptPause: Duration = .milliseconds(100)

        /// The defaults; change what has to differ.
        public init() {}
    }
}
