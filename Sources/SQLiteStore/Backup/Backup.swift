/// A finished backup.
public struct Backup: Hashable, Sendable {
    /// The path of the file.
    public var path: String
    /// The size of the file in bytes.
    public var bytes: Int64
    /// The time from the snapshot to the checked and synced file.
    public var duration: Duration
}

/// The progress of a copy.
public struct CopyProgress: Hashable, Sendable {
    /// The number of copied pages, 4 KiB each.
    public var pages: Int
    /// The number of all pages.
    public var pagesTotal: Int
}

/// The options of copying a database.
public struct CopyOptions: Sendable {
    /// The number of pages in one step: a quarter of a MiB.
    public var pagesPerStep: Int32 = 64
    /// The number of steps between two syncs: 16 MiB. The copy syncs on the way, because unwritten pages would otherwise delay
    /// the syncs of the server.
    public var stepsPerSync = 64
    /// The monotonic clock.
    public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    /// Pauses the copy's own thread. After each step the copy pauses for as long as the step took, so that half of the disk's
    /// time remains for the server.
    public var rest: @Sendable (Duration) -> Void
    /// Called after each step.
    public var progressed: @Sendable (CopyProgress) -> Void = { _ in }

    /// Options that pause with `rest`; by default the thread sleeps.
    public init(rest: @escaping @Sendable (Duration) -> Void = BackgroundThread.sleep) { self.rest = rest }

    /// Options without pauses, for a database that is not in use.
    public static let restless = CopyOptions(rest: { _ in })
}

/// The reason for which a backup was not made or not restored. Its description is a sentence with advice.
public enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file of the backup exists.
    case exists(path: String)
    /// The file to be replaced is not a backup of this program.
    case notOurs(path: String)
    /// The file of the backup is the database, or belongs to it.
    case isTheDatabase(path: String)
    /// The folder has not enough free space for the copy. Sizes are in bytes.
    case noRoom(path: String, needed: Int64, free: Int64)
    /// The file to be restored does not exist.
    case missing(path: String)
    /// A log lies beside the file, so the file is a database that was not closed. Without the log it would be an older state.
    case hasLog(path: String)
    /// The file to be restored is damaged.
    case damaged(path: String, problem: String)
    /// The database is damaged; no backup was made.
    case databaseDamaged(problem: String)
    /// Another backup is in progress.
    case busy
    /// The server is stopping.
    case cancelled
    /// The database cannot be opened, or the file is of another or a newer program.
    case open(OpenError)
    /// The disk or the operating system refuses.
    case failed(path: String, reason: String)

    /// Whether the request was wrong. Otherwise the machine is the cause.
    public var isRefusal: Bool {
        switch self {
        case .exists, .notOurs, .isTheDatabase, .missing, .hasLog, .busy: true
        case .open(.notADatabase), .open(.newerDatabase), .open(.changedMigration), .open(.directoryMissing): true
        case .noRoom, .damaged, .databaseDamaged, .cancelled, .open, .failed: false
        }
    }

    /// A sentence that says what is wrong and what to do.
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

    /// Runs `body` on the file at `path`, and converts its error.
    static func mapping<Value>(
        _ path: String, _ body: () throws(DatabaseError) -> Value
    ) throws(BackupError) -> Value {
        do throws(DatabaseError) { return try body() } catch {
            if error.consequence == .stopsStore { throw .damaged(path: path, problem: error.description) }
            throw .failed(path: path, reason: error.description)
        }
    }

    /// Runs `body`, which opens a database, and converts its error.
    static func opening<Value>(_ body: () throws(OpenError) -> Value) throws(BackupError) -> Value {
        do throws(OpenError) { return try body() } catch { throw .open(error) }
    }
}
