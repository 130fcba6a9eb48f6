internal import CSQLite
internal import Migrations
public import Sessions

/// A migration that a database has applied.
public struct AppliedMigration: Hashable, Sendable {
    /// The number of the migration.
    public var version: Int
    /// The name of the migration.
    public var name: String
    /// The SHA-256 digest of its SQL text.
    public var digest: [UInt8]
    /// The time at which it was applied.
    public var appliedAt: Instant
    /// The migration that a program must know to work on the database.
    public var readableBy: Int
    /// The newest migration that the program knew which applied this one.
    public var newestKnown: Int
}

/// The state of a database, for operators.
public struct Diagnostics: Sendable {
    /// The version of the SQLite library.
    public var sqliteVersion: String
    /// The path of the file.
    public var path: String
    /// The size of the database file in bytes.
    public var fileBytes: Int64
    /// The size of the write-ahead log in bytes.
    public var logBytes: Int64
    /// The journal mode: `wal`, unless something is wrong.
    public var journalMode: String
    /// The size of the pages that are free for new rows, in bytes.
    public var freeBytes: Int64
    /// The problems that SQLite's `quick_check` finds, or `integrity_check` where that takes no more than seconds; empty if the
    /// file is sound. The check reads the whole file.
    public var problems: [String]
    /// Whether the check compared indexes with their tables (`integrity_check`).
    public var comparesIndexes: Bool
    /// The applied migrations.
    public var applied: [AppliedMigration]
    /// The names of known migrations that the database has not applied.
    public var pending: [String]
}

extension SQLiteStore {
    /// Examines the database, even a damaged one, on the reader for long reads. Takes as long as reading the whole file.
    public func diagnostics() async throws(StoreError) -> Diagnostics {
        let path = path
        return try await readAtLength(examinesDamage: true) { (snapshot) throws(DatabaseError) -> Diagnostics in
            // The connection gives the mode, because opening and closing the file here would release the locks of this process
            // on it.
            let mode = try snapshot.connection.first(DiagnosticQuery.journalMode) { row in row.text() }
            return try Diagnostics(of: snapshot.connection, path: path, journalMode: mode ?? "")
        }
    }

    /// The number of changes that wait for the writer.
    public var waitingChanges: Int { waitingChangeCount }
}

extension Diagnostics {
    /// The largest size of the file in bytes at which indexes are compared with their tables.
    private static let indexCheckBytes: Int64 = 256 << 20

    /// Examines the database of `connection`.
    init(of connection: Connection, path: String, journalMode: String) throws(DatabaseError) {
        comparesIndexes = DatabaseFile.size(path) <= Self.indexCheckBytes
        problems = try Self.problems(
            connection, comparesIndexes ? DiagnosticQuery.integrityCheck : DiagnosticQuery.quickCheck)
        let pageBytes = try connection.first(DiagnosticQuery.pageSize) { row in row.integer() } ?? 0
        let freePages = try connection.first(DiagnosticQuery.freelistCount) { row in row.integer() } ?? 0
        applied = try MigrationRunner.applied(connection)
        sqliteVersion = unsafe String(cString: sqlite3_libversion())
        self.path = path
        fileBytes = DatabaseFile.size(path)
        logBytes = DatabaseFile.size(path + "-wal")
        self.journalMode = journalMode
        freeBytes = freePages * pageBytes
        let versions = Set(applied.map(\.version))
        pending = Migration.all.filter { !versions.contains($0.version) }.map { "\($0.version) \($0.name)" }
    }

    /// The problems that a check of the file finds, including damage that stops the check itself.
    private static func problems(_ connection: Connection, _ check: Query) throws(DatabaseError) -> [String] {
        do throws(DatabaseError) {
            let found = try connection.all(check) { row in row.text() }
            return found == ["ok"] ? [] : found
        } catch {
            guard error.consequence == .stopsStore else { throw error }
            return [error.description]
        }
    }
}

private enum DiagnosticQuery {
    static let journalMode = Query("PRAGMA journal_mode")
    static let quickCheck = Query("PRAGMA quick_check(10)")
    static let integrityCheck = Query("PRAGMA integrity_check(10)")
    static let pageSize = Query("PRAGMA page_size")
    static let freelistCount = Query("PRAGMA freelist_count")
}
