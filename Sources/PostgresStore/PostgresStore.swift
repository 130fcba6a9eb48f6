internal import CPostgres
internal import Locks
internal import Migrations
public import Sessions
internal import StoreFoundation

/// Stores sessions, users, clients, settings, keys and the audit trail in a PostgreSQL database, which any number of nodes may
/// share.
///
/// This module owns the SQL of PostgreSQL and everything that makes an answer durable there. It must not know a rule of the
/// domain, because the decisions of a refresh or a login are in the closures that it runs. Of the data that another node can
/// change, it caches only settings and clients, and every use of them checks their revision first. No call blocks an event loop: libpq
/// runs on threads of Dispatch, and every wait has a deadline.
///
/// The store works behind PgBouncer in transaction mode, because it uses no settings or locks of a session, and named
/// statements only until the first one is unknown.
///
/// Reading order: this file · Engine/`SessionBatch` (refreshes: many in two round trips) with Engine/`SessionWrites` (the
/// statements that write them) and SQL/`SessionSQL` (the one that reads them) · Engine/`Transaction` (the locks between nodes,
/// and all other changes) with Engine/`ChangePool` and Engine/`UserLocks` (those of users) · SQL/`FollowedTable` (the order of
/// events) · Tables/`PostgresRows` (requests and writes of the domain's procedures) with Tables/`PostgresRows+Locks` and the other
/// files of SQL · `CatalogueCache` · `ReconnectingConnection` and Driver/`Connection` (with `Rows` the only users of libpq) and `Statement`
/// (sent by name where `StatementNames` allows it) · `MigrationRunner`.
public final class PostgresStore: Store {
    /// The options of a store.
    public struct Options: Sendable {
        /// The time limit of a change or read. One that could not be decided within it is refused, and not decided later.
        public var decisionDeadline: Duration = .seconds(10)
        /// The time limit of making a connection.
        public var connectPatience: Duration = .seconds(5)
        /// The largest number of changes, and of reads, that wait for each connection. More are refused at once.
        public var pendingMax = 10_000
        /// The largest number of session changes in one transaction.
        public var batchMax = 512
        /// The number of connections for changes of sessions. Each serves a fixed part of all ids.
        public var sessionConnections = 1
        /// The number of connections that are kept for other changes: logins, users, settings.
        public var changeConnections = 2
        /// The largest number of connections for such changes. Those beyond the kept ones are made while a change waits.
        public var changeConnectionsMax = 8
        /// The time after its last use when a connection beyond the kept ones is closed.
        public var changeIdleTime = Duration.seconds(10)
        /// The monotonic clock, for deadlines and durations.
        public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        /// The time; with `followsDatabaseClock`, the clock of this machine, which is only compared with the database's.
        public var clock: WallClock
        /// Whether the time is the database's (`DatabaseClock`).
        public var followsDatabaseClock = false
        /// The clock that moves the time of the database forward, for tests of an app; nil: nothing does.
        public var testClock: TestClock?
        /// Receives batches and failures.
        public var observer = Observer()

        /// The default options, with that time.
        public init(clock: WallClock) { self.clock = clock }
    }

    let options: Options
    let url: String
    /// The database's clock.
    private let time: DatabaseClock
    /// It is compared with the database's, and no row has its time.
    private let machineClock: WallClock
    private let cache: CatalogueCache
    private let indexBuilds: IndexBuilds
    private let sessionChanges: [BatchQueue<PendingSessionChange>]
    private let sessionReads: BatchQueue<PendingSessionChange>
    private let changes: ChangePool
    let reads: BatchQueue<PendingWork>
    let longReads: BatchQueue<PendingWork>
    private let lanes: [ReconnectingConnection]

    /// Connects to the database that `url` names (`postgres://…`, in the syntax of libpq), and migrates it; indexes that are
    /// built beside nodes are left to `beginBuildingIndexes`. Blocks the thread.
    public convenience init(url: String, options: Options) throws(OpenError) {
        try self.init(url: url, options: options, migrations: Migration.all, run: .start)
    }

