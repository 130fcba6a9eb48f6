internal import Locks
internal import Sessions

/// The clock of the database, which is the time of all nodes, as this node knows it between two answers.
///
/// The server reads its clock between the request and the answer, so that each answer bounds the difference between the
/// server's clock and the monotonic clock of this machine. The bounds of all answers together are narrower than those of the
/// fastest; they widen with time, because no two clocks run alike. The wall clock of this machine plays no part: it may be set
/// at any time. While the database is away, the time runs on by the monotonic clock.
///
/// Corrections within the bounds never let the time run backwards. An answer outside of them is a clock that was set, or
/// another server: its time is taken at once, as far as the answer proves it, and `ClockGuard` judges the jump.
final class DatabaseClock: Sendable {
    /// The largest assumed difference between the rates of two clocks: a microsecond in that many.
    private static let driftDivisor: Int64 = 1000
    /// A clock that was set back by less than this many microseconds lets the time stand still.
    private static let standstillMax: Int64 = 1_000_000
    /// The smallest correction, in microseconds, after which a decision at the time before it is not kept.
    private static let leapMin: Int64 = 500_000
    /// The width of the bounds, in microseconds, below which the first answers suffice, and the largest number of them.
    private static let (firstWidthMax, firstAnswersMax): (Int64, Int) = (200_000, 3)

    private struct State {
        /// The bounds of the server's time less the monotonic time, in microseconds.
        var low: Int64
        var high: Int64
        /// The monotonic time of the last answer.
        var answeredAt: Int64
        /// The monotonic time up to which the bounds have been widened.
        var widenedAt: Int64
        /// The difference that is in use.
        var offset: Int64
        /// The latest time that was read.
        var latest: Int64
        /// The monotonic time of the last large correction.
        var leaptAt: Int64?
    }

    private let origin: ContinuousClock.Instant
    /// The monotonic clock of this machine.
    let now: @Sendable () -> ContinuousClock.Instant
    private let state: Locked<State>

    /// A clock that continues from a server's time, in microseconds since 1970, which was read between two moments.
    init(
        _ time: Int64, between before: ContinuousClock.Instant, and after: ContinuousClock.Instant,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        (origin, self.now) = (before, now)
        let width = (after - before).microseconds
        state = Locked(
            State(
                low: time - width, high: time, answeredAt: width, widenedAt: width, offset: time - width / 2,
                latest: time - width))
    }

    /// Takes up the server's time, which was read between two moments.
    func note(_ time: Int64, between before: ContinuousClock.Instant, and after: ContinuousClock.Instant) {
        let (asked, answered) = ((before - origin).microseconds, (after - origin).microseconds)
        state.withLock { state in
            // What the division leaves over counts for the next answer.
            let drift = max(0, answered - state.widenedAt) / Self.driftDivisor
            state.widenedAt += drift * Self.driftDivisor
            (state.low, state.high) = (state.low - drift, state.high + drift)
            let (low, high) = (max(state.low, time - answered), min(state.high, time - asked))
            if low <= high {
                (state.low, state.high) = (low, high)
                correct(&state, at: answered)
            } else if answered >= state.answeredAt {
                (state.low, state.high) = (time - answered, time - asked)
                correct(&state, at: answered)
                // A clock that was set back by more is followed backwards.
                if state.latest - answered - state.offset >= Self.standstillMax {
                    state.latest = answered + state.offset
                }
            }
            state.answeredAt = max(state.answeredAt, answered)
        }
    }

    /// Moves the difference into the bounds.
    private func correct(_ state: inout State, at answered: Int64) {
        let offset = min(max(state.offset, state.low), state.high)
        if abs(offset - state.offset) >= Self.leapMin { state.leaptAt = answered }
        state.offset = offset
    }

    /// The moment of the last correction by half a second or more.
    var lastLeap: ContinuousClock.Instant? {
        state.withLock(\.leaptAt).map { origin + .microseconds($0) }
    }

    /// Whether the bounds are narrow.
    private var isPrecise: Bool { state.withLock { $0.high - $0.low <= Self.firstWidthMax } }

    /// The time, in microseconds since 1970.
    private var microseconds: Int64 {
        let passed = (now() - origin).microseconds
        return state.withLock { state in
            let time = passed + state.offset
            state.latest = max(state.latest, time)
            return state.latest
        }
    }

    /// The time as the domain reads it.
    var wall: WallClock {
        WallClock(
            { Instant(secondsSinceEpoch: self.microseconds / 1_000_000) },
            precisely: { .microseconds(self.microseconds) })
    }

    /// The largest error of the time.
    var error: Duration {
        let passed = (now() - origin).microseconds
        return state.withLock { state in
            let drift = max(0, passed - state.widenedAt) / Self.driftDivisor
            let standstill = max(0, state.latest - passed - state.offset)
            return .microseconds(
                max(state.high - state.offset, state.offset - state.low) + drift + standstill)
        }
    }

    /// Whether the last answer is older than `age`.
    func isOlder(than age: Duration) -> Bool {
        let passed = (now() - origin).microseconds
        return state.withLock { passed - $0.answeredAt > age.microseconds }
    }
}

extension DatabaseClock {
    /// The statement for the server's clock, in microseconds since 1970.
    static let asking = Statement(Template("SELECT \(reading)"))
    /// The server's clock, in microseconds since 1970.
    static let reading = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    /// A clock that begins with the time of the server that `connection` leads to. A slow answer says little, so that the
    /// server is asked again.
    convenience init(
        of connection: Connection, now: @escaping @Sendable () -> ContinuousClock.Instant,
        until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) {
        let before = now()
        let time = try Self.ask(connection, until: deadline)
        self.init(time, between: before, and: now(), now: now)
        for _ in 1..<Self.firstAnswersMax where !isPrecise { try measure(on: connection, until: deadline) }
    }

    /// Asks the server for its time.
    func measure(on connection: Connection, until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        let before = now()
        let time = try Self.ask(connection, until: deadline)
        note(time, between: before, and: now())
    }

    /// Takes up the server's time from that column of an answer, which came between two moments.
    func note(
        _ answer: Rows, column: Int = 0, between before: ContinuousClock.Instant, and after: ContinuousClock.Instant
    ) throws(DatabaseError) {
        let time = try answer.first { row in
            row.skip(column)
            return row.integer()
        }
        if let time { note(time, between: before, and: after) }
    }

    private static func ask(
        _ connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Int64 {
        guard let time = try connection.read([asking], until: deadline)[0].first({ row in row.integer() }) else {
            throw .contradiction("the database does not say what time it is")
        }
        return time
    }
}
