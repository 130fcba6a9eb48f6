internal import Cryptography
internal import Migrations
internal import Sessions
internal import StoreFoundation

/// Migrates a database to the newest version, forward only. Each migration has its own transaction, which commits or is rolled
/// back as a whole.
struct MigrationRunner {
    /// Known migrations, in order.
    let migrations: [Migration]
    let clock: WallClock

    /// Applies the missing migrations. Refuses a foreign database, one of a newer program, and one with different migrations.
    func run(on connection: Connection, path: String) throws(OpenError) {
        let applied = try examine(connection, path: path)
        for migration in migrations.dropFirst(applied.count) {
            try OpenError.mapping(path) { () throws(DatabaseError) in try apply(migration, to: connection) }
        }
    }

    /// The migrations that the database has applied; empty for an empty database. Changes no data, and refuses as `run` does.
    func examine(_ connection: Connection, path: String) throws(OpenError) -> [AppliedMigration] {
        let applied = try OpenError.mapping(path) { () throws(DatabaseError) in try Self.applied(connection) }
        if applied.isEmpty {
            let tables = try OpenError.mapping(path) { () throws(DatabaseError) in
                try connection.first(Self.countTables) { row in row.integer() }
            }
            guard tables == 0 else { throw .notADatabase(path: path) }
        }
        try check(applied, path: path)
        return applied
    }

    /// The migrations that `run` would apply, with the tables that they change and their row counts.
    func plan(on connection: Connection, path: String) throws(OpenError) -> [PlannedMigration] {
        let applied = try examine(connection, path: path)
        return try OpenError.mapping(path) { () throws(DatabaseError) in
            var plan: [PlannedMigration] = []
            for migration in migrations.dropFirst(applied.count) {
                var rows: [PlannedMigration.Table] = []
                for table in migration.sqlite.tables {
                    rows.append(.init(name: table, rows: try Self.rowCount(of: table, connection)))
                }
                plan.append(
                    PlannedMigration(
                        version: migration.version, name: migration.name, effect: migration.sqlite.sentence,
                        tables: rows, growsWithRows: migration.sqlite.growsWithRows,
                        lock: Self.lock(migration.sqlite)))
            }
            return plan
        }
    }

    /// The lock of a migration. One process alone has an SQLite file open, so only the start waits for it.
    private static func lock(_ script: Migration.Script) -> String {
        script.growsWithRows
            ? "locks the database, which no server has open meanwhile; the start waits for every row"
            : "locks the database, which no server has open meanwhile, for milliseconds whatever it holds"
    }

    /// The number of rows of a table; 0 for a table that an earlier step of the plan will create.
    private static func rowCount(of table: String, _ connection: Connection) throws(DatabaseError) -> Int64 {
        guard try connection.first(findNamed, table, read: { row in row.integer() }) != nil else { return 0 }
        return try connection.integer("SELECT count(*) FROM \"\(table)\"") ?? 0
    }

    /// The migrations that a database has applied, in order; empty for a new one.
    static func applied(_ connection: Connection) throws(DatabaseError) -> [AppliedMigration] {
        guard try connection.first(findTable, read: { row in row.integer() }) != nil else { return [] }
        return try connection.all(selectApplied) { row in
            AppliedMigration(
                version: Int(row.integer()), name: row.text(), digest: row.bytes(), appliedAt: row.instant())
        }
    }

    /// The SHA-256 digest of the migration's SQL text, which identifies it.
    static func digest(of migration: Migration) -> [UInt8] { sha256(Array(migration.sqlite.text.utf8)) }

    /// The applied migrations must be a prefix of the known ones.
    private func check(_ applied: [AppliedMigration], path: String) throws(OpenError) {
        if let newest = applied.last, let known = migrations.last, newest.version > known.version {
            throw .newerDatabase(path: path, version: newest.version, newestKnown: known.version)
        }
        for (one, migration) in zip(applied, migrations)
        where one.version != migration.version || one.digest != Self.digest(of: migration) {
            throw .changedMigration(path: path, version: one.version)
        }
    }

    private func apply(_ migration: Migration, to connection: Connection) throws(DatabaseError) {
        try connection.run("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try connection.run(migration.sqlite.text)
            try connection.execute(
                Self.insertApplied, migration.version, migration.name, Self.digest(of: migration), clock.now)
            try connection.run("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }

    private static let findNamed = Query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    private static let countTables = Query("SELECT count(*) FROM sqlite_schema")
    private static let findTable = Query(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'")
    private static let selectApplied = Query(
        "SELECT version, name, digest, applied_at FROM schema_migrations ORDER BY version")
    private static let insertApplied = Query(
        "INSERT INTO schema_migrations (version, name, digest, applied_at) VALUES (?, ?, ?, ?)")
}
