internal import CSQLite
internal import Migrations
public import Sessions
internal import StoreFoundation

/// Stores sessions, users, clients, settings, keys and the audit trail in one SQLite file.
///
/// This module owns the SQL, the file and everything that makes an answer durable. It must not know a rule of the domain,
/// because the decisions of a refresh or a login are in the closures that it runs inside its transactions. The file contains no
/// refresh token: they are derived from a session's id and serial with a key that this module never receives.
///
/// Reading order: this file · Tables/`SQLiteStore+Sessions` with Tables/`SessionRow` (a refresh: one select, and the update in
/// `SessionRow.write`) · Engine/`Writer` (group commit, and the handling of a failing disk) with `PendingChange` ·
/// `CheckpointPlan` and `DatabaseSync` (how the log is copied into the file without delays) · `Reader` · `Damage` ·
/// Tables/`SQLiteRows` (requests and writes of the domain's procedures) with the other tables · Driver/`Connection` and
/// `Statement` (the wrappers of SQLite) · `MigrationRunner`, `FileLock`, `Diagnostics` · Backup. The queues are `BatchQueue` of
/// StoreFoundation.
public final class SQLiteStore: Store {
    /// The options of a store.
    public struct Options: Sendable {
        /// The longest wait of a change or read in its queue. After it, the change or read is refused, and not run later.
        public var decisionDeadline: Duration = .seconds(10)
        /// The largest number of changes, and of reads, that wait. More are refused at once.
        public var pendingMax = 10_000
        /// The largest number of changes in one commit.
        public var batchMax = 1024
        /// The number of pages (4 KiB each) after which the write-ahead log is copied into the database, or after half of which
        /// it is copied in pieces (`CheckpointPlan`).
        public var checkpointFrames = 2000
        /// The length of the write-ahead log, in bytes, from which on the observer hears of it, and a backup makes no more pauses.
        public var logWarningBytes: Int64 = 256 << 20
        /// The largest size of the writer's page cache, in KiB.
        public var cacheKibibytes = 32 * 1024
        /// The monotonic clock, for deadlines and durations.
        public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        /// The wall clock, for the time of a migration.
        public var clock: WallClock
        /// Receives batches and failures.
        public var observer = Observer()
        /// When SQLite waits for the disk. Values below `full` exist to show what they would lose.
        var synchronous = Synchronous.full
        /// Whether the log is copied in pieces; nil learns it from the durations of copies.
        var checkpointsInPieces: Bool?

        /// The default options, with that wall clock.
        public init(clock: WallClock) { self.clock = clock }
    }

    /// SQLite's `PRAGMA synchronous`.
    enum Synchronous: String {
        case off = "OFF"
        case normal = "NORMAL"
        case full = "FULL"
    }

    let options: Options
    /// The time of the store.
    public var clock: WallClock { options.clock }
    let path: String
    let published: PublishedCatalogue
    let writer: Writer
    let turn = BackupTurn()
    private let lock: FileLock
    private let writeback: Writeback
    private let changes: BatchQueue<PendingChange>
    private let reads: BatchQueue<PendingRead>
    private let longReads: BatchQueue<PendingRead>
    private let readers: [(BatchQueue<PendingRead>, Reader)]

    /// Opens the database at `path`, creates it if there is none, and migrates it. Blocks the thread.
    public convenience init(path: String, options: Options) throws(OpenError) {
        try self.init(path: path, options: options, migrations: Migration.all)
    }

