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
    /// Belongs to the writer, and while it is syncing to the queue.
    private let connection = Locked<Connection?>(nil)
    /// How long the disk took, until somebody has asked.
    private let ended = Locked<Duration?>(nil)
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
            try connection.beginSnapshot()
        }
    }

    /// Begins to wait for what was copied since `hold`, about so many pages.
    func begin(pages: Int) {
        let start = now()
        queue.async { self.run(pages, since: start) }
    }

    private func run(_ pages: Int, since start: ContinuousClock.Instant) {
        writeback.send(pages: pages)
        do throws(DatabaseError) {
            try connection.withLock { (connection) throws(DatabaseError) in
                try connection?.syncFile()
                try connection?.endSnapshot()
            }
            let duration = now() - start
            ended.withLock { $0 = duration }
        } catch {
            failed(error)
        }
    }

    /// How long the disk took, once after it has ended.
    func takeEnded() -> Duration? {
        ended.withLock { ended in
            defer { ended = nil }
            return ended
        }
    }

    /// Waits for the end of what it is at, and lets go of everything; the next `hold` opens the file anew.
    func reset() {
        queue.sync { connection.withLock { $0 = nil } }
        ended.withLock { $0 = nil }
    }
}
