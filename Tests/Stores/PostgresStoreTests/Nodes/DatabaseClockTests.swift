import Locks
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// The time of the database between two of its answers.
@Suite("PostgreSQL: the time of the database", .timeLimit(.minutes(1)))
struct DatabaseClockTests {
    /// The monotonic clock of a machine and the clock of a server, both moved by the test.
    private final class Machine: Sendable {
        private let begin = ContinuousClock.now
        private let passed = Locked(Duration.zero)
        private let server = Locked(Duration.seconds(1_800_000_000))

        var now: ContinuousClock.Instant { passed.withLock { begin + $0 } }
        var serverTime: Duration { server.withLock { $0 } }

        func elapse(_ duration: Duration) {
            passed.withLock { $0 += duration }
            server.withLock { $0 += duration }
        }

        func setServer(by step: Duration) { server.withLock { $0 += step } }

        /// A clock with a first answer: the request travelled for `out`, the answer for `trip`.
        func clock(out: Duration = .zero, trip: Duration = .milliseconds(1)) -> DatabaseClock {
            let before = now
            elapse(out)
            let time = serverTime.microseconds
            elapse(trip)
            return DatabaseClock(time, between: before, and: now) { self.now }
        }

        /// An answer for which the request travelled for `out` and the answer for `back`.
        func answer(_ clock: DatabaseClock, out: Duration, back: Duration) {
            let before = now
            elapse(out)
            let time = serverTime.microseconds
            elapse(back)
            clock.note(time, between: before, and: now)
        }

        func error(of clock: DatabaseClock) -> Duration {
            let error = clock.wall.sinceEpoch - serverTime
            return error < .zero ? .zero - error : error
        }
    }

    @Test("the time is within its error of the server's, and a fast answer after a slow one makes it exact")
    func precision() {
        let machine = Machine()
        let clock = machine.clock(trip: .seconds(4))
        #expect(machine.error(of: clock) <= clock.error && clock.error > .seconds(1))
        machine.answer(clock, out: .milliseconds(1), back: .milliseconds(1))
        #expect(machine.error(of: clock) <= clock.error && clock.error <= .milliseconds(2))
        // A slow answer takes nothing of that back.
        machine.answer(clock, out: .seconds(2), back: .zero)
        #expect(machine.error(of: clock) <= clock.error && clock.error <= .milliseconds(4))
    }

    @Test(
        "a first answer of which the request was slow, and then a fast one: the time stands still until it is the server's"
    )
    func slowRequest() {
        let machine = Machine()
        let clock = machine.clock(out: .seconds(4), trip: .zero)
        var last = clock.wall.sinceEpoch
        machine.answer(clock, out: .milliseconds(1), back: .milliseconds(1))
        for _ in 0..<5 {
            #expect(clock.wall.sinceEpoch >= last && machine.error(of: clock) <= clock.error)
            last = clock.wall.sinceEpoch
            machine.elapse(.seconds(1))
        }
        #expect(machine.error(of: clock) <= .milliseconds(2) && clock.lastLeap != nil)
    }

    @Test("a store that opens asks again if the first answer was slow")
    func firstAnswers() throws {
        let options = PostgresStore.Options(clock: ClockSkewTests.clock())
        let connection = try Connection(url: try PostgresServer.shared.newDatabase(), options)
        for slowCount in 0...1 {
            let (begin, readings) = (ContinuousClock.now, Locked(0))
            // One reading before each answer, and one after it.
            let read = { @Sendable () -> ContinuousClock.Instant in
                let answers = readings.withLock { readings in
                    readings += 1
                    return readings / 2
                }
                return begin + .seconds(4 * min(answers, slowCount))
            }
            let clock = try DatabaseClock(of: connection, now: read, until: .now + .seconds(60))
            #expect(readings.withLock { $0 } == 2 * (slowCount + 1))
            #expect(clock.error <= .milliseconds(200))
        }
    }

