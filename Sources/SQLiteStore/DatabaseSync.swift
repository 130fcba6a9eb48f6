internal import Dispatch
internal import Locks

/// Waits beside the writer until the disk has what was copied out of the log, which in a large file takes longer than
/// anybody should wait for: each page lies elsewhere. Copying itself is quick, and stays with the writer.
///
/// SQLite waits for the disk itself when it has copied the whole log, because from then on it writes the log anew from its
/// beginning. A reader that holds an older state keeps a copy from being whole, so it is not waited for. `DatabaseSync` is that
/// reader: it holds the state of some commit, the writer copies up to there, and until the disk has the pages the log stays as
/// it is. Nothing depends on the sync for what a crash leaves: the log is copied from its beginning then.
final class DatabaseSync: Sendable {
    /// What it is at.
    private enum Phase {
        case idle
        case holding
        case syncing
        case ended(Duration)
        /// The store is closed, or the disk has failed.
        case over
    }

    /// Belongs to the writer, and while it is syncing to the queue.
    private let connection = Locked<Connection?>(nil)
    private let phase = Locked(Phase.idle)
    private let queue = DispatchQueue(label: "database sync")
    private let writeback: Writeback
    private let open: @Sendable () throws(DatabaseError) -> Connection
    private let now: @Sendable () -> ContinuousClock.Instant
    private let failed: @Sendable (DatabaseError) -> Void

    /// Opens its connection, which only reads, when it is first needed. `failed` is told that the disk has refused.
    init(
        writeback: Writeback, open: @escaping @Sendable () throws(DatabaseError) -> Connection,
        now: @escaping @Sendable () -> ContinuousClock.Instant, failed: @escaping @Sendable (DatabaseError) -> Void
    ) {
        self.writeback = writeback
        self.open = open
        self.now = now
        self.failed = failed
    }

    /// From now on a copy of the log goes no further than the last commit.
    func hold() throws(DatabaseError) {
        try connection.withLock { (held) throws(DatabaseError) in
            let connection = if let held { held } else { try open() }
            held = connection
            try connection.execute(Self.begin)
            // A deferred transaction takes its snapshot at the first read.
            _ = try connection.first(Self.touch) { row in row.integer() }
        }
        phase.withLock { $0 = .holding }
    }

    /// Begins to wait for what was copied since `hold`, about so many pages.
    func begin(pages: Int) {
        phase.withLock { $0 = .syncing }
        let start = now()
        queue.async { self.run(pages, since: start) }
    }

    private func run(_ pages: Int, since start: ContinuousClock.Instant) {
        writeback.send(pages: pages)
        do throws(DatabaseError) {
            try connection.withLock { (connection) throws(DatabaseError) in
                try connection?.syncFile()
                try connection?.execute(Self.end)
            }
            let duration = now() - start
            phase.withLock { $0 = .ended(duration) }
        } catch {
            phase.withLock { $0 = .over }
            failed(error)
        }
    }

    /// How long the disk took, once after it has ended.
    func takeEnded() -> Duration? {
        phase.withLock { phase in
            guard case .ended(let duration) = phase else { return nil }
            phase = .idle
            return duration
        }
    }

    /// Waits for the end of what it is at, and lets go of everything; the next `hold` opens the file anew.
    func reset() {
        queue.sync { connection.withLock { $0 = nil } }
        phase.withLock { $0 = .idle }
    }

    private static let begin = Query("BEGIN")
    private static let touch = Query("SELECT id FROM settings")
    private static let end = Query("ROLLBACK")
}
