internal import Cryptography
internal import Locks
internal import Migrations
internal import Sessions
internal import StoreFoundation

/// Migrates a database to the newest version, forward only. Each migration has its own transaction, under a lock that all nodes
/// share, so that one of several starting nodes does the work. Indexes that are built beside nodes have none (`IndexBuild`).
struct MigrationRunner {
    /// Known migrations, in order.
    let migrations: [Migration]
    let options: PostgresStore.Options
    /// After this time a migration in a transaction is cancelled and rolled back.
    private static let timeLimit = Duration.seconds(600)

    /// The longest wait of a migration for a table lock, because every later access to the table waits behind the migration.
    /// After a pause the migration is tried again.
    static let lockPatience = Statement("SELECT set_config('lock_timeout', '1s', true)")
    private static let pause = Statement("SELECT 1 FROM pg_sleep(1)")
    /// The state that was told last.
    private let lastState = Locked("")

    init(migrations: [Migration], options: PostgresStore.Options) {
        (self.migrations, self.options) = (migrations, options)
    }

    /// Tells a state, which may last for many attempts, once.
    func note(state: String) {
        let isNew = lastState.withLock { last in
            defer { last = state }
            return last != state
        }
        if isNew { options.observer.noted(state) }
    }

    /// A migration that a database has applied.
    struct Applied {
        let record: Migration.Record
        let appliedAt: Instant
    }

    /// What a database has applied, beside what the program knows.
    struct Findings {
        let applied: [Applied]
        let standing: Migration.Standing
    }

    /// The next work, and the applied migrations that the program does not know.
    private struct Step {
        let next: Migration.Standing.Next
        let newerNames: [String]
        /// Whether the step was not applied, because an index is built on one of its tables.
        var isBehindBuild = false
    }

    /// Applies the missing migrations as far as `run` goes. Refuses a foreign database, one that only a newer program can read,
    /// and one with different migrations. Returns the applied migrations that the program does not know.
    func run(
        _ run: Migration.Run, on connection: Connection, url: String
    ) throws(PostgresStore.OpenError) -> [String] {
        while true {
            let made = try PostgresStore.OpenError.mapping(
                url, { () throws(DatabaseError) in try step(run, on: connection, url) }
            ).get()
            switch made.next {
            case .nothing: return made.newerNames
            case .apply, .build: break
            case .waits(let migration, let isRetired):
                throw .contractsEarly(
                    version: migration.version, readableBy: migration.postgres.readableBy ?? migration.version,
                    isRetired: isRetired)
            }
        }
    }

    /// Applies the next migration, or builds its indexes, or waits a moment for another process that does.
    private func step(
        _ run: Migration.Run, on connection: Connection, _ url: String
    ) throws(DatabaseError) -> Result<Step, PostgresStore.OpenError> {
        let result = try apply(run, on: connection, until: options.now() + Self.timeLimit)
        guard case .success(let step) = result else { return result }
        var waits = step.isBehindBuild
        if case .build(let migration) = step.next {
            waits = try !IndexBuild(url: url, runner: self).attempt(migration)
        }
        if waits { _ = try connection.run([Self.pause], commits: false, until: options.now() + Self.timeLimit) }
        return result
    }

