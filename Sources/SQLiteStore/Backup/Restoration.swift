internal import Migrations
public import Sessions
internal import StoreFoundation

/// The result of restoring a backup over a database.
public struct Restoration: Hashable, Sendable {
    /// The time of the backup; for a copy that this program did not make, the time of its newest event.
    public var takenAt: Instant?
    /// The path of the replaced database; nil if there was none.
    public var replaced: String?
    /// The number of events of each kind in the replaced database's audit trail after the backup. Nil if that database cannot
    /// be read, or the backup is not one of it.
    public var undone: [String: Int]?
    /// The size of the database in bytes.
    public var bytes: Int64
}

extension SQLiteStore {
    /// Replaces the database at `path`, which no server may have open, with the backup at `file`, and keeps the old database
    /// beside it. The last step is one rename; until then the old database is in place.
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
        // The event gets a number after every number of the replaced trail, so that a reader with a cursor misses no event.
        let place = max(backup.lastEvent?.place ?? 0, old.lastPlace ?? 0) + 1
        try BackupError.mapping(path) { () throws(DatabaseError) in
            let connection = try Connection(path: draft.path, access: .readWrite, cacheKibibytes: 1024)
            try EventRow.insertInAnyVersion(event, at: place, connection)
            try ProviderCheckRow.doubtAll(connection)
            let taken = backup.lastEvent?.at ?? Instant(secondsSinceEpoch: 0)
            try RestoreRecord.write(Settings.Restore(from: taken, at: now), connection)
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

/// The fields by which events of two trails are compared.
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

/// The file to be restored: a database of this program, in a usable version.
private struct BackupFile {
    let connection: Connection
    let lastEvent: EventPlace?

    init(_ file: String, for database: String, migrations: [Migration]) throws(BackupError) {
        guard DatabaseFile.exists(file) else { throw .missing(path: file) }
        // The draft replaces any file of its name.
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

/// Records a restore in the settings. Refreshes after the backup are unknown. Without a new start of idle times, a restore would
/// log out users that were active meanwhile.
private enum RestoreRecord {
    static func write(_ restore: Settings.Restore, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(update, [restore].text)
    }

    private static let update = Query("UPDATE settings SET restores = coalesce(restores || ' ', '') || ? WHERE id = 1")
}
