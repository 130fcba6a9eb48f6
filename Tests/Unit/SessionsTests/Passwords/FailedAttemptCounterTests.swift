import Cryptography
import Testing

@testable import Sessions

/// The counter behind the delays, apart from the passwords.
struct FailedAttemptCounterTests {
    private static let key = AttemptSubject.name("anna")
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    private func counterWithDelays() -> FailedAttemptCounter {
        let counter = FailedAttemptCounter(LockoutPolicy())
        for _ in 0..<LockoutPolicy().triesBeforeDelay { counter.count(Self.key, at: Self.start) }
        return counter
    }

    /// Many tries at once must not all slip through before the first of them has failed.
    @Test func oneTryPassesAtATime() {
        let counter = counterWithDelays()
        let later = Self.start + .seconds(1)
        #expect(counter.wait(Self.key, at: later) == nil)
        #expect(counter.wait(Self.key, at: later) == .seconds(1))
    }

    /// A lock that an admin has lifted lifts nothing of what was counted after that.
    @Test func forgettingUpToAMomentKeepsWhatCameAfter() {
        let counter = counterWithDelays()
        counter.forget(Self.key, upTo: Self.start + .seconds(-1))
        #expect(counter.wait(Self.key, at: Self.start) != nil)
        counter.forget(Self.key, upTo: Self.start)
        #expect(counter.wait(Self.key, at: Self.start) == nil)
    }

    /// What comes after a lifting leaves it known, for a day, and never becomes a lock by it.
    @Test func aLiftingOutlivesWhatComesAfter() {
        let (policy, lifted) = (LockoutPolicy(), User.WrongPasswords(count: 0, lastAt: Self.start))
        for seconds in [-5, 0, 5, 86_400] as [Int64] {
            let now = Self.start + .seconds(seconds)
            let wrong = policy.adding(to: policy.adding(to: lifted, at: now), at: now)
            #expect(wrong.liftedAt == min(now, Self.start))
            #expect(wrong.lockEnd == nil)
            #expect(wrong.lockedUntil.map { now < $0 } != true)
        }
        #expect(policy.adding(to: lifted, at: Self.start + .seconds(86_401)).liftedAt == nil)
        let locked = (1...20).reduce(lifted) { wrong, _ in policy.adding(to: wrong, at: Self.start) }
        #expect(locked.lockEnd == Self.start + policy.lockDuration)
        #expect(locked.liftedAt == nil)
    }

    @Test func everyNameIsCountedByItself() {
        let counter = counterWithDelays()
        for name in ["bert", ""] { #expect(counter.wait(.name(name), at: Self.start) == nil) }
        #expect(counter.wait(.user(Identifier(random: .system)), at: Self.start) == nil)
    }

    /// What all nodes count together: the delays follow from the count and the last one alone.
    @Test(
        arguments: [
            (0, 0), (9, 0), (10, 1), (11, 2), (15, 32), (16, 60), (19, 60), (20, 900), (21, 900),
        ] as [(Int, Int64)])
    func howLongToWaitFollowsFromTheCount(_ count: Int, _ seconds: Int64) {
        let (policy, failedAttempts) = (LockoutPolicy(), FailedAttempts(count: count, lastAt: Self.start))
        for second in [0, seconds - 1, seconds] where second >= 0 {
            let now = Self.start + .seconds(second)
            let left = second < seconds ? Duration.seconds(seconds - second) : nil
            #expect(policy.wait(after: failedAttempts, at: now) == left)
            #expect(policy.lock(after: failedAttempts, at: now) == (count < 20 ? nil : left))
        }
    }

    @Test func aRowThatHasPausedForADayBeginsAnew() {
        let (policy, failedAttempts) = (LockoutPolicy(), FailedAttempts(count: 19, lastAt: Self.start))
        let (day, later) = (Self.start + .seconds(86_400), Self.start + .seconds(86_401))
        #expect(policy.adding(to: failedAttempts, at: day) == FailedAttempts(count: 20, lastAt: day))
        #expect(policy.adding(to: failedAttempts, at: later) == FailedAttempts(count: 1, lastAt: later))
        #expect(policy.delay(after: failedAttempts, at: day) == .seconds(60))
        #expect(policy.delay(after: failedAttempts, at: later) == .zero)
        // Of two nodes one may be behind.
        #expect(
            policy.adding(to: failedAttempts, at: Self.start + .seconds(-1))
                == FailedAttempts(count: 20, lastAt: Self.start))
    }

    /// What all nodes count together: a device that is called like a session is still none.
    @Test func everyTargetIsCountedByItself() {
        let (anna, bert) = (Identifier<User>(words: (1, 1)), Identifier<User>(words: (1, 2)))
        let (one, other) = (Identifier<Session>(words: (2, 1)), Identifier<Session>(words: (2, 2)))
        let targets: [LockoutTarget] = [
            .session(one, of: anna), .session(other, of: anna), .device(one.description, of: anna),
            .device("phone", of: anna), .device("phone", of: bert),
        ]
        #expect(Set(targets.map(\.digest)).count == targets.count)
    }
}
