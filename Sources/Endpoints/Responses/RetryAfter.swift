public import Cryptography
internal import HTTP
internal import Locks

/// The `Retry-After` of every answer of a server that refuses for want of something: those of its endpoints, and those that the
/// engine makes itself.
public final class RetryAfter: Sendable {
    private let policy = Locked(RetryAfterPolicy())
    private let random: RandomSource
    private let now: @Sendable () -> ContinuousClock.Instant

    /// A server that has refused nothing yet. `now` is a clock that cannot be set.
    public init(
        random: RandomSource, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.random = random
        self.now = now
    }

    /// The seconds for an answer that refuses now. Each call counts as a refusal.
    public func seconds() -> Int {
        let number = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return policy.withLock { $0.seconds(at: now(), random: number) }
    }
}
