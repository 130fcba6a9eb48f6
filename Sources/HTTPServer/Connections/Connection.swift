import EventLoops
import HTTP
import Sockets

/// One connection, touched only on its loop. Leaving the table closes it: nothing else keeps it alive.
final class Connection {
    enum State {
        /// What its listener wants before the first request: see ConnectionLoop+Opening.
        case opening
        /// Waits for a request, or for the rest of one.
        case reading
        /// A handler has the request. Nothing more is read: whoever sends ahead has to wait (back-pressure).
        case answering
        /// An answer goes out in pieces, for as long as there are some: see ConnectionLoop+Streaming. Nothing is read either.
        case streaming
        /// An answer waits for the client to make room.
        case writing
        /// The last answer is out; what still comes in is dropped, so that the answer is not lost in a reset.
        case lingering
        /// It has left the table; whoever still holds it leaves it alone.
        case closed
    }

    let transport: Transport
    let slot: Int
    /// Tells this connection from others that had the slot before, or will have it.
    let generation: UInt32
    let service: Service
    /// The other end; once a proxy's header has come, the client that it names.
    var remoteAddress: SocketAddress
    /// A proxy has not said yet for whom it connects.
    var awaitsProxyHeader: Bool
    /// What its requests are told about it.
    var context: RequestContext
    /// Whether it takes one of the places that are limited; an overflow that is just being turned away does not.
    let isAdmitted: Bool

    var parser: RequestParser
    var state: State
    /// While `state` is `opening`.
    var opening = Opening()
    /// What the deadline is for while reading; a new connection has to send its first head soon.
    var awaited = RequestParser.Phase.head
    var deadline: MonotonicInstant
    /// Bytes may be waiting: the kernel told so once, and we have not read to their end since.
    var mayRead = true
    /// The client sends no more, so that a read finds the end of the stream after the last bytes.
    var endsSoon = false
    var requestCount = 0
    var handler: Task<Void, Never>?
    /// While a reply takes its time.
    var patience: Patience?
    /// It goes on with requests that were sent ahead when others have had their turn.
    var hasTurnComing = false
    /// A handler is just being started, which may end before its start has returned.
    var isStarting = false
    /// Memory of the request that a handler has.
    var requestBytes = 0
    /// Memory counted for this connection, beyond what each has of its own.
    var excessBytes = 0
    /// How far content or output had come when its deadline was set.
    var windowStart = 0
    var output: [UInt8] = []
    var outputOffset = 0
    var closesAfterOutput = false
    /// The client said that it sends no other request.
    var clientCloses = false
    var droppedBytes = 0

    init(
        _ transport: Transport, slot: Int, generation: UInt32, service: Service,
        remoteAddress: SocketAddress, isAdmitted: Bool, limits: Limits, deadline: MonotonicInstant
    ) {
        self.transport = transport
        self.slot = slot
        self.generation = generation
        self.service = service
        self.remoteAddress = remoteAddress
        context = RequestContext(remoteAddress: remoteAddress, listenerName: service.options.name)
        self.isAdmitted = isAdmitted
        self.deadline = deadline
        parser = RequestParser(limits: limits)
        awaitsProxyHeader = service.options.proxies != nil
        state = service.wantsOpening ? .opening : .reading
        mayUseHTTPS()
    }

    /// Lets it ask for `https`: over TLS, or as a proxy that may have ended TLS.
    func mayUseHTTPS() {
        if transport.isSecure || service.options.gateways.contains(where: { $0.contains(remoteAddress) }) {
            parser.isSecure = true
        }
    }

    /// Whose connection it counts as: nobody's, before a proxy has said whose.
    var countedAddress: SocketAddress? { awaitsProxyHeader ? nil : remoteAddress }

    /// Whether it is the client's turn to make room.
    var isWriting: Bool { state == .writing || state == .streaming }

    /// Whether nothing of a next request is there.
    var isIdle: Bool { state == .reading && parser.phase == .idle && parser.unreadCount == 0 }
}
