internal import CSQLite
internal import Migrations
public import Sessions

/// A migration that a database has had.
public struct AppliedMigration: Hashable, Sendable {
    /// Its number.
    public var version: Int
    /// Its name.
    public var name: String
    /// SHA-256 of its text.
    public var digest: [UInt8]
    /// When it was applied.
    public var appliedAt: Instant
}

/// What there is to know of a database, for somebody who looks after it.
public struct Diagnostics: Sendable {
    /// The version of the SQLite library.
    public var sqliteVersion: String
    /// The file.
    public var path: String
    /// The size of the database file in bytes.
    public var fileBytes: Int64
    /// The size of the write-ahead log in bytes.
    public var logBytes: Int64
    /// `wal`, unless something is wrong.
    public var journalMode: String
    /// Pages that are free for new rows, in bytes.
    public var freeBytes: Int64
    /// What SQLite's `quick_check` finds, or `integrity_check` where that takes no more than seconds: nothing when the
    /// file is sound. Reads the whole file.
    public var problems: [String]
    /// Whether indexes were compared with their tables too (`integrity_check`).
    public var comparesIndexes: Bool
    /// Migrations that were applied.
    public var applied: [AppliedMigration]
    /// Migrations that this program knows and the database has not had.
    public var pending: [String]
}

extension SQLiteStore {
    /// Examines the database, a damaged one too; takes as long as reading the whole file, on the reader for long reads.
    public func diagnostics() async throws(StoreError) -> Diagnostics {
        let path = path
        return try await readAtLength(examinesDamage: true) { (snapshot) throws(DatabaseError) -> Diagnostics in
            // Asked of the connection: to open and close the file here would give up the locks of this process on it.
            let mode = try snapshot.connection.first(DiagnosticQuery.journalMode) { row in row.text() }
            return try Diagnostics(of: snapshot.connection, path: path, journalMode: mode ?? "")
        }
    }

    /// How many changes wait for the writer.
    public var waitingChanges: Int { waitingChangeCount }
}

extension Diagnostics {
    /// Up to this size of the file, indexes are compared with their tables.
    private static let indexCheckBytes: Int64 = 256 << 20

    /// Examines the database that `connection` has open.
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
        pending = Migration.all.dropFirst(applied.count).map { "\($0.version) \($0.name)" }
    }

    /// What a check of the file finds. Damage that stops the check itself is found, too.
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
