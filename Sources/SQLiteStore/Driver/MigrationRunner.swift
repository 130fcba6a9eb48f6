internal import Cryptography
internal import Migrations
internal import Sessions
internal import StoreFoundation

/// Brings a database to the newest version: forward only, each migration in a transaction of its own, which has either
/// happened altogether or not at all.
struct MigrationRunner {
    /// Known migrations, in order.
    let migrations: [Migration]
    let clock: WallClock

    /// Applies what is missing. Refuses a database that is not ours, is from a newer program, or was built otherwise.
    func run(on connection: Connection, path: String) throws(OpenError) {
        let applied = try examine(connection, path: path)
        for migration in migrations.dropFirst(applied.count) {
            try OpenError.mapping(path) { () throws(DatabaseError) in try apply(migration, to: connection) }
        }
    }

    /// The migrations that the database has had; none for an empty one. Changes nothing, and refuses as `run` does.
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

    /// What `run` would apply, and what it would meet.
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

    /// Whether anything waits for it: one process alone has an SQLite file, so that nobody can wait but the start.
    private static func lock(_ script: Migration.Script) -> String {
        script.growsWithRows
            ? "locks the database, which no server has open meanwhile; the start waits for every row"
            : "locks the database, which no server has open meanwhile, for milliseconds whatever it holds"
    }

    /// The rows of a table; 0 for one that an earlier step of the plan is going to make.
    private static func rowCount(of table: String, _ connection: Connection) throws(DatabaseError) -> Int64 {
        guard try connection.first(findNamed, table, read: { row in row.integer() }) != nil else { return 0 }
        return try connection.integer("SELECT count(*) FROM \"\(table)\"") ?? 0
    }

    /// The migrations that a database has had, in order; none for a new one.
    static func applied(_ connection: Connection) throws(DatabaseError) -> [AppliedMigration] {
        guard try connection.first(findTable, read: { row in row.integer() }) != nil else { return [] }
        return try connection.all(selectApplied) { row in
            AppliedMigration(
                version: Int(row.integer()), name: row.text(), digest: row.bytes(), appliedAt: row.instant())
        }
    }

    /// What identifies the text of a migration.
    static func digest(of migration: Migration) -> [UInt8] { sha256(Array(migration.sqlite.text.utf8)) }

    /// What was applied must be a beginning of what is known.
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
