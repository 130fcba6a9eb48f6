internal import CPostgres
internal import Locks
internal import Migrations
public import Sessions
internal import StoreFoundation

/// Keeps sessions, users, clients, settings, keys and the audit trail in a PostgreSQL database, which any number of nodes may
/// share.
///
/// This module owns the SQL of PostgreSQL and everything that makes an answer durable there. It knows no rule of the domain:
/// what a refresh or a login decides is in the closures that it runs. Nothing is kept here that another node could change but
/// settings and clients, and every use of those asks for their revision first. Nothing here blocks an event loop: libpq is
/// spoken to on threads of Dispatch, and every wait has an end.
///
/// It works behind PgBouncer in transaction mode: no settings or locks of a session, and named statements only until the first
/// one is unknown.
///
/// Reading order: this file · `SessionBatch` (a refresh: two round trips for many) with `SessionWrites` and `SessionSQL` ·
/// `Transaction` (the locks that keep nodes from passing each other, and changes of other things) · `PostgresRows` (what the domain's
/// procedures ask and write) with the SQL of the tables · `CatalogueCache` · `ReconnectingConnection` and `Connection` (the only files that speak to libpq, beside
/// `Rows` and `Statement`, which has a name where `StatementNames` allows it) · `MigrationRunner`.
public final class PostgresStore: Store {
    /// What can be set when a store is opened.
    public struct Options: Sendable {
        /// A change or read that could not be decided in this time is refused, and not decided later.
        public var decisionDeadline: Duration = .seconds(10)
        /// How long connecting may take.
        public var connectPatience: Duration = .seconds(5)
        /// So many changes, and so many reads, can wait for each connection; more are refused at once.
        public var pendingMax = 10_000
        /// So many changes of sessions share one transaction at most.
        public var batchMax = 512
        /// Connections for changes of sessions, each with the sessions of its own part of all ids.
        public var sessionConnections = 1
        /// Connections for other changes: logins, users, settings.
        public var changeConnections = 2
        /// The monotonic clock: deadlines and durations.
        public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        /// The wall clock: when a migration was applied.
        public var clock: WallClock
        /// Is told of batches and failures.
        public var observer = Observer()

        /// The defaults, with that wall clock.
        public init(clock: WallClock) { self.clock = clock }
    }

    let options: Options
    private let cache = CatalogueCache()
    private let sessionChanges: [BatchQueue<PendingSessionChange>]
    private let sessionReads: BatchQueue<PendingSessionChange>
    private let changes: [BatchQueue<PendingWork>]
    private let reads: BatchQueue<PendingWork>
    private let longReads: BatchQueue<PendingWork>
    private let lanes: [ReconnectingConnection]

    /// Connects to the database that `url` names (`postgres://…`, as libpq reads it), and brings it up to date. Blocks while it
    /// does.
    public convenience init(url: String, options: Options) throws(OpenError) {
        try self.init(url: url, options: options, migrations: Migration.all)
    }

    /// The same, with a given row of migrations.
    init(url: String, options: Options, migrations: [Migration]) throws(OpenError) {
        let names = StatementNames()
        let connection = try OpenError.mapping(url) { () throws(DatabaseError) in
            try Connection(
                url: url, patience: options.connectPatience, names: StatementNames(areUsed: false), now: options.now)
        }
        try ServerCheck.run(on: connection, url: url, until: options.now() + options.connectPatience)
        try MigrationRunner(migrations: migrations, clock: options.clock, now: options.now).run(
            on: connection, url: url)
        self.options = options
        var lanes: [ReconnectingConnection] = []
        func lane() -> ReconnectingConnection {
            let lane = ReconnectingConnection(url: url, options: options, names: names)
            lanes.append(lane)
            return lane
        }
        let cache = cache
        func batches(_ label: String) -> BatchQueue<PendingSessionChange> {
            let batch = SessionBatch(lane: lane(), cache: cache, options: options)
            return BatchQueue(label: label, pendingMax: options.pendingMax, batchMax: options.batchMax) {
                batch.process($0)
            }
        }
        func work(_ label: String) -> BatchQueue<PendingWork> {
            let worker = Worker(lane: lane(), options: options)
            return BatchQueue(label: label, pendingMax: options.pendingMax, batchMax: 1) { worker.process($0) }
        }
        sessionChanges = (0..<max(1, options.sessionConnections)).map { batches("database sessions \($0)") }
        sessionReads = batches("database session reader")
        changes = (0..<max(1, options.changeConnections)).map { work("database changes \($0)") }
        reads = work("database reader")
        longReads = work("database long reader")
        self.lanes = lanes
    }

    /// Waits until everything that was accepted has been answered, and disconnects. Everything asked later is refused as
    /// unavailable.
    public func close() async {
        for queue in sessionChanges + [sessionReads] { await Self.finish { queue.close($0) } }
        for queue in changes + [reads, longReads] { await Self.finish { queue.close($0) } }
        for lane in lanes { lane.close() }
    }

