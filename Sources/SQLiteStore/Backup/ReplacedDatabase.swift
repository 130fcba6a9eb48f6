internal import CSQLite
internal import Calendar
internal import Glibc
internal import Sessions

/// The database that a backup replaces. It may be damaged, which may be why: then nothing is known of it, and it is kept
/// as it is, with its log.
final class ReplacedDatabase {
    private let path: String
    /// Nil if it cannot be read, and when it is closed. Opening it has copied its log into it, as any start would.
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

    /// The place of its newest event.
    var lastPlace: Int64? { connection.flatMap { connection in try? EventPlace.last(connection)?.place } }

    /// How many events of each kind it has after `event`; nil if `event` is not in it.
    func events(after event: EventPlace) -> [String: Int]? {
        guard let connection else { return nil }
        do throws(DatabaseError) {
            let same = try connection.first(Self.find, event.place, event.kind, event.at) { row in row.integer() }
            guard same != nil else { return nil }
            let counts = try connection.all(Self.count, event.place) { row in (row.text(), Int(row.integer())) }
            return Dictionary(counts, uniquingKeysWith: +)
        } catch { return nil }
    }

    /// Gives it another name beside, and returns that; nil if there was nothing. The database's own name leads to it until
    /// the backup takes the name: a crash between leaves the old database in its place, without the log of one that could not be
    /// read, which lies beside the other name.
    func keep(at now: Instant) throws(BackupError) -> String? {
        // Closing removes the log, whose content the database has.
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
        // Only beside a database that could not be read.
        if DatabaseFile.exists(log) {
            try link(log, kept + "-wal")
            DatabaseFile.syncFolder(of: path)
            unsafe unlink(log)
        }
        // A log, or its index, beside the backup would be taken for the backup's own.
        unsafe unlink(path + "-shm")
        DatabaseFile.syncFolder(of: path)
        return kept
    }

    /// Undoes what `keep` has taken from the database, when the backup cannot take its place.
    func giveBack(from kept: String) {
        // Where there are no links, the database has gone with its log.
        if !DatabaseFile.exists(path) { unsafe rename(kept, path) }
        let log = kept + "-wal"
        if DatabaseFile.exists(log) { try? link(log, path + "-wal") }
        DatabaseFile.syncFolder(of: path)
    }

    private func link(_ file: String, _ name: String) throws(BackupError) {
        if unsafe Glibc.link(file, name) == 0 { return }
        // Where there are no links, there is a moment without a database.
        guard errno != EEXIST, unsafe rename(file, name) == 0 else {
            throw .failed(path: name, reason: DatabaseFile.text(of: errno))
        }
    }

    /// `20260131-235959`.
    private static func stamp(_ now: Instant) -> String {
        let time = UTCTime(secondsSinceEpoch: now.secondsSinceEpoch)
        return time.date.text.filter { $0 != "-" } + "-" + time.timeText.filter { $0 != ":" }
    }

    private static let find = Query(
        "SELECT 1 FROM audit_events WHERE number = ? AND kind = ? AND occurred_at = ?")
    private static let count = Query("SELECT kind, count(*) FROM audit_events WHERE number > ? GROUP BY kind")
}