    @Test("answers that are less than a millisecond apart widen the bounds as much as rare ones")
    func manyAnswers() {
        let machine = Machine()
        let clock = machine.clock(trip: .zero)
        for round in 0..<800 {
            machine.answer(clock, out: .microseconds(450), back: .microseconds(450))
            machine.setServer(by: .microseconds(round % 2))
            #expect(machine.error(of: clock) <= clock.error + .microseconds(2))
        }
        #expect(clock.error >= .microseconds(400) && clock.lastLeap == nil)
    }

    @Test("answers that are fast in one direction alone never let the time run backwards")
    func jitter() {
        let machine = Machine()
        let clock = machine.clock(trip: .milliseconds(400))
        var (last, errors) = (clock.wall.sinceEpoch, [Duration]())
        for round in 0..<200 {
            let (fast, slow) = (Duration.microseconds(round % 7), Duration.microseconds(900 * (round % 400)))
            machine.answer(clock, out: round % 2 == 0 ? fast : slow, back: round % 2 == 0 ? slow : fast)
            let time = clock.wall.sinceEpoch
            #expect(time >= last)
            last = time
            errors.append(machine.error(of: clock))
        }
        #expect(errors.allSatisfy { $0 <= .milliseconds(200) })
        #expect(errors.suffix(100).allSatisfy { $0 <= .milliseconds(1) })
    }

    @Test("a server with another time is followed with its first answer", arguments: [-600, -60, -2, 2, 60, 600])
    func jump(seconds: Int) {
        let machine = Machine()
        let clock = machine.clock()
        machine.elapse(.seconds(10))
        _ = clock.wall.now
        machine.setServer(by: .seconds(seconds))
        machine.answer(clock, out: .milliseconds(5), back: .milliseconds(5))
        // No further than the answer proves.
        #expect(machine.error(of: clock) <= clock.error && clock.error <= .milliseconds(10))
        #expect(clock.lastLeap == machine.now)
    }

    @Test("a small step backwards lets the time stand still until the server's time has come")
    func smallStep() {
        let machine = Machine()
        let clock = machine.clock()
        let before = clock.wall.sinceEpoch
        machine.setServer(by: .milliseconds(-500))
        machine.answer(clock, out: .milliseconds(1), back: .milliseconds(1))
        #expect(clock.wall.sinceEpoch == before)
        machine.elapse(.seconds(1))
        #expect(machine.error(of: clock) <= clock.error)
    }

    @Test("without answers the time runs on, and its error grows")
    func away() {
        let machine = Machine()
        let clock = machine.clock()
        machine.elapse(.seconds(3600))
        #expect(machine.error(of: clock) <= .milliseconds(1))
        #expect(
            clock.error >= .seconds(3) && clock.isOlder(than: .seconds(3599)) && !clock.isOlder(than: .seconds(3600)))
        // The server's clock was slewed meanwhile, by less than clocks may differ.
        machine.setServer(by: .seconds(-3))
        let before = clock.wall.sinceEpoch
        machine.answer(clock, out: .zero, back: .zero)
        #expect(clock.wall.sinceEpoch == before)
        machine.elapse(.seconds(3))
        #expect(machine.error(of: clock) <= .milliseconds(1))
    }

    @Test("a store that follows the database has its time, whatever the machine's, and so has every row that it writes")
    func rows() async throws {
        let far = WallClock { Instant(secondsSinceEpoch: 4_000_000_000) }
        let store = try openStore(try PostgresServer.shared.newDatabase()) { options in
            options.clock = far
            options.followsDatabaseClock = true
        }
        let text = try PostgresServer.shared.run("SELECT extract(epoch FROM clock_timestamp())::bigint")
        let time = try #require(Int64(text.filter { !$0.isWhitespace }))
        let isClose = { @Sendable (instant: Instant) in abs(instant.secondsSinceEpoch - time) <= 60 }
        #expect(isClose(store.clock.now))
        #expect(try await store.write(.nothing) { transaction in isClose(transaction.now) })
        #expect(try await store.clockSkew().lead > .seconds(1_000_000_000))
        await store.close()
    }
}
