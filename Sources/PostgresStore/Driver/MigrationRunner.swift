internal import Cryptography
internal import Migrations
internal import Sessions
internal import StoreFoundation

/// Brings a database to the newest version: forward only, each migration in a transaction of its own, under a lock that all
/// nodes share, so that of several that start at once one does the work.
struct MigrationRunner {
    /// Known migrations, in order.
    let migrations: [Migration]
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    /// Beyond this a migration is given up, and nothing of it has happened.
    private static let patience = Duration.seconds(600)

    /// A migration waits no longer for those who use a table that it locks: whoever comes meanwhile waits behind it. After a
    /// pause it is tried again.
    private static let lockPatience = Duration.seconds(1)
    private static let pause = Statement("SELECT 1 FROM pg_sleep(1)")

    /// A migration that a database has had.
    struct Applied {
        let version: Int
        let digest: [UInt8]
        let appliedAt: Instant
    }

    /// Applies what is missing. Refuses a database that is not ours, is from a newer program, or was built otherwise. A newer
    /// one whose newest steps only added something that older programs need not know would be refused, too.
    func run(on connection: Connection, url: String) throws(PostgresStore.OpenError) {
        let deadline = now() + Self.patience
        while try PostgresStore.OpenError.mapping(
            url, { () throws(DatabaseError) in try step(on: connection, until: deadline) }
        ).get() {}
    }

    /// Applies the next migration; false when none is missing.
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

    /// The migrations that the database has had; none for an empty one. Changes nothing, and refuses as `run` does.
    func examine(_ transaction: Transaction) throws(DatabaseError) -> Result<[Applied], PostgresStore.OpenError> {
        let applied = try Self.applied(transaction)
        if applied.isEmpty, try Self.hasTables(transaction) { return .failure(.notADatabase) }
        if let problem = problem(applied) { return .failure(problem) }
        return .success(applied)
    }

    /// What identifies the text of a migration.
    static func digest(of migration: Migration) -> [UInt8] { sha256(Array(migration.postgres.text.utf8)) }

    /// What was applied must be a beginning of what is known.
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
