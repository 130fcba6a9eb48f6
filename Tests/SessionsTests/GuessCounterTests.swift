import Testing

@testable import Sessions

/// The counter behind the delays, apart from the passwords.
struct GuessCounterTests {
    private static let key = GuessCounter.Key(usernameKey: "anna")
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
}