    /// Applies the next migration, unless it is one for another way.
    private func apply(
        _ run: Migration.Run, on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Result<Step, PostgresStore.OpenError> {
        while true {
            do throws(DatabaseError) {
                return try Transaction.run(
                    on: connection, [TransactionLock.migrations.alone], timeLeft: deadline - options.now(),
                    until: deadline
                ) { (transaction) throws(DatabaseError) in try apply(run, transaction) }
            } catch {
                // The transaction has waited too long for a lock, or was the victim of a deadlock.
                guard error.consequence == .mayRepeat, options.now() < deadline else { throw error }
                _ = try connection.run([Self.pause], commits: false, until: deadline)
            }
        }
    }

    private func apply(
        _ run: Migration.Run, _ transaction: Transaction
    ) throws(DatabaseError) -> Result<Step, PostgresStore.OpenError> {
        let standing: Migration.Standing
        switch try examine(transaction) {
        case .failure(let problem): return .failure(problem)
        case .success(let findings): standing = findings.standing
        }
        var step = Step(next: standing.next(in: run), newerNames: standing.newerNames)
        guard case .apply(let migration) = step.next else { return .success(step) }
        if let table = try Self.tableUnderBuild(migration.postgres.tables, transaction) {
            note(state: "step \(migration.version) \(migration.name) waits until the index on \(table) is built")
            step.isBehindBuild = true
            return .success(step)
        }
        transaction.add(Self.lockPatience)
        for statement in migration.postgres.statements { transaction.add(Statement(statement)) }
        transaction.add(record(of: migration, standing))
        // A node of an earlier program that still runs notices it, because every request of it checks the revision.
        if migration.postgres.contracts { transaction.add(Self.noteChange) }
        return .success(step)
    }

    /// The first of `tables` on which an index is built. `ALTER TABLE` would wait for the build, and every refresh behind it. For
    /// a build that begins only now they wait once, as for any lock.
    private static func tableUnderBuild(
        _ tables: [String], _ transaction: Transaction
    ) throws(DatabaseError) -> String? {
        for table in tables where try transaction.run(IndexBuild.progress(on: table)).count > 0 { return table }
        return nil
    }

    private static let noteChange = Statement("UPDATE catalogue_revision SET revision = revision + 1")

    /// The statement that records `migration` as applied.
    func record(of migration: Migration, _ standing: Migration.Standing) -> Statement {
        Statement(
            """
            INSERT INTO schema_migrations (version, name, digest, applied_at, readable_by, newest_known)
            VALUES ($1::bigint, $2::text, $3::bytea, $4::bigint, $5::bigint, $6::bigint)
            """, migration.version, migration.name, Self.digest(of: migration), options.clock.now,
            standing.readableBy(after: migration), newestKnown)
    }

    /// The newest version that the program knows.
    var newestKnown: Int { migrations.last?.version ?? 0 }

    /// The migrations that the database has applied; none for an empty database. Changes no data, and refuses as `run` does.
    func examine(_ transaction: Transaction) throws(DatabaseError) -> Result<Findings, PostgresStore.OpenError> {
        let applied = try Self.applied(transaction)
        if applied.isEmpty, try Self.hasTables(transaction) { return .failure(.notADatabase) }
        do throws(Migration.Standing.Problem) {
            let standing = try Migration.Standing(of: applied.map(\.record), known: migrations, digest: Self.digest)
            return .success(Findings(applied: applied, standing: standing))
        } catch {
            switch error {
            case .newer(let version, let readableBy, let newestKnown):
                return .failure(.newerDatabase(version: version, readableBy: readableBy, newestKnown: newestKnown))
            case .changed(let version): return .failure(.changedMigration(version: version))
            }
        }
    }

    /// The SHA-256 digest of the migration's SQL text, which identifies it.
    static func digest(of migration: Migration) -> [UInt8] { sha256(Array(migration.postgres.text.utf8)) }

    private static func applied(_ transaction: Transaction) throws(DatabaseError) -> [Applied] {
        let table = try transaction.run(Statement("SELECT to_regclass('schema_migrations') IS NOT NULL"))
        guard try table.first({ row in row.bool() }) == true else { return [] }
        return try transaction.run(
            Statement(
                """
                SELECT version, name, digest, readable_by, newest_known, applied_at
                FROM schema_migrations ORDER BY version
                """)
        ).map { row in
            Applied(
                record: Migration.Record(
                    version: Int(row.integer()), name: row.text(), digest: row.bytes(), readableBy: Int(row.integer()),
                    newestKnown: Int(row.integer())),
                appliedAt: row.instant())
        }
    }

    private static func hasTables(_ transaction: Transaction) throws(DatabaseError) -> Bool {
        try transaction.run(
            Statement("SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema()")
        ).first { row in row.integer() } != 0
    }
}
