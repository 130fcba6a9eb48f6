internal import Locks

/// Since when this node has known that the database is one and the same.
///
/// A database that was restored from a backup, or a standby that had not got everything, knows nothing of what was done in the time
/// that it has lost. It cannot be told from a database that was only started again; but what came to be done after that, nobody has
/// done before.
public final class DatabaseIncarnation: Sendable {
    /// By how much the clocks of two nodes may differ.
    static let clockTolerance = Duration.seconds(60)

    private struct Life {
        let name: String
        let since: Instant
    }

    private let life = Locked<Life?>(nil)

    /// A watch that has not begun.
    public init() {}

    /// Whether it has begun.
    var hasBegun: Bool { life.withLock { $0 != nil } }

    /// Takes note that `Store.databaseLife()` is `name` at `now`.
    func see(_ name: String, at now: Instant) {
        life.withLock { life in
            if life?.name != name { life = Life(name: name, since: now) }
        }
    }

    /// Whether what was to be done at `instant` may have been done in a time that the database has lost.
    func mayHaveLost(_ instant: Instant) -> Bool {
        life.withLock { life in life.map { instant < $0.since + Self.clockTolerance } ?? true }
    }
}
