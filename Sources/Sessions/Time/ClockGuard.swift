internal import Locks

/// Guards against jumps of the wall clock, because every end of a session by time is final, and a clock can be wrong for an
/// hour: set by hand, restored with a machine, read from an empty battery.
///
/// A second clock, which cannot be set, runs beside the wall clock. As long as the two agree, the wall clock is right. After a
/// jump, forwards or backwards, either time can be the true one, and for a while both are possible:
/// - The server's time is the *later* one: a token that has expired by either is neither issued nor accepted.
/// - A session that has ended by the *earlier* one has ended. A session that has ended by the later one alone is not decided:
///   the answer is 503, which logs no user out, and nothing is recorded.
/// - A jump is believed when the clock has run steadily for a twenty-fourth of it, a day at most. A minute's jump is over
///   in seconds; a year's leaves time to notice it.
/// - Clean-up, which deletes, has a time of its own, which runs twice as fast as time passes at most (`settled`).
///   It catches up with every true jump, and a false one has to last a month before a row is deleted too soon.
///
/// All of it holds across a restart, because the server writes down what it believed (`memory`), and treats the time
/// that it did not run as a jump like any other.
public final class ClockGuard: Sendable {
    /// Jumps of at most this many seconds are believed at once, because clocks are corrected now and then.
    public static let slackSeconds: Int64 = 60
    /// The longest time for which a jump is doubted, in seconds.
    public static let doubtSecondsMax: Int64 = 86_400
    /// The longest time without a running server that counts for clean-up.
    public static let pauseSecondsMax: Int64 = 86_400

    /// The time, as far as it is known.
    public struct Reading: Hashable, Sendable {
        /// The time of the server.
        public let now: Instant
        /// The earliest that the time can be; `now`, unless the clock has jumped.
        public let earliest: Instant

        /// Whether two times are possible.
        public var isInDoubt: Bool { now != earliest }

        /// Creates a reading.
        public init(now: Instant, earliest: Instant) {
            self.now = now
            self.earliest = earliest
        }
    }

    /// What the next process has to know.
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
        /// The believed time, less the seconds since the start.
        var offset: Int64
        /// Another time that the clock shows steadily, and since when.
        var other: (offset: Int64, since: Int64)?
        var settled: Int64
        var settledAt: Int64
    }

    private let wall: WallClock
    private let passed: @Sendable () -> Int64
    private let state: Locked<State>

    /// A guard of `wall`.
    ///
    /// - Parameters:
    ///   - passed: seconds on a clock that cannot be set.
    ///   - memory: that of the process before; nil: the wall clock is believed.
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

    /// The time of clean-up: never later than the earliest that the time can be.
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

    /// The believed time when the clock shows `wall`.
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
    /// A session has ended by one of the two possible times alone.
    static let clockInDoubt = StoreError.unavailable("the clock has jumped, and a session may have ended or not")
}
