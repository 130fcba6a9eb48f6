import Cryptography
import Testing

@testable import Sessions

/// The counter behind the delays, apart from the passwords.
struct GuessCounterTests {
    private static let key = GuessCounter.Key.user("anna")
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    private func counterWithDelays() -> GuessCounter {
        let counter = GuessCounter(GuessPolicy())
        for _ in 0..<GuessPolicy().triesBeforeDelay { counter.count(Self.key, at: Self.start) }
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
        let (policy, lifted) = (GuessPolicy(), User.WrongPasswords(count: 0, lastAt: Self.start))
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

    /// The rows of one user know nothing of each other, nor do two sessions.
    @Test func everyKeyIsCountedByItself() {
        let counter = counterWithDelays()
        let sessions = (1...2).map { _ in GuessCounter.Key.session(Identifier(random: .system)) }
        for _ in 1...10 { counter.count(sessions[0], at: Self.start) }
        #expect(counter.wait(sessions[0], at: Self.start) != nil)
        for key in [sessions[1], .device("anna", ""), .user("")] { #expect(counter.wait(key, at: Self.start) == nil) }
    }
}
