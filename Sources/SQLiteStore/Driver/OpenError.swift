internal import CSQLite

/// The reason for which a database cannot be opened. Its description is a sentence with advice.
public enum OpenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder of the file does not exist.
    case directoryMissing(path: String)
    /// The operating system refuses access to the file.
    case inaccessible(path: String, reason: String)
    /// Another process, or another store of this process, has the file open.
    case alreadyOpen(path: String)
    /// The file is not a database, or a database of another program.
    case notADatabase(path: String)
    /// A newer program has brought the file to `version`, and only programs that know `readableBy` can work on it.
    case newerDatabase(path: String, version: Int, readableBy: Int, newestKnown: Int)
    /// The database has applied a migration of that number that differs from the one in this program.
    case changedMigration(path: String, version: Int)
    /// The file of the database is damaged.
    case damaged(path: String, reason: String)
    /// The database refuses reads.
    case failed(path: String, reason: String)

    /// Runs `body` on the database at `path`, and converts its error to the matching error of opening the database.
    static func mapping<Value>(
        _ path: String, _ body: () throws(DatabaseError) -> Value
    ) throws(OpenError) -> Value {
        do throws(DatabaseError) {
            return try body()
        } catch {
            if case .sqlite(let code, _) = error, code & 0xFF == SQLITE_NOTADB { throw .notADatabase(path: path) }
            if error.showsDamage { throw .damaged(path: path, reason: error.description) }
            throw .failed(path: path, reason: error.description)
        }
    }

    /// Advice for a damaged database.
    public static func wayOut(_ path: String) -> String {
        "stop the server and run 'sojourn restore' with the newest backup; it keeps the damaged file, and ends no session. "
            + "Without a backup, 'sqlite3 \(path) .recover' saves what can still be read."
    }

    /// A sentence that says what is wrong and what to do.
    public var description: String {
        switch self {
        case .directoryMissing(let path):
            "The folder of the database \(path) does not exist. Create it, owned by the user that runs the server."
        case .inaccessible(let path, let reason):
            "The database \(path) cannot be opened: \(reason)."
        case .alreadyOpen(let path):
            "Another process has the database \(path) open. Stop it first, or talk to it instead of to the file."
        case .notADatabase(let path):
            "The file \(path) is not a database of this program. Name another file; this one was not touched. If it was "
                + "one, its beginning is damaged: \(Self.wayOut(path))"
        case .newerDatabase(let path, let version, let readableBy, let newestKnown):
            "The database \(path) is at version \(version) of its schema, which programs from version \(readableBy) on can work "
                + "on, and this program knows only up to \(newestKnown). Run the newer program, or restore the backup from "
                + "before it was upgraded."
        case .changedMigration(let path, let version):
            "The database \(path) was built with another text of migration \(version) than this program has. "
                + "Run the program that built it: a released migration never changes."
        case .damaged(let path, let reason):
            "The database \(path) is damaged (\(reason)): \(Self.wayOut(path))"
        case .failed(let path, let reason):
            "The database \(path) cannot be used: \(reason)."
        }
    }
}
