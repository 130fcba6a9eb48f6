public import HTTP
public import Sockets

/// Answers one request.
///
/// It runs on the event loop of its connection, so it must not compute or block for long: it awaits others who do, on queues of their own.
/// (An actor without an executor of its own, and a `@concurrent` function, run on the loop too: the task prefers it.)
/// Its answer is not awaited for longer than `Configuration.requestTimeout`; then its task is cancelled.
/// When the client has gone meanwhile, the handler still runs to its end.
public typealias RequestHandler = @Sendable (Request, RequestContext) async -> Response

/// What the connection knows about a request.
public struct RequestContext: Sendable {
    /// The other end; of a Unix socket: a path that is empty.
    public let remoteAddress: SocketAddress
    /// The name that was given to the listener.
    public let listenerName: String

    /// Whether the request came over a Unix socket: from a process of this machine that may open the socket's file.
    public var isLocalSocket: Bool { remoteAddress.port == nil }

    /// Puts a context together; a test of a handler does.
    public init(remoteAddress: SocketAddress, listenerName: String) {
        self.remoteAddress = remoteAddress
        self.listenerName = listenerName
    }
}
