internal import Migrations
public import Sessions
internal import StoreFoundation

/// A backup that took the place of a database.
public struct Restoration: Hashable, Sendable {
    /// When the backup was taken, or, of a copy that was made otherwise, when its newest event occurred.
    public var takenAt: Instant?
    /// Where the replaced database lies now; nil if there was none.
    public var replaced: String?
    /// What the audit trail of the replaced database tells of the time after the backup: how many events of each kind.
    /// Nil if that database cannot be read, or is not the one of the backup.
    public var undone: [String: Int]?
    /// How long a session may rest, by the settings of the backup.
    public var idle: Duration
    /// The size of the database.
    public var bytes: Int64
}

extension SQLiteStore {
    /// Puts the backup at `file` in the place of the database at `path`, which no server may have open, and keeps what
    /// was there beside it. Until the last step, which is one rename, the database is the one that it was.
    public static func restore(
        _ file: String, over path: String, by origin: Origin, clock: WallClock
    ) throws(BackupError) -> Restoration {
        try restore(file, over: path, by: origin, clock: clock, migrations: Migration.all)
    }

    static func restore(
        _ file: String, over path: String, by origin: Origin, clock: WallClock, migrations: [Migration]
    ) throws(BackupError) -> Restoration {
        let path = try BackupError.opening { () throws(OpenError) in try DatabaseFile.resolve(path) }
        let lock = try BackupError.opening { () throws(OpenError) in
            try FileLock(path: path + ".lock", database: path)
        }
        defer { lock.release() }
        let backup = try backupFile(file, for: path, migrations)
        let old = ReplacedDatabase(path)
        let draft = try DraftFile(of: path)
        try DatabaseCopy(options: .restless).copy(from: backup.connection, to: draft, named: path)
        let event = AuditEvent(.databaseRestored, at: clock.now, by: origin, reason: file)
        // After every place that the replaced trail had: who reads the trail from a cursor misses nothing.
        let place = max(backup.lastEvent?.place ?? 0, old.lastPlace ?? 0) + 1
        try BackupError.mapping(path) { () throws(DatabaseError) in
            let connection = try Connection(path: draft.path, access: .readWrite, cacheKibibytes: 1024)
            try EventRow.insertInAnyVersion(event, at: place, connection)
            try ProviderCheckRow.doubtAll(connection)
        }
        try DatabaseCopy.check(draft.path, named: file)
        try draft.sync()
        let undone = backup.lastEvent.flatMap { old.events(after: $0) }
        let replaced = try old.keep(at: clock.now)
        try draft.publish(replacing: true)
        return Restoration(
            takenAt: backup.lastEvent?.at, replaced: replaced, undone: undone, idle: backup.idle,
            bytes: DatabaseFile.size(path))
    }
}

extension SQLiteStore {
    private static func backupFile(
        _ file: String, for database: String, _ migrations: [Migration]
    ) throws(BackupError) -> BackupFile {
        do throws(BackupError) {
            return try BackupFile(file, for: database, migrations: migrations)
        } catch {
            if case .open(.damaged(path: _, let reason)) = error { throw .damaged(path: file, problem: reason) }
            throw error
        }
    }
}

/// An event of a trail, as far as two trails are compared by it.
struct EventPlace {
    var place: Int64
    var kind: String
    var at: Instant

    /// The newest event that `connection` sees.
    static func last(_ connection: Connection) throws(DatabaseError) -> EventPlace? {
        try connection.first(newest) { row in EventPlace(place: row.integer(), kind: row.text(), at: row.instant()) }
    }

    private static let newest = Query(
        "SELECT number, kind, occurred_at FROM audit_events ORDER BY number DESC LIMIT 1")
}

/// The file that is restored: a database of ours that this program can use.
private struct BackupFile {
    let connection: Connection
    let lastEvent: EventPlace?
    let idle: Duration

    init(_ file: String, for database: String, migrations: [Migration]) throws(BackupError) {
        guard DatabaseFile.exists(file) else { throw .missing(path: file) }
        if DatabaseFile.isSame(file, database) { throw .isTheDatabase(path: file) }
        guard DatabaseFile.isOurs(file) else { throw .open(.notADatabase(path: file)) }
        if DatabaseFile.size(file + "-wal") > 0 { throw .hasLog(path: file) }
        let free = DatabaseFile.freeBytes(besides: database) ?? .max
        let needed = DatabaseFile.size(file)
        guard needed <= free else { throw .noRoom(path: database, needed: needed, free: free) }
        let opened = try BackupError.opening { () throws(OpenError) in
            let connection = try OpenError.mapping(file) { () throws(DatabaseError) in
                try Connection(path: file, access: .immutable, cacheKibibytes: 1024)
            }
            let runner = MigrationRunner(migrations: migrations, clock: WallClock { Instant(secondsSinceEpoch: 0) })
            guard try !runner.examine(connection, path: file).isEmpty else { throw .notADatabase(path: file) }
            return connection
        }
        (lastEvent, idle) = try BackupError.opening { () throws(OpenError) in
            try OpenError.mapping(file) { () throws(DatabaseError) in
                let idle = try opened.first(Self.selectIdle) { row in row.duration() }
                return (try EventPlace.last(opened), idle ?? SessionSettings.defaults.offlineSessionIdle)
            }
        }
        connection = opened
    }

    private static let selectIdle = Query("SELECT offline_session_idle_seconds FROM settings WHERE id = 1")
}
