internal import Locks

/// Watches the wall clock, because everything that ends a session by time ends it for good, and a clock can be wrong for
/// an hour: set by hand, restored with a machine, read from a battery that is empty.
///
/// Beside the wall clock runs one that nobody can set. As long as the two agree the wall clock is right. When it jumps,
/// forwards or backwards, nobody can know which of the two times is the true one, and for a while both are possible.
/// - The server's time is the *later* one: no token is issued or accepted that has expired by either.
/// - What has ended by the *earlier* one has ended. What has ended only by the later one is not decided: 503, which logs
///   nobody out, instead of a refusal that does, and nothing is recorded.
/// - A jump is believed when the clock has run steadily for a twenty-fourth of it, a day at most. A minute's jump ends
///   in seconds; a year's leaves time to notice it.
/// - Clean-up, which deletes, goes by a time of its own, which runs twice as fast as time passes at most (`settled`).
///   It catches up with every true jump, and a false one has to last a month before a row is deleted too soon.
///
/// All of it holds across a restart, because the server writes down what it believed (`memory`), and takes the time
/// that it did not run for a jump like any other.
public final class ClockGuard: Sendable {
    /// Jumps up to this many seconds are believed at once: clocks are corrected now and then.
    public static let slackSeconds: Int64 = 60
    /// No jump is doubted for longer.
    public static let doubtSecondsMax: Int64 = 86_400
    /// So much of the time that the server did not run counts for clean-up.
    public static let pauseSecondsMax: Int64 = 86_400

    /// The time, as far as it can be told.
    public struct Reading: Hashable, Sendable {
        /// The time to go by.
        public let now: Instant
        /// The earliest that it can be; the same as `now` unless the clock has jumped.
        public let earliest: Instant

        /// A reading; certain unless `earliest` differs.
        public init(now: Instant, earliest: Instant) {
            self.now = now
            self.earliest = earliest
        }
    }

    /// What has to be known after a restart.
    public struct Memory: Hashable, Sendable {
        /// The time that was believed.
        public var believed: Instant
        /// The time that clean-up went by.
        public var settled: Instant

        /// What was written down.
        public init(believed: Instant, settled: Instant) {
            self.believed = believed
            self.settled = settled
        }
    }

    private struct State {
        /// The time that is believed, less what has passed since the start.
        var offset: Int64
        /// Another time that the clock keeps to, and since when.
        var other: (offset: Int64, since: Int64)?
        var settled: Int64
        var settledAt: Int64
    }

    private let wall: WallClock
    private let passed: @Sendable () -> Int64
    private let state: Locked<State>

    /// A watch over `wall`.
    ///
    /// - Parameters:
    ///   - passed: seconds on a clock that nobody can set.
    ///   - memory: what the process before has left; nil: the wall clock is believed.
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

    /// The time.
    public var reading: Reading {
        let (wall, passed) = (wall.now.secondsSinceEpoch, passed())
        let believed = state.withLock { state in Self.believed(&state, wall: wall, passed: passed) }
        return Reading(
            now: Instant(secondsSinceEpoch: max(wall, believed)),
            earliest: Instant(secondsSinceEpoch: min(wall, believed)))
    }

    /// The time that clean-up goes by: never later than the earliest that it can be.
    public var settled: Instant {
        let (wall, passed) = (wall.now.secondsSinceEpoch, passed())
        return state.withLock { state in
            let earliest = min(wall, Self.believed(&state, wall: wall, passed: passed))
            state.settled = min(earliest, state.settled + 2 * max(passed - state.settledAt, 0))
            state.settledAt = passed
            return Instant(secondsSinceEpoch: state.settled)
        }
    }

    /// What the next process has to know.
    public var memory: Memory {
        let settled = settled
        let (wall, passed) = (wall.now.secondsSinceEpoch, passed())
        let believed = state.withLock { state in Self.believed(&state, wall: wall, passed: passed) }
        return Memory(believed: Instant(secondsSinceEpoch: believed), settled: settled)
    }

    /// The time that is believed when the clock says `wall`.
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
            // Small corrections of the new time are followed; the wait goes on.
            state.other = (offset, other.since)
            return passed + state.offset
        }
        state.offset = offset
        state.other = nil
        return wall
    }
}

extension StoreError {
    /// A session has ended by one of two times that the clock may mean.
    static let clockInDoubt = StoreError.unavailable("the clock has jumped, and a session may have ended or not")
}
