// HTTPClient: requests that the server itself makes, through libcurl.
//
// Owns the few threads on which they block, and every limit that a hostile answer runs into. Must not know what is asked
// for, nor whom: tokens, keys and events are others' business.
//
// Whom the server asks decides the configuration alone. No URL that came with a request from outside may ever be made an
// `OutboundURL`, or the server would fetch for strangers what only it can reach. The one that a provider's discovery
// document names is taken from its own origin, or as the configuration allows. Nothing is followed: a redirect is an
// answer as any other. There are no proxies from the environment, no cookies, no passwords from `.netrc`, and no
// certificate that was not verified.

internal import Locks

/// Makes HTTP requests, a few at a time, each within its deadline; never on an event loop nor in the cooperative pool.
public struct HTTPClient: Sendable {
    /// What holds for all requests.
    public struct Options: Sendable {
        /// How many requests are under way at most; each has a thread.
        public var width: Int
        /// How many more may wait for a thread; the next one is refused.
        public var waitingMax: Int
        /// How long a connection may take to come about, with TLS.
        public var connectDeadline: Duration
        /// How long a request may take from the call to the last byte of the answer, if it says nothing else.
        public var deadline: Duration
        /// The most bytes of an answer's content, if the request says nothing else.
        public var contentMax: Int
        /// The most bytes of an answer's field lines, interim answers included.
        public var fieldsMax: Int
        /// Who asks: the `User-Agent`.
        public var userAgent: String

        /// Options; what is left out has a cautious default.
        public init(
            width: Int = 4, waitingMax: Int = 64, connectDeadline: Duration = .seconds(3),
            deadline: Duration = .seconds(10), contentMax: Int = 256 * 1024, fieldsMax: Int = 32 * 1024,
            userAgent: String = "sojourn"
        ) {
            self.width = max(1, width)
            self.waitingMax = max(0, waitingMax)
            self.connectDeadline = connectDeadline
            self.deadline = deadline
            self.contentMax = contentMax
            self.fieldsMax = fieldsMax
            self.userAgent = userAgent
        }
    }

    private let options: Options
    private let lanes: WorkerThreads

    /// A client with threads of its own, which come into being with the first request.
    public init(_ options: Options = Options()) {
        self.options = options
        lanes = WorkerThreads(options)
    }

    /// The answer to `request`, whatever its status is.
    public func send(_ request: OutboundRequest) async throws(OutboundError) -> OutboundResponse {
        let deadline = request.deadline ?? options.deadline
        let answer: Result<OutboundResponse, OutboundError> = await withCheckedContinuation { continuation in
            lanes.take(Ticket(request, until: .now + deadline, continuation))
        }
        return try answer.get()
    }
}
