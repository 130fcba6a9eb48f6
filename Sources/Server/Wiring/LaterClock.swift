internal import Locks
internal import Sessions

/// The clock of parts that are made before the database is open: this machine's until then, the database's from then on.
final class LaterClock: Sendable {
    private let clock: Locked<WallClock>

    /// A clock that is `machine` until it becomes another.
    init(until machine: WallClock) { clock = Locked(machine) }

    /// The time.
    var wall: WallClock { WallClock { self.clock.withLock { $0 }.now } }

    /// Goes by `other` from now on.
    func become(_ other: WallClock) { clock.withLock { $0 = other } }
}
