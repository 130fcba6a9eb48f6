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

    /// Applies the missing migrations, also those that drop something, because one process alone has the file open. Refuses a
    /// foreign database, one that only a newer program can read, and one with different migrations.
    @discardableResult func run(on connection: Connection, path: String) throws(OpenError) -> Migration.Standing {
        let standing = try examine(connection, path: path)
        var readableBy = standing.readableBy
        for migration in standing.missing {
            readableBy = max(readableBy, migration.sqlite.readableBy ?? 1)
            try OpenError.mapping(path) { () throws(DatabaseError) in
                try apply(migration, readableBy: readableBy, to: connection)
            }
        }
        return standing
    }

    /// What the database has applied, beside what the program knows. Changes no data, and refuses as `run` does.
    func examine(_ connection: Connection, path: String) throws(OpenError) -> Migration.Standing {
        let applied = try OpenError.mapping(path) { () throws(DatabaseError) in try Self.applied(connection) }
        if applied.isEmpty {
            let tables = try OpenError.mapping(path) { () throws(DatabaseError) in
                try connection.first(Self.countTables) { row in row.integer() }
            }
            guard tables == 0 else { throw .notADatabase(path: path) }
        }
        let records = applied.map { one in
            Migration.Record(
                version: one.version, name: one.name, digest: one.digest, readableBy: one.readableBy,
                newestKnown: one.newestKnown)
        }
        do throws(Migration.Standing.Problem) {
            return try Migration.Standing(of: records, known: migrations, digest: Self.digest)
        } catch {
            switch error {
            case .newer(let version, let readableBy, let newestKnown):
                throw .newerDatabase(
                    path: path, version: version, readableBy: readableBy, newestKnown: newestKnown)
            case .changed(let version): throw .changedMigration(path: path, version: version)
            }
        }
    }

    /// The migrations that `run` would apply, with the tables that they change and their row counts.
    func plan(on connection: Connection, path: String) throws(OpenError) -> [PlannedMigration] {
        let missing = try examine(connection, path: path).missing
        return try OpenError.mapping(path) { () throws(DatabaseError) in
            var plan: [PlannedMigration] = []
            for migration in missing {
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
                version: Int(row.integer()), name: row.text(), digest: row.bytes(), appliedAt: row.instant(),
                readableBy: Int(row.integer()), newestKnown: Int(row.integer()))
        }
    }

    /// The SHA-256 digest of the migration's SQL text, which identifies it.
    static func digest(of migration: Migration) -> [UInt8] { sha256(Array(migration.sqlite.text.utf8)) }

    private func apply(
        _ migration: Migration, readableBy: Int, to connection: Connection
    ) throws(DatabaseError) {
        try connection.run("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try connection.run(migration.sqlite.text)
            try connection.execute(
                Self.insertApplied, migration.version, migration.name, Self.digest(of: migration), clock.now,
                readableBy, migrations.last?.version ?? 0)
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
        "SELECT version, name, digest, applied_at, readable_by, newest_known FROM schema_migrations ORDER BY version")
    private static let insertApplied = Query(
        """
        INSERT INTO schema_migrations (version, name, digest, applied_at, readable_by, newest_known)
        VALUES (?, ?, ?, ?, ?, ?)
        """)
}
