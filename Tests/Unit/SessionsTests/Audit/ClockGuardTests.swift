import Locks
import Testing

@testable import Sessions

@Suite struct ClockGuardTests {
    /// A wall clock that can be set, and one that cannot.
    final class Clocks: Sendable {
        private let state = Locked((wall: Int64(1_800_000_000), passed: Int64(0)))

        var wall: Instant { Instant(secondsSinceEpoch: state.withLock { $0.wall }) }

        func pass(_ seconds: Int64) {
            state.withLock {
                $0.wall += seconds
                $0.passed += seconds
            }
        }

        func set(by seconds: Int64) { state.withLock { $0.wall += seconds } }

        func watch(_ memory: ClockGuard.Memory? = nil) -> ClockGuard {
            ClockGuard(wall: WallClock { self.wall }, passed: { self.state.withLock { $0.passed } }, memory: memory)
        }
    }

    static let day: Int64 = 86_400
    static let year = 365 * day

    @Test func aSteadyClockIsBelieved_andCorrectionsAreFollowed() {
        let clocks = Clocks()
        let watch = clocks.watch()
        for correction in [0, 1, -1, 60, -60, 59] as [Int64] {
            clocks.pass(5000)
            clocks.set(by: correction)
            #expect(watch.reading == ClockGuard.Reading(now: clocks.wall, earliest: clocks.wall))
            #expect(watch.settled == clocks.wall)
        }
    }

    @Test(arguments: [3600, 5 * 3600, 20 * day, year] as [Int64])
    func aJumpIsDoubtedForATwentyFourthOfIt_aDayAtMost(jump: Int64) {
        for sign in [1, -1] as [Int64] {
            let clocks = Clocks()
            let watch = clocks.watch()
            clocks.set(by: sign * jump)
            let other = { clocks.wall + .seconds(-sign * jump) }
            let doubt = min(jump / 24, Self.day)
            #expect(watch.reading.now == max(clocks.wall, other()))
            #expect(watch.reading.earliest == min(clocks.wall, other()))
            clocks.pass(doubt - 1)
            #expect(watch.reading.now == max(clocks.wall, other()))
            #expect(watch.reading.earliest == min(clocks.wall, other()))
            clocks.pass(1)
            #expect(watch.reading == ClockGuard.Reading(now: clocks.wall, earliest: clocks.wall))
        }
    }

    @Test func aClockThatComesBackWasWrongForAMoment() {
        let clocks = Clocks()
        let watch = clocks.watch()
        for jump in [Self.year, -Self.year, 7200] {
            clocks.set(by: jump)
            #expect(watch.reading.now != watch.reading.earliest)
            clocks.pass(200)
            clocks.set(by: -jump)
            #expect(watch.reading == ClockGuard.Reading(now: clocks.wall, earliest: clocks.wall))
        }
    }

    @Test func aClockThatGoesOnJumpingIsNotBelieved() {
        let clocks = Clocks()
        let watch = clocks.watch()
        let start = clocks.wall
        for number in 1...10 as ClosedRange<Int64> {
            clocks.set(by: Self.day)
            #expect(watch.reading.earliest == start + .seconds((number - 1) * 3000))
            clocks.pass(3000)
        }
    }

    @Test func aRestartRemembers() {
        let clocks = Clocks()
        let before = clocks.watch().memory
        clocks.set(by: Self.year)
        for _ in 0..<3 {
            // Each takes a minute, and leaves the truth behind.
            let watch = clocks.watch(before)
            #expect(watch.reading.earliest == before.believed)
            #expect(watch.reading.now == clocks.wall)
        }
        let memory = clocks.watch(before).memory
        #expect(memory.believed == before.believed)
        #expect(memory.settled <= before.settled + .seconds(Self.day))
        clocks.set(by: -Self.year)
        #expect(clocks.watch(memory).reading == ClockGuard.Reading(now: clocks.wall, earliest: clocks.wall))
    }

    @Test func aPauseIsBelievedSoonAfterIt() {
        let clocks = Clocks()
        let memory = clocks.watch().memory
        clocks.set(by: 2 * Self.day)
        let watch = clocks.watch(memory)
        #expect(watch.reading.earliest == memory.believed)
        clocks.pass(2 * 3600)
        #expect(watch.reading.earliest == clocks.wall)
    }

    @Test func theTimeOfCleanUpRunsTwiceAsFastAtMost() {
        let clocks = Clocks()
        let watch = clocks.watch()
        let start = watch.settled
        clocks.set(by: Self.year)
        for number in 1...40 as ClosedRange<Int64> {
            clocks.pass(Self.day)
            #expect(watch.settled <= start + .seconds(2 * number * Self.day))
        }
        // Never later than the clock, and caught up in time.
        clocks.set(by: -Self.year)
        #expect(watch.settled <= clocks.wall)
        clocks.set(by: 10 * Self.day)
        _ = watch.settled
        clocks.pass(Self.day)
        _ = watch.settled
        clocks.pass(20 * Self.day)
        #expect(watch.settled == clocks.wall)
    }

    @Test func whatHasEndedByOneOfTwoTimesIsNotDecided() {
        let start = Sample.start
        let end = start + SessionSettings.defaults.offlineSessionIdle
        var session = Sample.session()
        let untouched = session
        #expect(Self.decide(&session, now: end, earliest: end + .seconds(-1)) == .undecided)
        #expect(session == untouched)
        #expect(Self.decide(&session, now: end + .seconds(-1), earliest: start) == .rotated)
        session = untouched
        #expect(Self.decide(&session, now: end + .seconds(9), earliest: end) == .refused(.ended(.idleExpired)))
        #expect(session.ending?.at == end)
    }

    private static func decide(_ session: inout Session, now: Instant, earliest: Instant) -> RefreshDecision {
        Sample.policy.renew(
            RefreshAttempt(serial: session.child, clientID: session.clientID), &session,
            user: User(id: session.userID, username: "anna", createdAt: Sample.start),
            client: Client(id: session.clientID, createdAt: Sample.start, epoch: session.epoch),
            settings: Settings(epoch: session.epoch), now: now, earliest: earliest)
    }
}
