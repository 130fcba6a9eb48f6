internal import Cryptography
internal import Migrations
internal import Sessions
internal import StoreFoundation

/// Migrates a database to the newest version, forward only. Each migration has its own transaction, under a lock that all nodes
/// share, so that one of several starting nodes does the work.
struct MigrationRunner {
    /// Known migrations, in order.
    let migrations: [Migration]
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    /// After this time a migration is cancelled and rolled back.
    private static let patience = Duration.seconds(600)

    /// The longest wait of a migration for a table lock, because every later access to the table waits behind the migration.
    /// After a pause the migration is tried again.
    private static let lockPatience = Duration.seconds(1)
    private static let pause = Statement("SELECT 1 FROM pg_sleep(1)")

    /// A migration that a database has applied.
    struct Applied {
        let version: Int
        let digest: [UInt8]
        let appliedAt: Instant
    }

    /// Applies the missing migrations. Refuses a foreign database, one of a newer program, and one with different migrations.
    /// It refuses a newer database even if its additional migrations would not concern an older program.
    func run(on connection: Connection, url: String) throws(PostgresStore.OpenError) {
        let deadline = now() + Self.patience
        while try PostgresStore.OpenError.mapping(
            url, { () throws(DatabaseError) in try step(on: connection, until: deadline) }
        ).get() {}
    }

    /// Applies the next migration. False if none is missing.
    private func step(
        on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Result<Bool, PostgresStore.OpenError> {
        do throws(DatabaseError) {
            return try Transaction.run(
                on: connection, [TransactionLock.migrations.alone], timeLeft: deadline - now(), until: deadline
            ) { (transaction) throws(DatabaseError) in try step(transaction) }
        } catch {
            guard error.isLockTimeout, now() < deadline else { throw error }
            _ = try connection.run([Self.pause], commits: false, until: deadline)
            return .success(true)
        }
    }

    private func step(_ transaction: Transaction) throws(DatabaseError) -> Result<Bool, PostgresStore.OpenError> {
        let applied: [Applied]
        switch try examine(transaction) {
        case .failure(let problem): return .failure(problem)
        case .success(let known): applied = known
        }
        guard applied.count < migrations.count else { return .success(false) }
        let next = migrations[applied.count]
        transaction.add(
            Statement("SELECT set_config('lock_timeout', $1::text, true)", "\(Self.lockPatience.components.seconds)s"))
        for statement in next.postgres.statements { transaction.add(Statement(statement)) }
        transaction.add(
            Statement(
                """
                INSERT INTO schema_migrations (version, name, digest, applied_at)
                VALUES ($1::bigint, $2::text, $3::bytea, $4::bigint)
                """, next.version, next.name, Self.digest(of: next), clock.now))
        return .success(true)
    }

    /// The migrations that the database has applied; empty for an empty database. Changes no data, and refuses as `run` does.
    func examine(_ transaction: Transaction) throws(DatabaseError) -> Result<[Applied], PostgresStore.OpenError> {
        let applied = try Self.applied(transaction)
        if applied.isEmpty, try Self.hasTables(transaction) { return .failure(.notADatabase) }
        if let problem = problem(applied) { return .failure(problem) }
        return .success(applied)
    }

    /// The SHA-256 digest of the migration's SQL text, which identifies it.
    static func digest(of migration: Migration) -> [UInt8] { sha256(Array(migration.postgres.text.utf8)) }

    /// The applied migrations must be a prefix of the known ones.
    private func problem(_ applied: [Applied]) -> PostgresStore.OpenError? {
        if let newest = applied.last, let known = migrations.last, newest.version > known.version {
            return .newerDatabase(version: newest.version, newestKnown: known.version)
        }
        for (one, migration) in zip(applied, migrations)
        where one.version != migration.version || one.digest != Self.digest(of: migration) {
            return .changedMigration(version: one.version)
        }
        return nil
    }

    private static func applied(_ transaction: Transaction) throws(DatabaseError) -> [Applied] {
        let table = try transaction.run(Statement("SELECT to_regclass('schema_migrations') IS NOT NULL"))
        guard try table.first({ row in row.bool() }) == true else { return [] }
        return try transaction.run(
            Statement("SELECT version, digest, applied_at FROM schema_migrations ORDER BY version")
        ).map { row in Applied(version: Int(row.integer()), digest: row.bytes(), appliedAt: row.instant()) }
    }

    private static func hasTables(_ transaction: Transaction) throws(DatabaseError) -> Bool {
        try transaction.run(
            Statement("SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema()")
        ).first { row in row.integer() } != 0
    }
}
