/// A reply that may take long: a long poll or a stream. The server counts it apart from ordinary requests, because it
/// waits for events and not for the server's work.
///
/// It is a class, so that `Reply` does not grow because of it.
public final class StreamingReply: Sendable {
    /// The time until the response must begin, in addition to the time that every request has.
    public let longestWait: Duration
    /// Returns the response, or the head of a stream. It must return soon after its task is cancelled, which happens
    /// when the server stops or the client disconnects.
    public let respond: @Sendable () async -> StreamingAnswer

    /// Creates a reply that begins within `longestWait`, in addition to the time that every request has.
    public init(longestWait: Duration, respond: @escaping @Sendable () async -> StreamingAnswer) {
        self.longestWait = longestWait
        self.respond = respond
    }
}

/// The response of a `StreamingReply`.
public enum StreamingAnswer: Sendable {
    /// A response in one piece.
    case whole(Response)
    /// A response with content that is sent in pieces.
    case stream(StreamedResponse)

    /// The whole response, or the head of the stream.
    public var head: Response {
        switch self {
        case .whole(let response): response
        case .stream(let stream): stream.head
        }
    }
}

/// A response with content that is sent in pieces, over minutes: chunked (RFC 9112 §7.1), or until the connection closes
/// for clients of HTTP/1.0. `produce` is not called for `HEAD`.
public struct StreamedResponse: Sendable {
    /// Status and fields. Its body is the first piece.
    public var head: Response
    /// The bytes to send after `heartbeatInterval` without a piece. A client that has not acknowledged the earlier
    /// bytes when the next heartbeat is due counts as disconnected.
    public var heartbeat: [UInt8]
    /// The longest time without a piece or heartbeat.
    public var heartbeatInterval: Duration
    /// The longest duration of the stream. The client then reconnects and is authorized again.
    public var longest: Duration
    /// Sends the pieces and returns at their end. It must return soon after its task is cancelled.
    public var produce: @Sendable (any PieceReader) async -> Void

    /// Creates a stream that begins with `head`.
    public init(
        head: Response, heartbeat: [UInt8], heartbeatInterval: Duration = .seconds(15),
        longest: Duration = .seconds(900),
        produce: @escaping @Sendable (any PieceReader) async -> Void
    ) {
        self.head = head
        self.heartbeat = heartbeat
        self.heartbeatInterval = heartbeatInterval
        self.longest = longest
        self.produce = produce
    }
}

/// The receiving end of a stream.
public protocol PieceReader: Sendable {
    /// Sends one piece and waits until the system has taken all of it, so that at most one piece is buffered for a slow
    /// client. Returns false if the client has disconnected.
    func send(_ piece: [UInt8]) async -> Bool
}
