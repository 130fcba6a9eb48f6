/// A backup that was made.
public struct Backup: Hashable, Sendable {
    /// The file.
    public var path: String
    /// Its size.
    public var bytes: Int64
    /// How long it took, from the snapshot to the checked and synced file.
    public var duration: Duration
}

/// How far a copy is.
public struct CopyProgress: Hashable, Sendable {
    /// Pages of 4 KiB that were copied.
    public var pages: Int
    /// All of them.
    public var pagesTotal: Int
}

/// How a database is copied.
public struct CopyOptions: Sendable {
    /// So many pages at a time: a quarter of a MiB.
    public var pagesPerStep: Int32 = 64
    /// After so many steps what was written is synced, so that it never piles up before the syncs of the server: 16 MiB.
    public var stepsPerSync = 64
    /// The monotonic clock.
    public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    /// Rests for a while, on the copy's own thread. After each step the copy rests for as long as that took, so that
    /// half of the disk is left to the server.
    public var rest: @Sendable (Duration) -> Void
    /// Is told after each step.
    public var progressed: @Sendable (CopyProgress) -> Void = { _ in }

    /// A copy that rests with `rest`; by default the thread sleeps.
    public init(rest: @escaping @Sendable (Duration) -> Void = BackgroundThread.sleep) { self.rest = rest }

    /// A copy that rests never, for a database that nobody uses meanwhile.
    public static let restless = CopyOptions(rest: { _ in })
}

/// Why a backup was not made, or not restored, in a sentence that says what to do.
public enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file of the backup is there already.
    case exists(path: String)
    /// What was to be replaced is not a backup of ours.
    case notOurs(path: String)
    /// The backup's file is the database, or belongs to it.
    case isTheDatabase(path: String)
    /// The folder has no room for the copy.
    case noRoom(path: String, needed: Int64, free: Int64)
    /// There is no file to restore.
    case missing(path: String)
    /// A log lies beside the file: it is a database that was not closed, and without the log it is an old one.
    case hasLog(path: String)
    /// The file that is to be restored is damaged.
    case damaged(path: String, problem: String)
    /// The database is: no backup was made of it.
    case databaseDamaged(problem: String)
    /// Another backup is being made.
    case busy
    /// The server stops.
    case cancelled
    /// The database cannot be opened, or the file is not ours, or from a newer program.
    case open(OpenError)
    /// The disk or the system refuses.
    case failed(path: String, reason: String)

    /// Whether whoever asked has to ask for something else; otherwise the machine is to blame.
    public var isRefusal: Bool {
        switch self {
        case .exists, .notOurs, .isTheDatabase, .missing, .hasLog, .busy: true
        case .open(.notADatabase), .open(.newerDatabase), .open(.changedMigration), .open(.directoryMissing): true
        case .noRoom, .damaged, .databaseDamaged, .cancelled, .open, .failed: false
        }
    }

    /// The sentence.
    public var description: String {
        switch self {
        case .exists(let path): "The file \(path) is there already. Name another, or say --force to replace it."
        case .notOurs(let path): "The file \(path) is not a backup of this program. It was not replaced: name another."
        case .isTheDatabase(let path): "The file \(path) is the database itself, or belongs to it. Name another."
        case .noRoom(let path, let needed, let free):
            "The folder of \(path) has \(free >> 20) MiB free, and \((needed >> 20) + 1) MiB are needed. Make room, or name "
                + "another folder."
        case .missing(let path): "There is no file \(path)."
        case .hasLog(let path):
            "Beside \(path) lies a write-ahead log, \(path)-wal: it is no backup but a database that is open or was not "
                + "closed. Make a backup of it: sojourn backup --database sqlite:\(path) FILE"
        case .damaged(let path, let problem): "The file \(path) is damaged (\(problem)). Take another backup."
        case .databaseDamaged(let problem):
            "The database is damaged (\(problem)). No backup was made of it; 'sojourn doctor' names the way out."
        case .busy: "A backup is being made already. Wait for its end."
        case .cancelled: "The server stops. The backup was not made."
        case .open(.directoryMissing(let path)): "The folder of the file \(path) does not exist. Name another."
        case .open(let error): error.description
        case .failed(let path, let reason): "The file \(path) cannot be made: \(reason)."
        }
    }

    /// Runs `body`, which works on the file at `path`.
    static func mapping<Value>(
        _ path: String, _ body: () throws(DatabaseError) -> Value
    ) throws(BackupError) -> Value {
        do throws(DatabaseError) { return try body() } catch {
            if error.consequence == .stopsStore { throw .damaged(path: path, problem: error.description) }
            throw .failed(path: path, reason: error.description)
        }
    }

    /// Runs `body`, which opens a database.
    static func opening<Value>(_ body: () throws(OpenError) -> Value) throws(BackupError) -> Value {
        do throws(OpenError) { return try body() } catch { throw .open(error) }
    }
}
