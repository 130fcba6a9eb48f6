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
        let now = clock.now
        let old = ReplacedDatabase(path)
        let draft = try DraftFile(of: path)
        try DatabaseCopy(options: .restless).copy(from: backup.connection, to: draft, named: path)
        let event = AuditEvent(.databaseRestored, at: now, by: origin, reason: file)
        // After every place that the replaced trail had: who reads the trail from a cursor misses nothing.
        let place = max(backup.lastEvent?.place ?? 0, old.lastPlace ?? 0) + 1
        try BackupError.mapping(path) { () throws(DatabaseError) in
            let connection = try Connection(path: draft.path, access: .readWrite, cacheKibibytes: 1024)
            try EventRow.insertInAnyVersion(event, at: place, connection)
            try ProviderCheckRow.doubtAll(connection)
            try RestedSessions(connection).beginAnew(at: now, livingAt: backup.lastEvent?.at)
        }
        try DatabaseCopy.check(draft.path, named: file)
        try draft.sync()
        let undone = backup.lastEvent.flatMap { old.events(after: $0) }
        let replaced = try old.keep(at: now)
        do throws(BackupError) { try draft.publish(replacing: true) } catch {
            if let replaced { old.giveBack(from: replaced) }
            throw error
        }
        return Restoration(
            takenAt: backup.lastEvent?.at, replaced: replaced, undone: undone, bytes: DatabaseFile.size(path))
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

    init(_ file: String, for database: String, migrations: [Migration]) throws(BackupError) {
        guard DatabaseFile.exists(file) else { throw .missing(path: file) }
        // The draft takes the place of whatever has its name.
        if DatabaseFile.isSame(file, database) || DatabaseFile.isSame(file, DraftFile.path(of: database)) {
            throw .isTheDatabase(path: file)
        }
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
        lastEvent = try BackupError.opening { () throws(OpenError) in
            try OpenError.mapping(file) { () throws(DatabaseError) in try EventPlace.last(opened) }
        }
        connection = opened
    }
}

/// The sessions of a backup that is put back. Nobody knows how often they were refreshed after it was taken: that their rest is
/// over by then would log out whoever has used them since.
private struct RestedSessions {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Lets the rest of those begin anew at `now` that lived at `instant`, in steps that keep the log small; nil: at any time.
    func beginAnew(at now: Instant, livingAt instant: Instant?) throws(DatabaseError) {
        try connection.run("PRAGMA synchronous = OFF")
        let last = try connection.first(Self.selectLast) { row in row.optional { row in row.integer() } } ?? nil
        var number: Int64 = 0
        while let last, number < last {
            try connection.execute(
                Self.update, now, number, number + Self.step, SessionSettings.defaults.offlineSessionIdle,
                instant ?? Instant(secondsSinceEpoch: .min))
            try Writer.copyWholeLog(connection)
            number += Self.step
        }
    }

    private static let step: Int64 = 20_000
    private static let selectLast = Query("SELECT max(number) FROM sessions")
    private static let update = Query(
        """
        UPDATE sessions SET child_answered_at = ?1
        WHERE number > ?2 AND number <= ?3 AND ended_at IS NULL AND child_answered_at < ?1
        AND child_answered_at + coalesce(
            (SELECT nullif(offline_session_idle_seconds, 0) FROM clients WHERE id = client_id),
            (SELECT offline_session_idle_seconds FROM settings WHERE id = 1), ?4) > ?5
        """)
}