    /// Applies all missing migrations and builds all missing indexes, and tells the observer of the progress. With
    /// `contracting`, the caller vouches for it that no earlier program runs. Blocks the thread.
    public static func migrate(url: String, options: Options, contracting: Bool) throws(OpenError) {
        try migrate(
            url: url, options: options, migrations: Migration.all, run: contracting ? .contraction : .command)
    }

    @discardableResult static func migrate(
        url: String, options: Options, migrations: [Migration], run: Migration.Run
    ) throws(OpenError) -> (MigrationRunner, DatabaseClock, Options) {
        let connection = try connect(url: url, options: options)
        let time = try OpenError.mapping(url) { () throws(DatabaseError) in
            try DatabaseClock(of: connection, now: options.now, until: options.connectDeadline)
        }
        let settled = options.following(time)
        let runner = MigrationRunner(migrations: migrations, options: settled)
        let newer = try runner.run(run, on: connection, url: url)
        if !newer.isEmpty { options.observer.noted(newerSteps(newer)) }
        return (runner, time, settled)
    }

    /// Connects to the database that `url` names, and disconnects. Blocks the thread.
    public static func reach(url: String, options: Options) throws(OpenError) {
        _ = try connect(url: url, options: options)
    }

    /// The first connection, to a server that keeps what it acknowledges.
    static func connect(url: String, options: Options) throws(OpenError) -> Connection {
        let connection = try OpenError.connection(to: url, options)
        try ServerCheck.run(on: connection, url: url, until: options.connectDeadline)
        return connection
    }

    /// Connects and applies the given migrations.
    init(url: String, options: Options, migrations: [Migration], run: Migration.Run = .contraction) throws(OpenError) {
        let names = StatementNames()
        let (runner, time, settled) = try Self.migrate(
            url: url, options: options, migrations: migrations, run: run)
        let cache = CatalogueCache(newestKnown: runner.newestKnown)
        self.cache = cache
        indexBuilds = IndexBuilds(url: url, runner: runner)
        (self.options, self.url, self.time, machineClock) = (settled, url, time, options.clock)
        var lanes: [ReconnectingConnection] = []
        func newConnection() -> ReconnectingConnection {
            let made = ReconnectingConnection(
                url: url, options: settled, names: names, cache: cache, noting: time)
            lanes.append(made)
            return made
        }
        func batches(_ label: String) -> BatchQueue<PendingSessionChange> {
            let batch = SessionBatch(lane: newConnection(), cache: cache, time: time, options: settled)
            return BatchQueue(label: label, pendingMax: options.pendingMax, batchMax: options.batchMax) {
                batch.process($0)
            }
        }
        func work(_ label: String) -> BatchQueue<PendingWork> {
            let worker = Worker(lane: newConnection(), options: settled)
            return BatchQueue(label: label, pendingMax: options.pendingMax, batchMax: 1) { worker.process($0) }
        }
        sessionChanges = (0..<max(1, options.sessionConnections)).map { batches("database sessions \($0)") }
        sessionReads = batches("database session reader")
        changes = ChangePool(settled, newConnection)
        reads = work("database reader")
        longReads = work("database long reader")
        self.lanes = lanes
    }

    /// Builds the indexes that the start has left, while the store serves.
    public func beginBuildingIndexes() { indexBuilds.begin() }

    /// Waits until every accepted call has been answered, and disconnects. Later calls are refused as unavailable.
    public func close() async {
        indexBuilds.stop()
        for queue in sessionChanges + [sessionReads] { await Self.finish { queue.close($0) } }
        await Self.finish { changes.close($0) }
        for queue in [reads, longReads] { await Self.finish { queue.close($0) } }
        for lane in lanes { lane.close() }
    }

    private static func finish(_ close: (@escaping @Sendable () -> Void) -> Bool) async {
        await withCheckedContinuation { continuation in
            if !close({ continuation.resume() }) { continuation.resume() }
        }
    }

