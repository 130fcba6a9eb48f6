/// A reply that takes its time: a long poll, or a stream. Those who hold one are counted apart from requests that are
/// being worked on, because they wait for events and not for the server.
///
/// A class, so that a reply of another kind is no larger for it.
public final class StreamingReply: Sendable {
    /// How long it may take to begin with the answer, beyond what any request may take.
    public let patience: Duration
    /// Gives the answer, or the beginning of one. When its task is cancelled (the server stops, the client has gone), it
    /// returns soon, with what there is to say.
    public let respond: @Sendable () async -> StreamingAnswer

    /// A reply that begins within `patience`.
    public init(patience: Duration, respond: @escaping @Sendable () async -> StreamingAnswer) {
        self.patience = patience
        self.respond = respond
    }
}

/// What somebody gets who has been patient.
public enum StreamingAnswer: Sendable {
    /// An answer in one piece.
    case whole(Response)
    /// One whose content comes in pieces.
    case stream(StreamedResponse)

    /// The answer, or what comes before its first piece.
    public var head: Response {
        switch self {
        case .whole(let response): response
        case .stream(let stream): stream.head
        }
    }
}

/// A response whose content comes in pieces, over minutes: chunked (RFC 9112 section 7.1), or until the connection closes
/// for a client of HTTP/1.0. Not produced for `HEAD`.
public struct StreamedResponse: Sendable {
    /// Status and fields. Its body is the first piece.
    public var head: Response
    /// What is sent when nothing else was for `heartbeatInterval`. Whoever has not acknowledged by then what he was sent
    /// before the last one is gone.
    public var heartbeat: [UInt8]
    /// The longest silence.
    public var heartbeatInterval: Duration
    /// After this time the stream ends, so that its reader comes again, and has to show once more that he may.
    public var longest: Duration
    /// Sends the pieces, and returns at their end. When its task is cancelled, it returns soon.
    public var produce: @Sendable (any PieceReader) async -> Void

    /// A stream that begins with `head`.
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

/// Who reads a stream.
public protocol PieceReader: Sendable {
    /// Hands over one piece, and waits until the system has taken all of it: one piece is all that is kept for a slow
    /// reader. False: nobody reads any more.
    func send(_ piece: [UInt8]) async -> Bool
}
