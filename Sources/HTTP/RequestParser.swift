/// Turns the bytes of one connection into requests.
///
/// Feed it with `append` and call `next` until it answers `needMore`. The events depend on the bytes alone, not on how
/// they were cut (but for `expectContinue`, which is left out when the content has already begun to arrive).
public struct RequestParser: Sendable {
    /// What the bytes so far amount to.
    public enum Event: Equatable, Sendable {
        /// Nothing more to say before more bytes come.
        case needMore
        /// A head with content to follow is read, and its sender waits for `100 Continue`. Comes once for a request.
        case expectContinue
        /// A complete request.
        case request(Request)
        /// The bytes cannot be trusted any more. Answer with `status`, close; the parser stays here.
        case failed(ProtocolError)
    }

    /// Where the connection stands, for its deadlines.
    public enum Phase: Hashable, Sendable {
        /// Between two requests, nothing of the next one is there.
        case idle
        /// Within a request line or the fields.
        case head
        /// The head is complete, its content is not.
        case body
    }

    /// The limits that this parser was made with.
    public let limits: Limits

    /// A parser that has read nothing.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Adds bytes that were read.
    public mutating func append(_ bytes: [UInt8]) {}

    /// Adds bytes that were read. They are copied.
    public mutating func append(_ bytes: Span<UInt8>) {}

    /// Adds bytes that were read. They are copied.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {}

    /// The next event.
    public mutating func next() -> Event { .needMore }

    /// Where the connection stands.
    public var phase: Phase { .idle }

    /// How many bytes were appended and not yet turned into requests: what the connection should bound its reading by.
    public var unreadCount: Int { 0 }
}