    private static func finish(_ close: (@escaping @Sendable () -> Void) -> Bool) async {
        await withCheckedContinuation { continuation in
            if !close({ continuation.resume() }) { continuation.resume() }
        }
    }

    /// See `Store`. Writes, and waits for the disk, as any change does.
    public func ping() async throws(StoreError) {
        try await change(nil) { (transaction) throws(DatabaseError) -> Void in
            transaction.add(Statement("UPDATE heartbeat SET beats = beats + 1"))
        }
    }

    /// The revision of settings, clients and signing keys that was read last.
    var lastRevision: Int64 { cache.lastRevision }

    /// How many changes wait for a connection.
    public var waitingChanges: Int {
        sessionChanges.reduce(0) { $0 + $1.waitingCount } + changes.reduce(0) { $0 + $1.waitingCount }
    }

    // MARK: Ways to the database

    /// Brings a change of a session to the connection that has its part of all ids.
    func updateBatched(_ change: PendingSessionChange) {
        let part = Int(change.id.bytes.last ?? 0) % sessionChanges.count
        submit(change, to: sessionChanges[part], change.refuse)
    }

    /// Brings something that only looks at a session to the connection for that.
    func readBatched(_ read: PendingSessionChange) { submit(read, to: sessionReads, read.refuse) }

    /// Runs `body` in a transaction that first takes `lock`; returns when that is durable. What other transactions were in the
    /// way of is run again.
    ///
    /// - Parameter key: changes with the same key are run by the same connection.
    func change<Outcome: Sendable>(
        _ lock: Statement?, by key: Int = 0,
        _ body: @escaping @Sendable (Transaction) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await perform(on: changes[key % changes.count]) { (connection, limit) throws(DatabaseError) in
            try Transaction.run(
                on: connection, lock.map { [$0] } ?? [], timeLeft: limit.left, until: limit.deadline, body)
        }
    }

    /// Compares this machine's clock with the database's.
    public func clockSkew() async throws(StoreError) -> ClockSkew {
        let clock = options.clock
        return try await perform(on: reads) { (connection, limit) throws(DatabaseError) in
            try ClockSkew(of: clock) { (statement) throws(DatabaseError) in
                try connection.read([statement], until: limit.deadline).first
            }
        }
    }

    /// See `Store`. From memory, if the database says that the revision is still the same.
    public func catalogue() async throws(StoreError) -> Catalogue {
        try await read(.short) { (reader) throws(TransactionError) in try reader.catalogue().value() }
    }

    /// See `Store`.
    public func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let (cache, clock) = (cache, options.clock)
        return try await perform(on: length == .long ? longReads : reads) { (connection, limit) throws(DatabaseError) in
            let rows = PostgresRows(
                clock,
                cached: { (revision) throws(DatabaseError) in
                    try cache.current(revision, on: connection, until: limit.deadline).catalogue
                },
                { (statements) throws(DatabaseError) in try connection.read(statements, until: limit.deadline) })
            return try rows.run(body).0
        }
    }

    /// See `Store`.
    public func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let clock = options.clock
        return try await change(scope.lock, by: Int(scope.queue)) { (transaction) throws(DatabaseError) in
            let rows = PostgresRows(clock) { (statements) throws(DatabaseError) in try transaction.run(statements) }
            let (outcome, rest) = try rows.run(body)
            for statement in rest { transaction.add(statement) }
            return outcome
        }
    }

    /// See `Store`. The revision of the catalogue, which every call asks for, counts changes of signing keys too.
    public var keyRevision: Int64 { lastRevision }

    /// See `Store`.
    public func databaseLife() async throws(StoreError) -> String {
        try await perform(on: reads) { (connection, limit) throws(DatabaseError) in
            try connection.read([ProviderCheckSQL.selectLife], until: limit.deadline)[0]
                .first { row in "\(row.integer()) \(row.integer())" } ?? ""
        }
    }

    private func perform<Outcome: Sendable>(
        on queue: BatchQueue<PendingWork>,
        _ body: @escaping @Sendable (Connection, TimeLimit) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let result: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
            let work = PendingWork(
                waitingSince: options.now(),
                run: { (connection, limit) throws(DatabaseError) in
                    let outcome = try body(connection, limit)
                    return { continuation.resume(returning: .success(outcome)) }
                },
                refuse: { continuation.resume(returning: .failure($0)) })
            submit(work, to: queue, work.refuse)
        }
        return try result.get()
    }

    private func submit<Job>(_ job: Job, to queue: BatchQueue<Job>, _ refuse: (StoreError) -> Void) {
        switch queue.submit(job) {
        case .accepted: break
        case .full: refuse(.unavailable("too much waits for the database"))
        case .closed: refuse(.unavailable("the database is closed"))
        }
    }
}
