internal import Locks

/// Guards the wall clock, because the end of a session by time is final, and a clock can be wrong for an hour: set by hand,
/// restored with a machine, or read from an empty battery.
///
/// A monotonic clock, which cannot be set, runs beside the wall clock. While the two agree, the wall clock is right. After a
/// jump forwards or backwards, either of the two times may be the true one, and for a while both are possible.
/// - The server's time is the *later* one, so that no token is issued or accepted that has expired by either.
/// - A session that has ended by the *earlier* time has ended. One that has ended only by the later time is undecided: the
///   answer is 503, which logs no user out, and nothing is recorded.
/// - A jump is believed after the clock has run steadily for a twenty-fourth of it, at most a day. A jump of a minute is
///   believed in seconds; a jump of a year leaves time to notice it.
/// - Clean-up, which deletes, uses a time of its own that runs at most twice as fast as time passes (`settled`). It catches up
///   with every true jump, and a false jump has to last a month before a row is deleted too early.
///
/// All of this holds across a restart, because the server stores the believed time (`memory`), and treats the time of its
/// absence like any other jump.
public final class ClockGuard: Sendable {
    /// Jumps of at most this many seconds are believed at once, because clocks are corrected now and then.
    public static let slackSeconds: Int64 = 60
    /// The longest time for which a jump is doubted, in seconds.
    public static let doubtSecondsMax: Int64 = 86_400
    /// The longest absence of the server that counts for clean-up, in seconds.
    public static let pauseSecondsMax: Int64 = 86_400

    /// The time, as far as it is known.
    public struct Reading: Hashable, Sendable {
        /// The time to use.
        public let now: Instant
        /// The earliest possible time; equal to `now` unless the clock has jumped.
        public let earliest: Instant

        /// Creates a reading.
        public init(now: Instant, earliest: Instant) {
            self.now = now
            self.earliest = earliest
        }
    }

    /// The values to store for the next start.
    public struct Memory: Hashable, Sendable {
        /// The believed time.
        public var believed: Instant
        /// The time of clean-up.
        public var settled: Instant

        /// Creates the stored values.
        public init(believed: Instant, settled: Instant) {
            self.believed = believed
            self.settled = settled
        }
    }

    private struct State {
        /// The believed time, minus the seconds on the monotonic clock.
        var offset: Int64
        /// A different offset that the wall clock keeps, and the time since which it does.
        var other: (offset: Int64, since: Int64)?
        var settled: Int64
        var settledAt: Int64
    }

    private let wall: WallClock
    private let passed: @Sendable () -> Int64
    private let state: Locked<State>

    /// Creates a guard of `wall`.
    ///
    /// - Parameters:
    ///   - passed: returns seconds on a monotonic clock.
    ///   - memory: the values that the previous process stored; nil means that the wall clock is believed.
    public init(wall: WallClock, passed: @escaping @Sendable () -> Int64, memory: Memory?) {
        self.wall = wall
        self.passed = passed
        let (now, start) = (wall.now, passed())
        let believed = memory?.believed ?? now
        let pause = min(max((now - believed).wholeSeconds, 0), Self.pauseSecondsMax)
        let settled = min(now, (memory?.settled ?? now) + .seconds(pause))
        state = Locked(
            State(
                offset: believed.secondsSinceEpoch - start, settled: settled.secondsSinceEpoch, settledAt: start))
    }

    /// The current time.
    public var reading: Reading {
        let (wall, passed) = (wall.now.secondsSinceEpoch, passed())
        let believed = state.withLock { state in Self.believed(&state, wall: wall, passed: passed) }
        return Reading(
            now: Instant(secondsSinceEpoch: max(wall, believed)),
            earliest: Instant(secondsSinceEpoch: min(wall, believed)))
    }

    /// The time of clean-up, never later than the earliest possible time.
    public var settled: Instant {
        let (wall, passed) = (wall.now.secondsSinceEpoch, passed())
        return state.withLock { state in
            let earliest = min(wall, Self.believed(&state, wall: wall, passed: passed))
            state.settled = min(earliest, state.settled + 2 * max(passed - state.settledAt, 0))
            state.settledAt = passed
            return Instant(secondsSinceEpoch: state.settled)
        }
    }

    /// The values to store for the next start.
    public var memory: Memory {
        let settled = settled
        let (wall, passed) = (wall.now.secondsSinceEpoch, passed())
        let believed = state.withLock { state in Self.believed(&state, wall: wall, passed: passed) }
        return Memory(believed: Instant(secondsSinceEpoch: believed), settled: settled)
    }

    /// The believed time when the wall clock says `wall`.
    private static func believed(_ state: inout State, wall: Int64, passed: Int64) -> Int64 {
        let offset = wall - passed
        let jump = abs(offset - state.offset)
        if jump <= slackSeconds {
            state.offset = offset
            state.other = nil
            return wall
        }
        guard let other = state.other, abs(offset - other.offset) <= slackSeconds else {
            state.other = (offset, passed)
            return passed + state.offset
        }
        guard passed - other.since >= min(jump / 24, doubtSecondsMax) else {
            // Small corrections of the new time are followed; the doubt continues.
            state.other = (offset, other.since)
            return passed + state.offset
        }
        state.offset = offset
        state.other = nil
        return wall
    }
}

extension StoreError {
    /// The error for a session that has ended by only one of the two possible times.
    static let clockInDoubt = StoreError.unavailable("the clock has jumped, and a session may have ended or not")
}
