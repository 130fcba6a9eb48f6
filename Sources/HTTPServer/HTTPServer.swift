// HTTPServer: HTTP/1.1 between sockets and handlers.
//
// Owns: accepting, reading, parsing, starting handlers, writing responses, and every deadline and limit of
// `Configuration`.
//
// Must not know: tokens, routes, stores.
//
// A connection belongs to one event loop for its whole life, and only that loop touches it. `ConnectionLoop` is an
// actor that runs on the loop as its executor, so no lock is taken between a request and its response. A request costs
// one recv and one send, and a task if its response has to be awaited.
//
// Reading order: HTTPServer (the public interface), Configuration, RequestHandler, ConnectionLoop (the table of one
// loop's connections, and one turn), then +Accepting, +Opening (what precedes requests), +Reading, +Answering,
// +Streaming, +Draining; Connection (the state of one) and Transport (its socket or TLS session), BuiltInResponse
// (responses without a handler), ServerState (what the loops share: listeners and limits), HandshakeQueue (the threads
// for TLS handshakes).

import Glibc
public import EventLoops
public import HTTP
public import Sockets

/// An HTTP server: any number of listeners on one group of event loops.
public final class HTTPServer: Sendable {
    private let state: ServerState

    /// Creates a server without listeners.
    ///
    /// - Parameters:
    ///   - loops: the event loops that run the server; others may use them too. Stop the server before the loops.
    ///   - handshakes: the queue that computes the handshakes of listeners with TLS.
    ///   - wallClock: returns seconds since 1970, for the `Date` field.
    ///   - retryAfter: the seconds of `Retry-After` for a 503 that the server makes without a handler, because of a limit.
    ///   - finishBuiltInResponse: adds fields to the responses that the server makes without a handler.
    public init(
        configuration: Configuration = Configuration(), loops: EventLoopGroup,
        handshakes: HandshakeQueue = HandshakeQueue(),
        wallClock: @escaping @Sendable () -> Int = HTTPServer.systemTime,
        retryAfter: @escaping @Sendable (Limit?) -> Int = { _ in 1 },
        finishBuiltInResponse: @escaping @Sendable (inout Response) -> Void = { _ in }
    ) {
        state = ServerState(
            configuration, handshakes: handshakes, retryAfter: retryAfter, finishBuiltInResponse: finishBuiltInResponse)
        state.start(on: loops.loops, wallClock: wallClock)
    }

    /// Creates a listener for an address and accepts its connections. Port 0 takes a free port; a Unix socket gets mode
    /// 0600.
    ///
    /// - Returns: the address with its real port.
    @discardableResult
    public func listen(
        on address: SocketAddress, _ options: ServiceOptions = ServiceOptions(), responder: @escaping Responder
    ) throws(SocketError) -> SocketAddress {
        try listen(through: Listener(address), options, responder: responder)
    }

    /// Accepts connections of a listener. Connections that arrived since the listener was created have waited in its
    /// queue.
    ///
    /// - Parameters:
    ///   - listener: created by this process, or inherited.
    ///   - responder: answers the requests of this listener.
    /// - Returns: the address with its real port.
    @discardableResult
    public func listen(
        through listener: consuming Listener, _ options: ServiceOptions = ServiceOptions(),
        responder: @escaping Responder
    ) throws(SocketError) -> SocketAddress {
        let service = Service(number: state.nextServiceNumber(), options, responder)
        return try state.open(ServicePort(listener, options, service))
    }

    /// Adds a listener. Its connections wait until `beginAccepting(by:)` assigns the responder, which may depend on the port
    /// of the listener.
    ///
    /// - Returns: the address with its real port.
    @discardableResult
    public func reserve(
        _ listener: consuming Listener, _ options: ServiceOptions = ServiceOptions()
    ) throws(SocketError) -> SocketAddress {
        var options = options
        options.waits = true
        return try state.open(ServicePort(listener, options, nil))
    }

    /// Creates a listener for an address, with a handler that runs in a task for every request.
    @discardableResult
    public func listen(
        on address: SocketAddress, _ options: ServiceOptions = ServiceOptions(), handler: @escaping RequestHandler
    ) throws(SocketError) -> SocketAddress {
        try listen(through: Listener(address), options, handler: handler)
    }

    /// Accepts connections of a listener, with a handler that runs in a task for every request.
    @discardableResult
    public func listen(
        through listener: consuming Listener, _ options: ServiceOptions = ServiceOptions(),
        handler: @escaping RequestHandler
    ) throws(SocketError) -> SocketAddress {
        let responder: Responder = { request, context in .later { await handler(request, context) } }
        return try listen(through: listener, options, responder: responder)
    }

    /// Accepts connections of the listeners that wait, including those that arrived meanwhile.
    ///
    /// - Parameter responder: gives the responder of each reserved listener, by its options.
    public func beginAccepting(
        by responder: (ServiceOptions) -> Responder = { _ in { _, _ in .now(Response(status: .serviceUnavailable)) } }
    ) throws(SocketError) {
        try state.beginAccepting(by: responder)
    }

    /// Returns the system's clock, in seconds since 1970.
    @Sendable public static func systemTime() -> Int { time(nil) }

    /// The counters of all loops. They are not a consistent snapshot, because they change while they are read.
    public var statistics: Statistics { state.statistics }

    /// Stops the server: refuses new connections and answers requests in progress with `Connection: close`. Idle
    /// connections close after `Configuration.drainGrace`, in which a request is still answered.
    ///
    /// - Parameter deadline: the time for all that. Then the server cuts the remaining connections and cancels their
    ///   handlers.
    public func stop(deadline: Duration) async { await state.stop(deadline: deadline) }
}
