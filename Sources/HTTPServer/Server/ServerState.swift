import EventLoops
import HTTP
import Sockets
import Locks
import Synchronization
import TLS

/// A listener, and the service that answers its connections once it accepts.
final class ServicePort: Sendable {
    let listener: Listener
    let options: HTTPServer.ServiceOptions
    /// Read once for each connection; a request asks its connection. Nil: the server has not begun to accept.
    private let assigned: Locked<Service?>

    var service: Service? {
        get { assigned.withLock { $0 } }
        set { assigned.withLock { $0 = newValue } }
    }

    init(_ listener: consuming Listener, _ options: HTTPServer.ServiceOptions, _ service: Service?) {
        self.listener = listener
        self.options = options
        assigned = Locked(service)
    }
}

/// What the loops of one server share: the listeners, the list of loops, and the connection limits.
final class ServerState: Sendable {
    /// The descriptors reserved for everything except connections: databases, files, listeners, the loops themselves.
    /// They matter beyond accepting, because libdispatch opens a file now and then and ends the process if it cannot.
    private static let reservedDescriptors = 64
    /// The descriptors among them that refused connections may not use either.
    private static let lastDescriptors = 24

    let configuration: HTTPServer.Configuration
    /// The queue that computes handshakes.
    let handshakes: HandshakeQueue
    /// The seconds of `Retry-After` for the server's own 503 responses, which a limit causes.
    let retryAfter: @Sendable (HTTPServer.Limit?) -> Int
    /// Adds fields to the server's own responses.
    let finishBuiltInResponse: @Sendable (inout Response) -> Void
    private let maximumConnections: Int
    /// The system assigns the lowest free number, so a number as high as this one shows that few are left.
    let descriptorCeiling: Int32
    /// Refused connections get a response only below this number, so that reserved listeners keep some descriptors.
    let rejectionCeiling: Int32
    private let connections = Atomic<Int>(0)
    private let connectionsByBlock = Locked<[AddressBlock: Int]>([:])
    private let buffered = Atomic<Int>(0)
    /// Streaming replies in progress, of the listeners without and with `isReserved`. They are counted for all loops together,
    /// because a loop's share of a small limit would be too small.
    private let streaming = Atomic<Int>(0)
    private let reservedStreaming = Atomic<Int>(0)
    private let loops = Locked<[ConnectionLoop]>([])
    /// The counters of the loops; they outlive the loops.
    private let counters = Locked<[Counters]>([])
    let ports = Locked<[UInt32: ServicePort]>([:])
    let waitingPorts = Locked<[UInt32]>([])
    private let portCount = Atomic<UInt32>(0)
    private let serviceCount = Atomic<Int>(0)

    init(
        _ configuration: HTTPServer.Configuration, handshakes: HandshakeQueue,
        retryAfter: @escaping @Sendable (HTTPServer.Limit?) -> Int,
        finishBuiltInResponse: @escaping @Sendable (inout Response) -> Void
    ) {
        self.configuration = configuration
        self.handshakes = handshakes
        self.retryAfter = retryAfter
        self.finishBuiltInResponse = finishBuiltInResponse
        let limit = DescriptorLimit.current
        let room = limit - Self.reservedDescriptors - configuration.reservedConnections
        maximumConnections = max(1, min(configuration.maximumConnections, room))
        descriptorCeiling = Int32(clamping: limit - Self.lastDescriptors)
        rejectionCeiling = descriptorCeiling - Int32(clamping: configuration.reservedConnections)
    }

    // MARK: Life

    func start(on eventLoops: [EventLoop], wallClock: @escaping @Sendable () -> Int) {
        let made = eventLoops.map { ConnectionLoop($0, self, loopCount: eventLoops.count, wallClock) }
        loops.withLock { $0 = made }
        counters.withLock { $0 = made.map(\.counters) }
        for loop in made { loop.attach() }
    }

    /// Watches a listener on every loop: the kernel wakes one that waits.
    func open(_ port: ServicePort) throws(SocketError) -> SocketAddress {
        let id = portCount.add(1, ordering: .relaxed).newValue
        ports.withLock { $0[id] = port }
        if port.options.waits {
            waitingPorts.withLock { $0.append(id) }
        } else {
            try beginAccepting(port, id)
        }
        return port.listener.address
    }

    /// Watches the listeners that wait. `responder` answers on those that have no service yet.
    func beginAccepting(by responder: (HTTPServer.ServiceOptions) -> Responder) throws(SocketError) {
        let waiting = waitingPorts.withLock { ids in
            defer { ids = [] }
            return ids
        }
        for id in waiting {
            guard let port = port(id) else { continue }
            if port.service == nil {
                port.service = Service(number: nextServiceNumber(), port.options, responder(port.options))
            }
            try beginAccepting(port, id)
        }
    }

