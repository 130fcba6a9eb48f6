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

    /// The seconds for an answer that refuses now for want of what most calls need, such as the database. Each call counts as a
    /// refusal of an outage.
    public func seconds() -> Int {
        let number = number()
        return policy.withLock { $0.seconds(at: now(), random: number) }
    }

    /// The seconds for an answer that refuses for another cause: from half of `limit` up to `limit`, however long the server has
    /// refused. It does not count, because it says nothing of the calls without that cause.
    public func seconds(upTo limit: Int) -> Int { RetryAfterPolicy.seconds(upTo: limit, random: number()) }

    /// The seconds for an answer of the engine, which refuses because the whole server is busy, or for another cause.
    public func seconds(isOverload: Bool) -> Int {
        isOverload ? seconds() : seconds(upTo: RetryAfterPolicy.limits.lowerBound)
    }

    private func number() -> UInt64 { random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
}
