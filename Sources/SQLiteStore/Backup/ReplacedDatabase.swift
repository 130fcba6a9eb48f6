internal import CSQLite
internal import Calendar
internal import Glibc
internal import Sessions

/// The database that a backup replaces. It may be damaged, which may be the reason for the restore. A damaged database is kept
/// as it is, with its log.
final class ReplacedDatabase {
    private let path: String
    /// Nil if the database cannot be read, and after it was closed. Opening it has copied its log into it, as any start does.
    private var connection: Connection?

    init(_ path: String) {
        self.path = path
        connection =
            DatabaseFile.isOurs(path)
            ? try? { () throws(DatabaseError) -> Connection in
                let connection = try Connection(path: path, access: .readWrite, cacheKibibytes: 1024)
                try Writer.copyWholeLog(connection)
                return connection
            }() : nil
    }

    /// The number of its newest event.
    var lastPlace: Int64? { connection.flatMap { connection in try? EventPlace.last(connection)?.place } }

    /// The number of its events of each kind after `event`; nil if it does not contain `event`.
    func events(after event: EventPlace) -> [String: Int]? {
        guard let connection else { return nil }
        do throws(DatabaseError) {
            let same = try connection.first(Self.find, event.place, event.kind, event.at) { row in row.integer() }
            guard same != nil else { return nil }
            let counts = try connection.all(Self.count, event.place) { row in (row.text(), Int(row.integer())) }
            return Dictionary(counts, uniquingKeysWith: +)
        } catch { return nil }
    }

    /// Links the database to a second name in its folder, and returns that name; nil if there was no database. The old name
    /// stays until the backup takes it. A crash in between therefore leaves the old database under its name, but without the
    /// log of an unreadable database, which lies beside the second name.
    func keep(at now: Instant) throws(BackupError) -> String? {
        // Closing copies the log into the database and removes it.
        connection = nil
        guard DatabaseFile.size(path) > 0 else { return nil }
        let name = path + ".replaced-" + Self.stamp(now)
        var kept = name
        var number = 1
        while DatabaseFile.exists(kept) {
            number += 1
            kept = "\(name)-\(number)"
        }
        try link(path, kept)
        let log = path + "-wal"
        // A log exists only beside a database that could not be read.
        if DatabaseFile.exists(log) {
            try link(log, kept + "-wal")
            DatabaseFile.syncFolder(of: path)
            unsafe unlink(log)
        }
        // SQLite would take a log or a shared-memory file beside the backup for the backup's own.
        unsafe unlink(path + "-shm")
        DatabaseFile.syncFolder(of: path)
        return kept
    }

    /// Reverts `keep` when the backup cannot take the database's name.
    func giveBack(from kept: String) {
        // On a file system without links, `keep` has renamed the database and its log.
        if !DatabaseFile.exists(path) { unsafe rename(kept, path) }
        let log = kept + "-wal"
        if DatabaseFile.exists(log) { try? link(log, path + "-wal") }
        DatabaseFile.syncFolder(of: path)
    }

    private func link(_ file: String, _ name: String) throws(BackupError) {
        if unsafe Glibc.link(file, name) == 0 { return }
        // A file system without links leaves a moment without a database.
        guard errno != EEXIST, unsafe rename(file, name) == 0 else {
            throw .failed(path: name, reason: DatabaseFile.text(of: errno))
        }
    }

    /// The time as `20260131-235959`, in UTC.
    private static func stamp(_ now: Instant) -> String {
        let time = UTCTime(secondsSinceEpoch: now.secondsSinceEpoch)
        return time.date.text.filter { $0 != "-" } + "-" + time.timeText.filter { $0 != ":" }
    }

    private static let find = Query(
        "SELECT 1 FROM audit_events WHERE number = ? AND kind = ? AND occurred_at = ?")
    private static let count = Query("SELECT kind, count(*) FROM audit_events WHERE number > ? GROUP BY kind")
}
