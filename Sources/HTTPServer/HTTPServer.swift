// HTTPServer moves HTTP/1.1 between sockets and handlers: it accepts, reads, asks the parser, starts the handler, writes
// the answer, and keeps every deadline and every limit of `Configuration`. It knows nothing of tokens, routes or stores.
//
// A connection belongs to one event loop for its whole life and is touched only there: `ConnectionLoop` is an actor whose
// executor is that loop, so there is no lock between a request and its answer. A request costs one recv and one send, and a
// task if its answer has to be awaited.
//
// Reading order: HTTPServer (public errorFormat), Configuration, RequestHandler, ConnectionLoop (the table of one loop's
// connections, and a turn), then +Accepting, +Opening (what precedes requests), +Reading, +Answering, +Draining; Connection
// (the state of one) and Transport (what it speaks through), BuiltInResponse (what the engine answers by itself), ServerState
// (what the loops share: listeners and limits), HandshakeQueue (where handshakes of TLS compute).

import Glibc
public import EventLoops
public import HTTP
public import Sockets

/// An HTTP server: any number of listeners on one set of event loops.
public final class HTTPServer: Sendable {
    private let state: ServerState

    /// Makes a server that listens nowhere yet.
    ///
    /// - Parameters:
    ///   - loops: run it; they may serve others too. Stop the server before them.
    ///   - handshakes: where the handshakes of listeners with TLS compute.
    ///   - wallClock: seconds since 1970, for the `Date` field.
    ///   - finishOwnAnswer: adds fields to what the engine answers by itself, without a handler.
    public init(
        configuration: Configuration = Configuration(), loops: EventLoopGroup,
        handshakes: HandshakeQueue = HandshakeQueue(),
        wallClock: @escaping @Sendable () -> Int = HTTPServer.systemTime,
        finishOwnAnswer: @escaping @Sendable (inout Response) -> Void = { _ in }
    ) {
        state = ServerState(configuration, handshakes: handshakes, finishOwnAnswer: finishOwnAnswer)
        state.start(on: loops.loops, wallClock: wallClock)
    }

    /// Listens on one more address: port 0 takes a free one, a Unix socket gets mode 0600. Everything else is as in
    /// `listen(through:)`.
    ///
    /// - Returns: the address with its real port.
    @discardableResult
    public func listen(
        on address: SocketAddress, _ options: ServiceOptions = ServiceOptions(), responder: @escaping Responder
    ) throws(SocketError) -> SocketAddress {
        try listen(through: Listener(address), options, responder: responder)
    }

    /// Accepts what comes in through one more listener. What has come since the listener was made has waited in its queue.
    ///
    /// - Parameters:
    ///   - listener: made by this process, or inherited.
    ///   - responder: answers what comes in there.
    /// - Returns: the address with its real port.
    @discardableResult
    public func listen(
        through listener: consuming Listener, _ options: ServiceOptions = ServiceOptions(),
        responder: @escaping Responder
    ) throws(SocketError) -> SocketAddress {
        let service = Service(number: state.nextServiceNumber(), options, responder)
        return try state.open(Port(listener, service), waits: options.waits)
    }

    /// The same as `listen(on:_:responder:)`, with a task for every request.
    @discardableResult
    public func listen(
        on address: SocketAddress, _ options: ServiceOptions = ServiceOptions(), handler: @escaping RequestHandler
    ) throws(SocketError) -> SocketAddress {
        try listen(through: Listener(address), options, handler: handler)
    }

    /// The same as `listen(through:_:responder:)`, with a task for every request.
    @discardableResult
    public func listen(
        through listener: consuming Listener, _ options: ServiceOptions = ServiceOptions(),
        handler: @escaping RequestHandler
    ) throws(SocketError) -> SocketAddress {
        let responder: Responder = { request, context in .later { await handler(request, context) } }
        return try listen(through: listener, options, responder: responder)
    }

    /// Takes connections from the listeners that wait, with those that have come meanwhile.
    public func beginAccepting() throws(SocketError) { try state.beginAccepting() }

    /// Reads the system's clock, in seconds since 1970.
    @Sendable public static func systemTime() -> Int { time(nil) }

    /// What happened so far, over all loops. A moment's picture: the counters move on while they are read.
    public var statistics: Statistics { state.statistics }

    /// Stops: no new connections, requests in flight are answered with `Connection: close`. Idle connections are closed after
    /// `Configuration.drainGrace`, in which a request is still answered.
    ///
    /// - Parameter deadline: how long that may take; then the connections that remain are cut and their handlers cancelled.
    public func stop(deadline: Duration) async { await state.stop(deadline: deadline) }
}
