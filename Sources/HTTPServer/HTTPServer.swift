// HTTPServer moves HTTP/1.1 between sockets and handlers: it accepts, reads, asks the parser, starts the handler, writes
// the answer, and keeps every deadline and every limit of `Configuration`. It knows nothing of tokens, routes or stores.
//
// A connection belongs to one event loop for its whole life and is touched only there: `ConnectionLoop` is an actor whose
// executor is that loop, so there is no lock between a request and its answer. A request costs one recv, one task, one send.
//
// Reading order: HTTPServer (public face), Configuration, RequestHandler, ConnectionLoop (the table of one loop's
// connections, and a turn), then +Accepting, +Opening (what precedes requests), +Reading, +Answering, +Draining; Connection
// (the state of one) and Transport (what it speaks through), EngineAnswer (what the engine answers by itself), ServerState
// (what the loops share: listeners and limits).

import Glibc
public import EventLoops
public import HTTP
public import Sockets
public import TLS

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
        on address: SocketAddress, name: String = "public", tls: TLSContextHolder? = nil, isReserved: Bool = false,
        isUrgent: @escaping @Sendable (Request) -> Bool = { _ in false }, handler: @escaping RequestHandler
    ) throws(SocketError) -> SocketAddress {
        try listen(
            through: Listener(address), name: name, tls: tls, isReserved: isReserved, isUrgent: isUrgent,
            handler: handler)
    }

    /// Accepts what comes in through one more listener. What has come since the listener was made has waited in its queue.
    ///
    /// - Parameters:
    ///   - listener: made by this process, or inherited.
    ///   - name: for `RequestContext.listenerName`.
    ///   - tls: has connections speak TLS, with the context that it holds at the time; nil: clear text.
    ///   - isReserved: whether connections are taken here when others are refused (`Configuration.reservedConnections`), so
    ///     that those who look after the server get in when it is overrun.
    ///   - isUrgent: which requests are answered however many are pending: health checks.
    ///   - proxies: when given, connections are taken from these addresses alone, and each must begin with the header of the
    ///     PROXY protocol, before TLS. `RequestContext.remoteAddress` is then what the header says.
    ///   - gateways: proxies that may have ended TLS for their clients: from them, targets with `https` are taken.
    ///   - waits: whether connections wait until `beginAccepting()`.
    ///   - handler: answers what comes in there.
    /// - Returns: the address with its real port.
    @discardableResult
    public func listen(
        through listener: consuming Listener, name: String = "public", tls: TLSContextHolder? = nil,
        isReserved: Bool = false, isUrgent: @escaping @Sendable (Request) -> Bool = { _ in false },
        proxies: [AddressRange]? = nil, gateways: [AddressRange] = [], waits: Bool = false,
        handler: @escaping RequestHandler
    ) throws(SocketError) -> SocketAddress {
        let service = Service(
            number: state.nextServiceNumber(), name: name, isReserved: isReserved, tls: tls, isUrgent: isUrgent,
            proxies: proxies, gateways: gateways, handler: handler)
        return try state.open(Port(listener, service), waits: waits)
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
