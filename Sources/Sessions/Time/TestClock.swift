internal import Locks

/// A clock that is moved forward by hand, for servers on which an app is tested (`sojourn serve --test-clock`).
public final class TestClock: Sendable {
    /// The longest step.
    public static let stepMax = Duration.seconds(31_536_000)

    private let shift = Locked(Duration.zero)

    /// A clock that is not ahead yet.
    public init() {}

    /// How far it is ahead of the system's clock.
    public var ahead: Duration { shift.withLock { $0 } }

    /// Moves it forward.
    public func advance(by step: Duration) { shift.withLock { $0 += max(step, .zero) } }

    /// `clock`, as far ahead as this one.
    public func wallClock(over clock: WallClock) -> WallClock {
        WallClock({ clock.now + self.ahead }, precisely: { clock.sinceEpoch + self.ahead })
    }

    /// The seconds of a clock that cannot be set, as far ahead as this one, so that a step is not taken for a jump.
    public func secondsPassed(over seconds: @escaping @Sendable () -> Int64) -> @Sendable () -> Int64 {
        { seconds() + self.ahead.wholeSeconds }
    }
}
