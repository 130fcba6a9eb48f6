import HTTP

extension HTTPServer {
    /// The limits of `Configuration` that a client can reach. The server counts how often each is reached, so that an
    /// operator sees which one matters.
    public enum Limit: Int, CaseIterable, Sendable {
        /// `limits.requestLine`: answered with 414.
        case requestLine
        /// `limits.fieldCount`: answered with 431.
        case fieldCount
        /// `limits.fieldBytes`: answered with 431.
        case fieldBytes
        /// `limits.body`: answered with 413.
        case body
        /// `headerTimeout`: answered with 408.
        case headerTime
        /// `bodyTimeout` with `bodyMinimumRate`: answered with 408.
        case bodyTime
        /// `idleTimeout`: closed without a response.
        case idleTime
        /// `writeTimeout` with `writeMinimumRate`: cut.
        case writeTime
        /// `requestTimeout`: answered with 503.
        case requestTime
        /// `maximumConnections`: answered with 503, or closed.
        case connections
        /// `maximumConnectionsPerAddress`: answered with 503, or closed.
        case connectionsPerAddress
        /// `maximumRequestsPerConnection`: answered, then closed.
        case requestsPerConnection
        /// `maximumPendingRequests`: answered with 503.
        case pendingRequests
        /// `maximumStreamingReplies`: answered with 503.
        case streamingReplies
        /// `reservedStreamingReplies`: answered with 503.
        case reservedStreamingReplies
        /// `maximumBufferedBytes`: answered with 503, or cut.
        case bufferedBytes
        /// The process's descriptors: a connection answered with 503 or closed, or a pause in accepting.
        case descriptors
        /// The waiting steps of a `HandshakeQueue`: closed.
        case handshakes

        /// Whether reaching it shows that the server is busy as a whole, so that other requests will reach it as well.
        public var isOverload: Bool {
            switch self {
            case .requestTime, .pendingRequests, .bufferedBytes: true
            default: false
            }
        }
    }
}

extension ProtocolError {
    /// The limit that a refused request reached, if that is the reason.
    var limit: HTTPServer.Limit? {
        switch self {
        case .requestLineTooLong: .requestLine
        case .tooManyFields: .fieldCount
        case .fieldsTooLarge: .fieldBytes
        case .bodyTooLarge: .body
        default: nil
        }
    }
}