    /// Opens the database with the given migrations.
    init(path givenPath: String, options: Options, migrations: [Migration]) throws(OpenError) {
        let path = try DatabaseFile.create(givenPath)
        lock = try FileLock(path: path + ".lock", database: path)
        self.options = options
        self.path = path
        let writeback = try Writeback(path: path)
        self.writeback = writeback
        let reopen = { @Sendable () throws(DatabaseError) -> Connection in
            try Self.openWriter(path: path, options)
        }
        let connection = try OpenError.mapping(path, reopen)
        let newer = try MigrationRunner(migrations: migrations, clock: options.clock).run(on: connection, path: path)
            .newerNames
        if !newer.isEmpty { options.observer.noted(newerSteps(newer)) }
        let published = PublishedCatalogue(
            try OpenError.mapping(path) { () throws(DatabaseError) in
                // The log that a crash has left (see `Writer`) is synced again before anything builds on it.
                try Writer.copyWholeLog(connection)
                return try CatalogueRow.load(connection)
            })
        let damage = Damage()
        let writer = Writer(
            published: published, damage: damage, options: options, writeback: writeback, connection: connection,
            reopen: reopen
        ) { () throws(DatabaseError) in try Connection(path: path, access: .readOnly, cacheKibibytes: 100) }
        let reader = try Self.openReader(path: path, published: published, damage: damage, options: options)
        let longReader = try Self.openReader(path: path, published: published, damage: damage, options: options)
        self.published = published
        self.writer = writer
        changes = BatchQueue(
            label: "database writer", pendingMax: options.pendingMax, batchMax: options.batchMax
        ) { writer.process($0) }
        reads = BatchQueue(label: "database reader", pendingMax: options.pendingMax, batchMax: 64) {
            reader.process($0)
        }
        longReads = BatchQueue(label: "database long reader", pendingMax: options.pendingMax, batchMax: 1) {
            longReader.process($0)
        }
        readers = [(reads, reader), (longReads, longReader)]
    }

    private static func openReader(
        path: String, published: PublishedCatalogue, damage: Damage, options: Options
    ) throws(OpenError) -> Reader {
        let connection = try OpenError.mapping(path) { () throws(DatabaseError) in
            try Connection(path: path, access: .readOnly, cacheKibibytes: 2048)
        }
        return Reader(connection: connection, published: published, damage: damage, options: options)
    }

    /// Waits until every accepted call has been answered, copies the log into the database, and closes the file. Later calls
    /// are refused as unavailable.
    public func close() async {
        await withCheckedContinuation { continuation in turn.close { continuation.resume() } }
        for (queue, reader) in readers {
            await finish { done in
                queue.close {
                    reader.finish()
                    done()
                }
            }
        }
        await finish { done in
            changes.close { [writer, writeback, lock] in
                writer.finish()
                writeback.release()
                lock.release()
                done()
            }
        }
    }

    private func finish(_ close: (@escaping @Sendable () -> Void) -> Bool) async {
        await withCheckedContinuation { continuation in
            if !close({ continuation.resume() }) { continuation.resume() }
        }
    }

    /// See `Store`. Writes and waits for the disk, like any other change.
    public func ping() async throws(StoreError) {
        try await write { (transaction) throws(DatabaseError) -> Void in
            try transaction.connection.execute(Self.beat)
        }
    }

    /// See `Store`. From memory: the catalogue of the last commit, because only this process writes the file.
    public func catalogue() throws(StoreError) -> Catalogue {
        if changes.isClosed { throw .unavailable("the database is closed") }
        return published.current
    }

    /// See `Store`. Constant, because only this process changes keys.
    public var keyRevision: Int64 { 0 }

    /// See `Store`. Constant, because no other process changes the file while this one has it open.
    public func databaseLife() async throws(StoreError) -> String { "" }

