import EventLoops
import HTTP
import Sockets

/// One connection. Only its loop touches it. Removing it from the table closes it, because nothing else keeps it alive.
final class Connection {
    enum State {
        /// Before the first request, for what the listener requires: see ConnectionLoop+Opening.
        case opening
        /// Waits for a request, or for the rest of one.
        case reading
        /// A handler has the request. Nothing is read, so clients that send ahead have to wait (back-pressure).
        case answering
        /// A response is sent in pieces: see ConnectionLoop+Streaming. Nothing is read either.
        case streaming
        /// A response waits until the client reads more of it.
        case writing
        /// The last response is sent. Bytes that still arrive are dropped, so that a reset does not destroy the
        /// response.
        case lingering
        /// The connection has left the table. Code that still holds it must not use it.
        case closed
    }

    let transport: Transport
    let slot: Int
    /// Distinguishes this connection from earlier and later ones in the same slot.
    let generation: UInt32
    let service: Service
    /// The address of the other end; after a proxy's header, the client that the header names.
    var remoteAddress: SocketAddress
    /// True until the proxy has sent the header that names its client.
    var awaitsProxyHeader: Bool
    /// The context of its requests.
    var context: RequestContext
    /// True if the connection counts towards the limit; false for one that is only accepted to be refused.
    let isAdmitted: Bool

    var parser: RequestParser
    var state: State
    /// Used while `state` is `opening`.
    var opening = Opening()
    /// What the deadline is for while reading. A new connection has to send its first head in time.
    var awaited = RequestParser.Phase.head
    var deadline: MonotonicInstant
    /// True if bytes may be waiting, because the kernel reported them once and they were not read to their end since.
    var mayRead = true
    /// True if the client sends no more, so that a read after the last bytes finds the end of the stream.
    var endsSoon = false
    var requestCount = 0
    var handler: Task<Void, Never>?
    /// Set while a streaming reply is in progress.
    var streamingReply: StreamingReplyState?
    /// True if the connection continues with pipelined requests in the next turn.
    var hasTurnComing = false
    /// True while a handler is being started. The handler may end before its start has returned.
    var isStarting = false
    /// The memory of the request that a handler has, in bytes.
    var requestBytes = 0
    /// The memory counted for this connection, in bytes, beyond what each connection has of its own.
    var excessBytes = 0
    /// The progress of content or output at the moment when its deadline was set.
    var windowStart = 0
    var output: [UInt8] = []
    var outputOffset = 0
    var closesAfterOutput = false
    /// True if the client said that it sends no other request.
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

    /// Allows targets with `https`: over TLS, or from a proxy that may have ended TLS.
    func mayUseHTTPS() {
        if transport.isSecure || service.options.gateways.contains(where: { $0.contains(remoteAddress) }) {
            parser.isSecure = true
        }
    }

    /// The address that the connection counts for; nil until a proxy has named the client.
    var countedAddress: SocketAddress? { awaitsProxyHeader ? nil : remoteAddress }

    /// True if the connection waits for the client to read.
    var isWriting: Bool { state == .writing || state == .streaming }

    /// True if no byte of a next request has arrived.
    var isIdle: Bool { state == .reading && parser.phase == .idle && parser.unreadCount == 0 }
}