    /// See `Store`. Writes and waits for the disk, like any other change. Fails once a newer program has dropped what this one
    /// needs.
    public func ping() async throws(StoreError) {
        let cache = cache
        try await change { (transaction) throws(DatabaseError) -> Void in
            transaction.add(Statement("UPDATE heartbeat SET beats = beats + 1"))
            try cache.check(try transaction.run(CatalogueCache.revisionAndReadableBy))
        }
    }

    /// The time of the store, which is the database's with `followsDatabaseClock`.
    public var clock: WallClock { options.clock }

    /// The revision of settings, clients and signing keys that was read last.
    var lastRevision: Int64 { cache.lastRevision }

    /// The number of changes that wait for a connection.
    public var waitingChanges: Int {
        sessionChanges.reduce(0) { $0 + $1.waitingCount } + changes.waitingCount
    }

    // MARK: Access to the database

    /// Queues a change of a session on the connection for its part of all ids.
    func updateBatched(_ change: PendingSessionChange) {
        let part = Int(change.id.bytes.last ?? 0) % sessionChanges.count
        submit(change, to: sessionChanges[part], change.refuse)
    }

    /// Queues a read of a session on the connection for such reads.
    func readBatched(_ read: PendingSessionChange) { submit(read, to: sessionReads, read.refuse) }

    /// Runs `body` in a transaction that first takes `locks`, and returns when it is durable. After a conflict with other
    /// transactions it runs again.
    ///
    /// - Parameters:
    ///   - key: changes with the same key run one after the other.
    ///   - locks: asked anew for each attempt.
    func change<Outcome: Sendable>(
        by key: UInt8 = 0, _ locks: @escaping @Sendable () -> [Statement] = { [] },
        body: @escaping @Sendable (Transaction) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let time = time
        let outcome = try await perform({ changes.submit($0, by: key) }) { (connection, limit) throws(DatabaseError) in
            try Transaction.run(
                on: connection, locks(), timeLeft: limit.left, until: limit.deadline, noting: time, body)
        }
        options.observer.committed()
        return outcome
    }

    /// The time of the database that `url` names, for what is done once. Blocks the thread.
    public static func time(of url: String, options: Options) throws(OpenError) -> WallClock {
        func ask() throws(DatabaseError) -> WallClock {
            let connection = try Connection(url: url, options)
            return try DatabaseClock(of: connection, now: options.now, until: options.connectDeadline).wall
        }
        return try OpenError.mapping(url, ask)
    }

    /// The difference between this machine's clock and the database's. The database is asked if its last answer with a time
    /// is older than `age`.
    public func clockSkew(ofAge age: Duration = .zero) async throws(StoreError) -> ClockSkew {
        let time = time
        if time.isOlder(than: age) {
            try await perform(on: reads) { (connection, limit) throws(DatabaseError) in
                try time.measure(on: connection, until: limit.deadline)
            }
        }
        return ClockSkew(lead: machineClock.sinceEpoch - options.time(of: time).sinceEpoch, error: time.error)
    }

    /// The age of the oldest event or revocation that is committed and not readable yet, because a transaction that announced
    /// smaller numbers has not ended; zero if there is none.
    public func feedLag() async throws(StoreError) -> Duration {
        let clock = options.clock
        @Sendable func lag(_ connection: Connection, _ limit: TimeLimit) throws(DatabaseError) -> Duration {
            let tables: [FollowedTable] = [.events, .revocations]
            let ages = try connection.read(tables.map { $0.ageOfRest(at: clock.now) }, until: limit.deadline)
            var lag: Int64 = 0
            for rows in ages {
                let age = try rows.first { row in row.optional { row in row.integer() } } ?? nil
                lag = max(lag, age ?? 0)
            }
            return .seconds(lag)
        }
        return try await perform(on: reads, lag)
    }

    /// See `Store`. From memory, if the revision in the database is unchanged.
    public func catalogue() async throws(StoreError) -> Catalogue {
        try await read(.short) { (reader) throws(TransactionError) in try reader.catalogue().value() }
    }

