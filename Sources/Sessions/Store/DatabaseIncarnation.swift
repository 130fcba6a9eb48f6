internal import Locks

/// Records since when this node has known that the database is one and the same.
///
/// A database that was restored from a backup, or a standby that lagged behind, has lost the changes of some time. A restore
/// cannot be told from a restart. A request that was scheduled after the restart, however, cannot have been carried out before
/// it.
public final class DatabaseIncarnation: Sendable {
    /// The largest difference between the clocks of two nodes.
    static let clockTolerance = Duration.seconds(60)

    private struct Life {
        let name: String
        let since: Instant
    }

    private let life = Locked<Life?>(nil)

    /// An incarnation that has not been read from the store yet.
    public init() {}

    /// Whether `see` has been called.
    var hasBegun: Bool { life.withLock { $0 != nil } }

    /// Records that `Store.databaseLife()` is `name` at `now`.
    func see(_ name: String, at now: Instant) {
        life.withLock { life in
            if life?.name != name { life = Life(name: name, since: now) }
        }
    }

    /// Whether work that was due at `instant` may have been done in a time that the database has lost. True before the first
    /// `see`.
    func mayHaveLost(_ instant: Instant) -> Bool {
        life.withLock { life in life.map { instant < $0.since + Self.clockTolerance } ?? true }
    }
}
