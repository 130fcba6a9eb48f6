import EventLoops
import HTTP
import Sockets

/// The connections of one event loop. An actor whose executor is the loop: what happens here happens on the loop's thread.
actor ConnectionLoop: EventHandler {
    /// One read takes at most so much. Shared by all connections of the loop, so that an idle one holds no buffer.
    static let readBufferSize = 65_536
    /// A write buffer that has grown beyond this is given back.
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
    /// What `dates` said in this turn: asking for the time costs more than a turn of many answers should pay for each.
    private var dateOfTurn: [UInt8]?
    private var deadlines = DeadlineQueue()
    private(set) var now = MonotonicInstant(nanoseconds: 0)

    private(set) var connections: [Connection?] = []
    private var freeSlots: [Int] = []
    private var lastGeneration: UInt32 = 0
    var readBuffer = [UInt8](repeating: 0, count: ConnectionLoop.readBufferSize)
    var writeBuffer: [UInt8] = []

    /// Connections with more requests at hand than one turn answers.
    var unfinished: [Connection] = []
    var pausedPorts: [UInt32] = []
    var acceptResumesAt: MonotonicInstant?
    /// Requests in handlers, by the number of their service, and all together.
    var pending: [Int] = []
    var pendingCount = 0
    /// Replies that take their time, and how many this loop lets.
    var patientCount = 0
    let patientLimit: Int
    /// How many of them one service may have on this loop.
    let pendingLimit: Int
    /// Overflow connections that are just being turned away.
    var rejectedCount = 0
    /// Handlers whose connection has ended before them.
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
        patientLimit = max(1, (server.configuration.maximumPatientReplies + loopCount - 1) / loopCount)
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
                // It is watched no longer: whatever deadline comes next is a closer one.
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
            if !readiness.isDisjoint(with: .closed) || (connection.patience != nil && connection.endsSoon) {
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

    /// The connection in a slot, if it is still the one that is meant.
    func connection(_ slot: Int, _ generation: UInt32) -> Connection? {
        guard let connection = connections[slot], connection.generation == generation else { return nil }
        return connection
    }

    var isEmpty: Bool { freeSlots.count == connections.count }

    /// Puts a connection into the table and has it watched; nil (and it is closed) when that fails.
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

    /// Closes a connection and gives its place back, unless its handler still runs: the place then waits for that.
    func close(_ connection: Connection) {
        guard connections[connection.slot] === connection else { return }
        connection.transport.letGo(isAway: connection.opening.isAway)
        connections[connection.slot] = nil
        connection.state = .closed
        releaseMemory(of: connection)
        if connection.patience != nil { endPatience(of: connection) }
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

    /// The deadline of a connection that idles, at the cost of an addition.
    func awaitNext(_ connection: Connection) {
        setDeadline(connection, now.advanced(byNanoseconds: idleNanoseconds))
    }

    /// A connection in the table is always watched until its deadline or an earlier moment.
    private func setDeadline(_ connection: Connection, _ deadline: MonotonicInstant) {
        if deadline < connection.deadline { deadlines.watch(connection.slot, until: deadline) }
        connection.deadline = deadline
    }

    /// What a client, or a handler, was too slow for.
    private func expire(_ connection: Connection) {
        switch connection.state {
        case .opening:
            // Whoever has not come so far cannot be told anything.
            counters.timeouts.increment()
            counters.count(.headerTime)
            close(connection)
        case .reading where connection.isIdle && isDraining: bidFarewell(connection)
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

    /// The `Date` of answers.
    func date() -> [UInt8] {
        if let dateOfTurn { return dateOfTurn }
        let date = dates.date(secondsSinceEpoch: wallClock())
        dateOfTurn = date
        return date
    }
}