    /// See `Store`.
    public func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let (cache, clock) = (cache, options.clock)
        if length == .page { return try await readPage(body) }
        return try await perform(on: length == .long ? longReads : reads) { (connection, limit) throws(DatabaseError) in
            let rows = PostgresRows(
                clock, cache,
                cached: { (revision) throws(DatabaseError) in
                    try cache.current(revision, on: connection, until: limit.deadline).catalogue
                },
                { (statements) throws(DatabaseError) in try connection.read(statements, until: limit.deadline) })
            return try rows.run(body).0
        }
    }

    /// Runs `body` on one snapshot.
    private func readPage<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let (cache, clock) = (cache, options.clock)
        return try await perform(on: longReads) { (connection, limit) throws(DatabaseError) in
            try Transaction.read(on: connection, timeLeft: limit.left, until: limit.deadline) {
                (transaction) throws(DatabaseError) in
                let rows = PostgresRows(
                    clock, cache,
                    cached: { (revision) throws(DatabaseError) in
                        try cache.catalogue(ofSnapshot: revision, on: connection, until: limit.deadline)
                    },
                    { (statements) throws(DatabaseError) in try transaction.run(statements) })
                return try rows.run(body).0
            }
        }
    }

    /// See `Store`.
    public func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let (cache, clock) = (cache, options.clock)
        // An attempt that met further users is rolled back, and the next one takes their locks as well.
        let users = Locked(UserLocks(scope))
        let locks = { @Sendable in
            users.withLock { $0 }.map { [$0.taking] } ?? (scope.exclusion == .keys ? [TransactionLock.keys.alone] : [])
        }
        let (outcome, recorded) = try await change(by: scope.queue, locks) {
            (transaction) throws(DatabaseError) in
            let rows = PostgresRows(clock, cache, holding: users.withLock { $0 }, transaction.run)
            defer { users.withLock { $0?.formUnion(rows.met) } }
            let (outcome, rest) = try rows.run(body)
            for statement in rest { transaction.add(statement) }
            return (outcome, rows.recorded)
        }
        if !recorded.isEmpty { options.observer.recorded(recorded) }
        return outcome
    }

    /// See `Store`. The revision of the catalogue, which every call reads; it also counts changes of signing keys.
    public var keyRevision: Int64 { lastRevision }

    /// See `Store`.
    public func databaseLife() async throws(StoreError) -> String {
        try await perform(on: reads) { (connection, limit) throws(DatabaseError) in
            try connection.read([ProviderCheckSQL.selectLife], until: limit.deadline)[0]
                .first { row in "\(row.integer()) \(row.integer())" } ?? ""
        }
    }

    /// Runs `body` on the connection of `queue`.
    func perform<Outcome: Sendable>(
        on queue: BatchQueue<PendingWork>,
        _ body: @escaping @Sendable (Connection, TimeLimit) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await perform({ queue.submit($0) }, body)
    }

    private func perform<Outcome: Sendable>(
        _ submit: (PendingWork) -> Admission,
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
            Self.take(submit(work), work.refuse)
        }
        return try result.get()
    }

    private func submit<Job>(_ job: Job, to queue: BatchQueue<Job>, _ refuse: (StoreError) -> Void) {
        Self.take(queue.submit(job), refuse)
    }

    /// Refuses work that was not accepted.
    private static func take(_ admission: Admission, _ refuse: (StoreError) -> Void) {
        switch admission {
        case .accepted: break
        case .full: refuse(.unavailable("too much waits for the database"))
        case .closed: refuse(.unavailable("the database is closed"))
        }
    }
}

extension PostgresStore.Options {
    /// The end of the time for what follows a new connection.
    var connectDeadline: ContinuousClock.Instant { now() + connectPatience }

    /// The time that nodes read from the database, moved forward by the test clock.
    fileprivate func time(of database: DatabaseClock) -> WallClock {
        testClock?.wallClock(over: database.wall) ?? database.wall
    }

    /// These options with the database's time, if they follow it.
    fileprivate func following(_ database: DatabaseClock) -> Self {
        var result = self
        if followsDatabaseClock { result.clock = time(of: database) }
        return result
    }
}
