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

    private static let bcrypt = "$2b$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e"

    @Test func aForeignHash_isVerified_andToBeMadeAnew() async throws {
        let hasher = PasswordHasher(scrypt: try #require(Scrypt(logN: 4, r: 8, p: 1)))
        let hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"
        #expect(PasswordHasher.canVerify(hash))
        #expect(hasher.needsRehash(hash))
        #expect(try await hasher.verify("U*U*", against: hash, for: .stranger))
        #expect(try await !hasher.verify("U*U", against: hash, for: .stranger))
        #expect(try await !hasher.verify("", against: hash, for: .stranger))
        #expect(try await !hasher.verify("U*U*\0", against: hash, for: .stranger))
        #expect(try await !hasher.verify("U*U*", against: hash + "x", for: .stranger))
        #expect(!PasswordHasher.canVerify(hash + "x"))
        #expect(PasswordHasher.canVerify(try await hasher.hash("correct horse", for: .stranger)))
    }

    @Test func aForeignHash_ofWhatWasNotNormalised_isVerifiedAsTyped() async throws {
        let hasher = PasswordHasher(scrypt: try #require(Scrypt(logN: 4, r: 8, p: 1)))
        // hashlib.pbkdf2_hmac("sha256", "passwo\u0308rd", "s", 10)
        let hash = "pbkdf2_sha256$10$s$DUgViFFbuNMr8G/HzScY5QkS8+qrIpfZOa6JvFdCG+8="
        #expect(try await hasher.verify("passwo\u{308}rd", against: hash, for: .stranger))
        #expect(try await !hasher.verify("passw\u{F6}rd", against: hash, for: .stranger))
    }

    @Test func aForeignHash_takesAsLongAsNone() async throws {
        let hasher = PasswordHasher(scrypt: try #require(Scrypt(logN: 15, r: 8, p: 1)))
        func duration(_ hash: String?) async throws -> Duration {
            let start = ContinuousClock.now
            #expect(try await !hasher.verify("wrong", against: hash, for: .stranger))
            return ContinuousClock.now - start
        }
        // Measured in turn, so that other work on the machine delays both, and until the shortest of each agree: other work
        // only adds time.
        var (foreign, none) = (Duration.seconds(1000), Duration.seconds(1000))
        for round in 1...40 {
            foreign = min(foreign, try await duration(Self.bcrypt))
            none = min(none, try await duration(nil))
            if round >= 7, (0.7...1.5).contains(foreign / none) { break }
        }
        #expect((0.7...1.5).contains(foreign / none), "\(foreign / none)")
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
        let hash = try await hasher.hash("correct horse", for: .stranger)
        #expect(try await hasher.verify("correct horse", against: hash, for: .stranger))
        step.store(11, ordering: .relaxed)
        await #expect(throws: ServiceError.overloaded) {
            try await hasher.verify("correct horse", against: hash, for: .stranger)
        }
        await #expect(throws: ServiceError.overloaded) {
            try await hasher.verify("correct horse", against: nil, for: .stranger)
        }
        await #expect(throws: ServiceError.overloaded) { try await hasher.hash("correct horse", for: .stranger) }
    }
}

extension PasswordHasher.Requester {
    /// A login from some address.
    static let stranger = Self(Origin(actor: Origin.userActor, remoteAddress: "192.0.2.1"), clientID: "mobile")
}