    /// See `Store`.
    public func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let clock = options.clock
        let read = { @Sendable (snapshot: Snapshot) throws(DatabaseError) -> Outcome in
            try SQLiteRows(snapshot.connection, snapshot.catalogue, clock).run(body)
        }
        return switch length {
        case .short: try await self.read(read)
        case .long, .page: try await readAtLength(read)
        }
    }

    /// See `Store`. Ignores the scope, because changes run one after the other.
    public func write<Outcome: Sendable>(
        _: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) in
            let rows = SQLiteRows(transaction.connection, transaction.catalogue, transaction.clock)
            let outcome = try rows.run(body)
            if rows.changesCatalogue { transaction.catalogue = rows.current }
            transaction.transitions += rows.transitions
            return outcome
        }
    }

    /// The size of the file of the write-ahead log.
    public var logBytes: Int64 { Self.logBytes(of: path) }

    static func logBytes(of path: String) -> Int64 { DatabaseFile.size(path + "-wal") }

    /// The number of changes that wait for the writer.
    var waitingChangeCount: Int { changes.waitingCount }

    /// Runs `change` in a transaction that all queued changes share, and returns when it is durable.
    func write<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout Transaction) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let box = OutcomeBox<Outcome>()
        let pending = try submit { (transaction) throws(DatabaseError) in box.set(try change(&transaction)) }
        try await pending.durability()
        return box.outcome
    }

    /// Runs `change` as above, and calls `prepare` with its outcome while the disk works on the commit.
    func write<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout Transaction) throws(DatabaseError) -> Outcome,
        preparing prepare: (Outcome) -> Void
    ) async throws(StoreError) -> Outcome {
        let box = OutcomeBox<Outcome>()
        let pending = try submit { (transaction) throws(DatabaseError) in box.set(try change(&transaction)) }
        try await pending.decision()
        prepare(box.outcome)
        try await pending.durability()
        return box.outcome
    }

    private func submit(
        _ change: @escaping @Sendable (inout Transaction) throws(DatabaseError) -> Void
    ) throws(StoreError) -> PendingChange {
        let pending = PendingChange(waitingSince: options.now(), change)
        if let refusal = Self.refusal(changes.submit(pending)) { throw refusal }
        return pending
    }

    /// Reads from a snapshot that contains every acknowledged change.
    func read<Outcome: Sendable>(
        _ body: @escaping @Sendable (Snapshot) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let box = OutcomeBox<Outcome>()
        try await run(on: reads) { (snapshot) throws(DatabaseError) in box.set(try body(snapshot)) }
        return box.outcome
    }

    /// Reads on the reader for long reads, so that short reads do not wait.
    func readAtLength<Outcome: Sendable>(
        examinesDamage: Bool = false,
        _ body: @escaping @Sendable (Snapshot) throws(DatabaseError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let box = OutcomeBox<Outcome>()
        try await run(on: longReads, examinesDamage: examinesDamage) { (snapshot) throws(DatabaseError) in
            box.set(try body(snapshot))
        }
        return box.outcome
    }

    private func run(
        on queue: BatchQueue<PendingRead>, examinesDamage: Bool = false,
        _ read: @escaping @Sendable (Snapshot) throws(DatabaseError) -> Void
    ) async throws(StoreError) {
        let refusal = await withCheckedContinuation { (caller: Caller) in
            let pending = PendingRead(
                waitingSince: options.now(), examinesDamage: examinesDamage, run: read, caller: caller)
            if let refusal = Self.refusal(queue.submit(pending)) { caller.resume(returning: refusal) }
        }
        if let refusal { throw refusal }
    }

    private static func refusal(_ admission: Admission) -> StoreError? {
        switch admission {
        case .accepted: nil
        case .full: .unavailable("too many changes wait for the database")
        case .closed: .unavailable("the database is closed")
        }
    }

    static func openWriter(path: String, _ options: Options) throws(DatabaseError) -> Connection {
        let connection = try Connection(path: path, access: .readWrite, cacheKibibytes: options.cacheKibibytes)
        // FULL: every commit waits for the disk. With NORMAL, a power failure would lose acknowledged changes.
        try connection.run("PRAGMA synchronous = \(options.synchronous.rawValue)")
        let mode = try connection.first(journalMode) { row in row.text() }
        guard mode == "wal" else {
            throw .sqlite(code: SQLITE_CANTOPEN, message: "the file system does not allow a write-ahead log")
        }
        // The size to which the log's file is cut after a checkpoint that emptied it.
        try connection.run("PRAGMA journal_size_limit = 67108864")
        // Deleted rows are overwritten, so that no personal data remains in free pages.
        try connection.run("PRAGMA secure_delete = ON")
        return connection
    }

    private static let journalMode = Query("PRAGMA journal_mode = WAL")
    private static let beat = Query("UPDATE heartbeat SET beats = beats + 1 WHERE id = 1")
}
