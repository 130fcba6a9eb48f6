// HTTPClient: requests and mails that the server itself sends, through libcurl.
//
// Owns: the few threads on which requests block, and every limit on a hostile response or relay.
//
// Must not know: the purpose and the receiver of a request, nor the text of a mail. Tokens, keys and events belong to other
// modules.
//
// The operator and admins decide which servers are asked. A URL that came with any other request from outside is asked by a
// client with `Destinations.publicAddresses` alone, or the server would ask, for strangers, what only it can reach. A URL
// from a provider's discovery document must have the provider's origin, or be allowed by the configuration. The client
// follows no redirects; a redirect is a response like any other. It uses no proxies from the environment, which would
// connect in its place, no cookies, no passwords from `.netrc`, and accepts no certificate without verification.
//
// Reading order: HTTPClient, Destinations, OutboundURL, OutboundRequest (and the response), OutboundError, WorkerThreads,
// EasyHandle, SocketOpener, ResponseCollector, Library; then SMTPClient, RelayURL, SMTPSession, SMTPConversation.

internal import Locks

/// Makes HTTP requests, a few at a time, each within its deadline. They never block an event loop or the cooperative
/// pool.
public struct HTTPClient: Sendable {
    /// The options of all requests.
    public struct Options: Sendable {
        /// The number of requests at one time; each has a thread.
        public var width: Int
        /// The number of requests that may wait for a thread; the next one is refused.
        public var waitingMax: Int
        /// The time for a connection to be established, with TLS.
        public var connectDeadline: Duration
        /// The time from the call to the last byte of the response, unless the request sets its own.
        public var deadline: Duration
        /// The bytes of a response's content at most, unless the request sets its own limit.
        public var contentMax: Int
        /// The bytes of a response's field lines at most, including interim responses.
        public var fieldsMax: Int
        /// The `User-Agent` field.
        public var userAgent: String
        /// The addresses to which connections go.
        public var destinations: Destinations

        /// Creates options; each has a cautious default.
        public init(
            width: Int = 4, waitingMax: Int = 64, connectDeadline: Duration = .seconds(3),
            deadline: Duration = .seconds(10), contentMax: Int = 256 * 1024, fieldsMax: Int = 32 * 1024,
            userAgent: String = "sojourn", destinations: Destinations = .anywhere
        ) {
            self.width = max(1, width)
            self.waitingMax = max(0, waitingMax)
            self.connectDeadline = connectDeadline
            self.deadline = deadline
            self.contentMax = contentMax
            self.fieldsMax = fieldsMax
            self.userAgent = userAgent
            self.destinations = destinations
        }
    }

    private let options: Options
    private let workers: WorkerThreads<OutboundRequest, OutboundResponse>

    /// Creates a client with threads of its own, which start with the first request.
    public init(_ options: Options = Options()) {
        self.options = options
        workers = WorkerThreads(width: options.width, waitingMax: options.waitingMax) { handle, request, left in
            do throws(OutboundError) {
                return .success(try handle.perform(request, within: left, options))
            } catch { return .failure(error) }
        }
    }

    /// Sends `request` and returns its response, whatever the status is.
    public func send(_ request: OutboundRequest) async throws(OutboundError) -> OutboundResponse {
        try await workers.send(request, until: .now + (request.deadline ?? options.deadline))
    }
}
