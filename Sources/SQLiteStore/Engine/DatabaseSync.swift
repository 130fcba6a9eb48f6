internal import Dispatch
internal import Locks

/// Waits, beside the writer, until pages that were copied out of the log are durable. In a large file that takes too long for
/// the writer, because each page lies elsewhere. Copying itself is fast, and the writer does it.
///
/// SQLite itself waits for the disk when it has copied the whole log, because it then overwrites the log from the beginning. A
/// reader that holds an older state keeps a copy from being complete, so SQLite does not wait. `DatabaseSync` is that reader:
/// it holds the state of a commit, the writer copies up to that state, and the log is kept until the pages are durable. A crash
/// does not depend on this sync, because the next start copies the log from its beginning.
final class DatabaseSync: Sendable {
    /// The read-only connection. The writer owns it, and the queue does during a sync.
    private let connection = Locked<Connection?>(nil)
    /// The duration of the last sync, until `takeEnded` has returned it.
    private let ended = Locked<Duration?>(nil)
    private let queue = DispatchQueue(label: "database sync")
    private let writeback: Writeback
    private let open: @Sendable () throws(DatabaseError) -> Connection
    private let now: @Sendable () -> ContinuousClock.Instant
    private let failed: @Sendable (DatabaseError) -> Void

    /// A sync that opens its read-only connection at the first use. `failed` receives an error of the disk.
    init(
        writeback: Writeback, open: @escaping @Sendable () throws(DatabaseError) -> Connection,
        now: @escaping @Sendable () -> ContinuousClock.Instant, failed: @escaping @Sendable (DatabaseError) -> Void
    ) {
        self.writeback = writeback
        self.open = open
        self.now = now
        self.failed = failed
    }

    /// Holds the last commit, so that a copy of the log goes no further.
    func hold() throws(DatabaseError) {
        try connection.withLock { (held) throws(DatabaseError) in
            let connection = if let held { held } else { try open() }
            held = connection
            try connection.beginSnapshot()
        }
    }

    /// Begins to wait for the pages that were copied since `hold`, about `pages` of them.
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

    /// The duration of the last sync, returned once after its end.
    func takeEnded() -> Duration? {
        ended.withLock { ended in
            defer { ended = nil }
            return ended
        }
    }

    /// Waits for the end of a running sync, and closes the connection. The next `hold` opens the file again.
    func reset() {
        queue.sync { connection.withLock { $0 = nil } }
        ended.withLock { $0 = nil }
    }
}