    private func beginAccepting(_ port: ServicePort, _ id: UInt32) throws(SocketError) {
        port.listener.beginToShare()
        do {
            for loop in loops.withLock({ $0 }) { try loop.watch(port, id) }
        } catch {
            _ = ports.withLock { $0.removeValue(forKey: id) }
            throw .system(operation: error.operation, code: error.code)
        }
    }

    func nextServiceNumber() -> Int { serviceCount.add(1, ordering: .relaxed).oldValue }

    func port(_ id: UInt32) -> ServicePort? { ports.withLock { $0[id] } }

    func stop(deadline: Duration) async {
        let loops = loops.withLock { $0 }
        // After all loops have begun to drain, none passes connections to another any more.
        for loop in loops { await loop.beginDraining(within: deadline) }
        await closePorts(loops)
        await withDiscardingTaskGroup { group in for loop in loops { group.addTask { await loop.drain() } } }
        for loop in loops { await loop.detach() }
        self.loops.withLock { $0 = [] }
    }

    // MARK: Limits

    /// Counts a connection. Returns the limit that forbids it, if there are too many. Without an address, the client is
    /// not known yet.
    func admit(_ address: SocketAddress?, isReserved: Bool) -> HTTPServer.Limit? {
        let maximum = maximumConnections + (isReserved ? configuration.reservedConnections : 0)
        guard connections.add(1, ordering: .relaxed).newValue <= maximum else {
            connections.subtract(1, ordering: .relaxed)
            return .connections
        }
        guard let block = address.flatMap(block(of:)) else { return nil }
        let isAdmitted = connectionsByBlock.withLock { counts in
            guard counts[block, default: 0] < configuration.maximumConnectionsPerAddress else { return false }
            counts[block, default: 0] += 1
            return true
        }
        if isAdmitted { return nil }
        connections.subtract(1, ordering: .relaxed)
        return .connectionsPerAddress
    }

    /// Undoes `admit`.
    func release(_ address: SocketAddress?) {
        connections.subtract(1, ordering: .relaxed)
        guard let block = address.flatMap(block(of:)) else { return }
        // Only addresses with connections have an entry, so the table is never larger than the number of connections.
        connectionsByBlock.withLock { counts in
            let left = (counts[block] ?? 0) - 1
            counts[block] = left > 0 ? left : nil
        }
    }

    /// The block that an address counts for; nil if addresses are not counted.
    private func block(of address: SocketAddress) -> AddressBlock? {
        guard configuration.maximumConnectionsPerAddress > 0 else { return nil }
        return AddressBlock(address, ipv6PrefixBits: configuration.ipv6PrefixBits)
    }

    /// Counts a streaming reply, unless there are too many.
    func admitStreamingReply(isReserved: Bool) -> Bool {
        let isAdmitted =
            isReserved
            ? reservedStreaming.add(1, ordering: .relaxed).newValue <= configuration.reservedStreamingReplies
            : streaming.add(1, ordering: .relaxed).newValue <= configuration.maximumStreamingReplies
        if !isAdmitted { releaseStreamingReply(isReserved: isReserved) }
        return isAdmitted
    }

    /// Undoes `admitStreamingReply`.
    func releaseStreamingReply(isReserved: Bool) {
        if isReserved {
            reservedStreaming.subtract(1, ordering: .relaxed)
        } else {
            streaming.subtract(1, ordering: .relaxed)
        }
    }

    /// Counts memory, unless that would be too much; negative values always succeed.
    func reserve(_ bytes: Int) -> Bool {
        guard buffered.add(bytes, ordering: .relaxed).newValue > configuration.maximumBufferedBytes, bytes > 0 else {
            return true
        }
        buffered.subtract(bytes, ordering: .relaxed)
        return false
    }

    /// True if hardly any memory is left for content.
    var isShortOfMemory: Bool {
        buffered.load(ordering: .relaxed) > configuration.maximumBufferedBytes / 8 * 7
    }

    /// Returns the loop with the fewest connections; `loop` itself if none has fewer, because passing a connection on
    /// costs a wake-up.
    func leastLoaded(startingWith loop: ConnectionLoop) -> ConnectionLoop {
        loops.withLock { loops in
            var best = loop
            var fewest = loop.counters.open.load(ordering: .relaxed)
            for other in loops {
                let count = other.counters.open.load(ordering: .relaxed)
                if count < fewest { (best, fewest) = (other, count) }
            }
            return best
        }
    }

    var statistics: HTTPServer.Statistics {
        var sum = HTTPServer.Statistics()
        for counters in counters.withLock({ $0 }) { counters.add(to: &sum) }
        sum.bufferedBytes = buffered.load(ordering: .relaxed)
        return sum
    }
}
