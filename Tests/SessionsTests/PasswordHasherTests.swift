import Cryptography
import Synchronization
import Testing

@testable import Sessions

@Suite struct PasswordHasherTests {
    /// A monotonic clock that a test moves.
    private final class Stopwatch: Sendable {
        let start = ContinuousClock.now
        let seconds = Atomic<Int>(0)
        var now: ContinuousClock.Instant { start + .seconds(seconds.load(ordering: .relaxed)) }
    }

    @Test func aPasswordThatWaitedTooLong_isNotHashedAnyMore() async throws {
        let stopwatch = Stopwatch()
        let scrypt = try #require(Scrypt(logN: 4, r: 8, p: 1))
        let calls = Atomic<Int>(0)
        let step = Atomic<Int>(0)
        let hasher = PasswordHasher(scrypt: scrypt, width: 1) {
            // Every second reading is that of the turn: so much later the password comes to it.
            let isTurn = calls.add(1, ordering: .relaxed).newValue.isMultiple(of: 2)
            if isTurn { stopwatch.seconds.add(step.load(ordering: .relaxed), ordering: .relaxed) }
            return stopwatch.now
        }
        step.store(10, ordering: .relaxed)
        let hash = try await hasher.hash("correct horse")
        #expect(try await hasher.verify("correct horse", against: hash))
        step.store(11, ordering: .relaxed)
        await #expect(throws: ServiceError.overloaded) { try await hasher.verify("correct horse", against: hash) }
        await #expect(throws: ServiceError.overloaded) { try await hasher.verify("correct horse", against: nil) }
        await #expect(throws: ServiceError.overloaded) { try await hasher.hash("correct horse") }
    }
}
