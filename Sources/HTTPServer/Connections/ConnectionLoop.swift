import EventLoops
import HTTP
import Sockets

/// The connections of one event loop: an actor that runs on the loop as its executor, so all its code runs on the
/// loop's thread.
actor ConnectionLoop: EventHandler {
    /// The bytes that one read takes at most. All connections of the loop share the buffer, so that an idle one needs
    /// none.
    static let readBufferSize = 65_536
    /// The capacity beyond which a write buffer is released.
    static let keptWriteBufferSize = 262_144

    nonisolated let loop: EventLoop
    nonisolated let counters = Counters()
    nonisolated let server: ServerState
    nonisolated let configuration: HTTPServer.Configuration
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let wallClock: @Sendable () -> Int
    nonisolated let source: EventSource
    private let idleNanoseconds: Int64
    private var dates = DateCache()
    /// The date of the current turn, because reading the clock for each of many responses would cost too much.
    private var dateOfTurn: [UInt8]?
    private var deadlines = DeadlineQueue()
    private(set) var now = MonotonicInstant(nanoseconds: 0)

    private(set) var connections: [Connection?] = []
    private var freeSlots: [Int] = []
    private var lastGeneration: UInt32 = 0
    var readBuffer = [UInt8](repeating: 0, count: ConnectionLoop.readBufferSize)
    var writeBuffer: [UInt8] = []

    /// Connections with more requests than one turn answers.
    var unfinished: [Connection] = []
    var pausedPorts: [UInt32] = []
    var acceptResumesAt: MonotonicInstant?
    /// Requests in handlers, by the number of their service, and in total.
    var pending: [Int] = []
    var pendingCount = 0
    /// Streaming replies in progress.
    var streamingReplyCount = 0
    /// The requests of one service in handlers that this loop allows.
    let pendingLimit: Int
    /// Connections beyond the limit that are being refused.
    var rejectedCount = 0
    /// Handlers that run on after their connection has ended.
    var orphanedHandlers = 0

    var isDraining = false
    var drainEndsAt: MonotonicInstant?
    var handOverEndsAt: MonotonicInstant?
    var handOverEnded: CheckedContinuation<Void, Never>?
    var drained: CheckedContinuation<Void, Never>?
    private var isDetached = false

    init(_ loop: EventLoop, _ server: ServerState, loopCount: Int, _ wallClock: @escaping @Sendable () -> Int) {
        self.loop = loop
        self.server = server
        self.wallClock = wallClock
        configuration = server.configuration
        // Connections are spread evenly, so requests are too.
        pendingLimit = max(1, (server.configuration.maximumPendingRequests + loopCount - 1) / loopCount)
        source = loop.makeSource()
        now = loop.now
        let origin = MonotonicInstant(nanoseconds: 0)
        idleNanoseconds = (origin + server.configuration.idleTimeout).nanoseconds
    }

    nonisolated func attach() { source.attach(self) }

    func detach() {
        source.detach()
        isDetached = true
        cutRemaining()
    }

    // MARK: A turn

    nonisolated func turn(_ events: [ReadyEvent], now: MonotonicInstant) {
        assumeIsolated { $0.takeTurn(events, now) }
    }

    nonisolated func nextDeadline() -> MonotonicInstant? {
        assumeIsolated { loop in
            if !loop.unfinished.isEmpty { return loop.now }
            let others = [loop.deadlines.next, loop.acceptResumesAt, loop.handOverEndsAt, loop.drainEndsAt]
            return others.compactMap { $0 }.min()
        }
    }

    private func takeTurn(_ events: [ReadyEvent], _ now: MonotonicInstant) {
        self.now = now
        dateOfTurn = nil
        for event in events {
            switch ConnectionToken(event.token) {
            case .port(let id): if let port = server.port(id) { accept(port, id) }
            case .connection(let slot, let generation):
                if let connection = connection(slot, generation) { becameReady(connection, event.readiness) }
            }
        }
        if !unfinished.isEmpty { advanceUnfinished() }
        while let slot = deadlines.popDue(now: now) {
            guard let connection = connections[slot] else { continue }
            if connection.deadline > now {
                deadlines.watch(slot, until: connection.deadline)
            } else {
                // The deadline is not watched any more, so any next deadline is earlier.
                connection.deadline = .never
                expire(connection)
            }
        }
        if let resumes = acceptResumesAt, resumes <= now { resumeAccepting() }
        if isDraining {
            if let end = handOverEndsAt, end <= now { endHandOver() }
            if let end = drainEndsAt, end <= now { cutRemaining() }
        }
    }

    private func becameReady(_ connection: Connection, _ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .readClosed, .closed]) { connection.mayRead = true }
        if !readiness.isDisjoint(with: [.readClosed, .closed]) { connection.endsSoon = true }
        switch connection.state {
        case .opening: open(connection)
        case .reading: if !connection.hasTurnComing { advance(connection) }
        case .answering:
            if !readiness.isDisjoint(with: .closed) || (connection.streamingReply != nil && connection.endsSoon) {
                close(connection)
            }
        case .streaming:
            if connection.endsSoon { close(connection) } else if !connection.output.isEmpty { flush(connection) }
        case .writing: flush(connection)
        case .lingering: drop(connection)
        case .closed: break
        }
    }

    // MARK: The table

    /// Returns the connection in a slot, unless another one has taken the slot.
    func connection(_ slot: Int, _ generation: UInt32) -> Connection? {
        guard let connection = connections[slot], connection.generation == generation else { return nil }
        return connection
    }

    var isEmpty: Bool { freeSlots.count == connections.count }

    /// Adds a connection to the table and watches it. Returns nil, and closes the connection, if that fails.
    func insert(
        _ transport: Transport, from address: SocketAddress, _ service: Service, isAdmitted: Bool
    ) -> Connection? {
        if isDetached { return nil }
        while pending.count <= service.number { pending.append(0) }
        let slot = freeSlots.popLast() ?? connections.count
        if slot == connections.count { connections.append(nil) }
        lastGeneration = lastGeneration &+ 1 & ConnectionToken.generationMask
        let token = ConnectionToken.connection(slot: slot, generation: lastGeneration).bits
        do {
            try source.add(transport.number, for: .streamEdges, token: token)
        } catch {
            freeSlots.append(slot)
            return nil
        }
        let connection = Connection(
            transport, slot: slot, generation: lastGeneration, service: service, remoteAddress: address,
            isAdmitted: isAdmitted, limits: configuration.limits, deadline: now + configuration.headerTimeout)
        connections[slot] = connection
        deadlines.watch(slot, until: connection.deadline)
        return connection
    }

    /// Closes a connection and releases its place. While its handler runs, the place stays taken.
    func close(_ connection: Connection) {
        guard connections[connection.slot] === connection else { return }
        connection.transport.end(isHandshaking: connection.opening.isHandshaking)
        connections[connection.slot] = nil
        connection.state = .closed
        releaseMemory(of: connection)
        if connection.streamingReply != nil { endStreamingReply(of: connection) }
        freeSlots.append(connection.slot)
        counters.open.decrement()
        if connection.handler != nil {
            orphanedHandlers += 1
        } else if connection.isAdmitted {
            server.release(connection.countedAddress)
        } else {
            rejectedCount -= 1
        }
        endDrainIfDone()
    }

    func setDeadline(_ connection: Connection, after duration: Duration) {
        setDeadline(connection, now + duration)
    }

    /// Sets the deadline of an idle connection, at the cost of one addition.
    func awaitNext(_ connection: Connection) {
        setDeadline(connection, now.advanced(byNanoseconds: idleNanoseconds))
    }

    /// Sets a deadline. A connection in the table is always watched until its deadline or an earlier moment.
    private func setDeadline(_ connection: Connection, _ deadline: MonotonicInstant) {
        if deadline < connection.deadline { deadlines.watch(connection.slot, until: deadline) }
        connection.deadline = deadline
    }

    /// Handles a missed deadline of the client or the handler.
    private func expire(_ connection: Connection) {
        switch connection.state {
        case .opening:
            // No response is possible before the opening is complete.
            counters.timeouts.increment()
            counters.count(.headerTime)
            close(connection)
        case .reading where connection.isIdle && isDraining: closeIdle(connection)
        case .reading where connection.isIdle:
            counters.count(connection.requestCount == 0 ? .headerTime : .idleTime)
            close(connection)
        case .reading:
            let isBody = connection.awaited == .body
            if isBody, keepsUp(connection) { return }
            counters.timeouts.increment()
            counters.count(isBody ? .bodyTime : .headerTime)
            answer(connection, .requestTimeout)
        case .answering: abandonHandler(connection)
        case .streaming where connection.output.isEmpty: keepAlive(connection)
        case .writing, .streaming:
            if keepsUp(connection) { return }
            counters.timeouts.increment()
            counters.count(.writeTime)
            close(connection)
        case .lingering: close(connection)
        case .closed: break
        }
    }

    /// The `Date` of responses.
    func date() -> [UInt8] {
        if let dateOfTurn { return dateOfTurn }
        let date = dates.date(secondsSinceEpoch: wallClock())
        dateOfTurn = date
        return date
    }
}
