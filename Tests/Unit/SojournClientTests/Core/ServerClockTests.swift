import SojournClient
import Testing

struct ServerClockTests {
    @Test func beforeAnyAnswer_theWallClockAtTheStartCounts_withTheStoredOffset() {
        var clock = ServerClock(wall: 1000, uptime: .seconds(50))
        #expect(clock.now(uptime: .seconds(50)) == 1000)
        clock.recall(offset: -300)
        #expect(clock.now(uptime: .seconds(60)) == 710)
        #expect(!clock.isAnchored && clock.offset(wall: 1010, uptime: .seconds(60)) == nil)
    }

    @Test func answer_anchorsTheClock() {
        var clock = ServerClock(wall: 1000, uptime: .zero)
        clock.note(server: 90_000, sentAt: .seconds(10), receivedAt: .seconds(11))
        #expect(clock.isAnchored && clock.now(uptime: .seconds(111)) == 90_100)
        #expect(clock.offset(wall: 1111, uptime: .seconds(111)) == 88_989)
    }

    @Test func slowAnswer_saysNothing() {
        var clock = ServerClock(wall: 1000, uptime: .zero)
        clock.note(server: 90_000, sentAt: .zero, receivedAt: .seconds(6))
        #expect(!clock.isAnchored)
    }

    @Test func fastestAnswerOfTheHour_counts() {
        var clock = ServerClock(wall: 0, uptime: .zero)
        clock.note(server: 1000, sentAt: .zero, receivedAt: .milliseconds(100))
        clock.note(server: 1008, sentAt: .seconds(6), receivedAt: .seconds(10))
        #expect(clock.now(uptime: .seconds(10)) == 1009)
        clock.note(server: 5000, sentAt: .seconds(3998), receivedAt: .seconds(4002))
        #expect(clock.now(uptime: .seconds(4002)) == 5000)
    }

    @Test func serverWithAClockThatWasSet_isBelieved() {
        var clock = ServerClock(wall: 0, uptime: .zero)
        clock.note(server: 1000, sentAt: .zero, receivedAt: .milliseconds(10))
        clock.note(server: 5000, sentAt: .seconds(10), receivedAt: .seconds(12))
        #expect(clock.now(uptime: .seconds(12)) == 5000)
    }
}

struct RetryScheduleTests {
    @Test func waitsWithinARenewal_areRandomUpToTheirLongest() {
        let longest: [(Int, Duration)] = [
            (1, .milliseconds(500)), (2, .seconds(2)), (3, .seconds(5)), (9, .seconds(5)),
        ]
        for (attempt, wait) in longest {
            #expect(RetrySchedule.wait(attempt: attempt, retryAfter: nil, random: 0) == .zero)
            let most = RetrySchedule.wait(attempt: attempt, retryAfter: nil, random: .max)
            #expect(most < wait && most > wait * 0.999)
            #expect(RetrySchedule.wait(attempt: attempt, retryAfter: nil, random: 1 << 63) == wait / 2)
        }
    }

    @Test func serversWord_wins() {
        #expect(RetrySchedule.wait(attempt: 1, retryAfter: 7, random: 0) == .seconds(7))
        let longest = RetrySchedule.wait(attempt: 1, retryAfter: 7, random: .max)
        #expect(longest > .milliseconds(7990) && longest < .seconds(8))
        #expect(RetrySchedule.wait(attempt: 1, retryAfter: 0, random: .max) == .zero)
        var schedule = RetrySchedule()
        schedule.noteFailure(at: .seconds(100), retryAfter: 30, random: 0)
        #expect(schedule.hold(at: .seconds(129)) == .seconds(1))
        schedule.noteStart()
        #expect(schedule.hold(at: .seconds(129)) == .seconds(1))
        #expect(schedule.hold(at: .seconds(130)) == nil)
    }

    @Test("with a token that works the wait grows beyond Retry-After, and without one it does not")
    func growth() {
        var schedule = RetrySchedule()
        for longest in [10, 20, 20] as [Int64] {
            schedule.noteFailure(at: .zero, retryAfter: 30, random: 1 << 63)
            let asked = Duration.seconds(30) + .milliseconds(500)
            #expect(schedule.hold(at: .zero) == asked)
            #expect(schedule.hold(at: .zero, hasToken: true) == asked + .seconds(longest) / 2)
        }
        // In the foreground the app asks as soon as the server allows.
        schedule.noteStart()
        #expect(schedule.hold(at: .zero, hasToken: true) == schedule.hold(at: .zero))
    }

    @Test func failuresInARow_waitLonger_andAnAnswerForgetsThem() {
        var schedule = RetrySchedule()
        for wait in [5, 10, 30, 60, 60] as [Int64] {
            schedule.noteFailure(at: .zero, retryAfter: nil, random: 1 << 63)
            #expect(schedule.hold(at: .zero, hasToken: true) == .seconds(wait) / 2)
            #expect(schedule.hold(at: .zero) == .seconds(min(wait, 30)) / 2)
        }
        schedule.noteAnswer()
        #expect(schedule.hold(at: .zero) == nil)
        schedule.noteFailure(at: .zero, retryAfter: nil, random: .max)
        schedule.noteStart()
        #expect(schedule.hold(at: .zero) == nil)
    }
}
