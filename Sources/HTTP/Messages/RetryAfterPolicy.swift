/// Decides the `Retry-After` of answers that refuse for want of something: a database, a place in a queue.
///
/// The longer the server has refused, the longer it asks clients to wait, so that those of a long outage come back over half a
/// minute and not in one second. Each answer is random, because clients that were refused together would return together.
public struct RetryAfterPolicy: Sendable {
    /// The range of answers ends here at first, in seconds, and when the server has refused for long. With 40 the mean is 30, at
    /// which the phones that waited and those that are due make less than three times the usual rate.
    public static let limits = 2...40
    /// The end of the range of answers while an identity provider fails, in seconds.
    public static let providerLimit = 10
    /// Refusals that follow each other within this time belong to one outage. It is short, because a refusal now and then is none.
    public static let pause = Duration.seconds(1)

    /// For how long the server has refused; it shrinks by the time in which it did not.
    private var refused = Duration.zero
    private var last: ContinuousClock.Instant?

    /// A policy of a server that has refused nothing yet.
    public init() {}

    /// The seconds for an answer that refuses at `now`: from half of the limit up to the limit.
    ///
    /// - Parameter random: evenly distributed.
    public mutating func seconds(at now: ContinuousClock.Instant, random: UInt64) -> Int {
        if let last {
            let passed = now - last
            let longest = Duration.seconds(Self.limits.upperBound)
            refused = passed <= Self.pause ? min(longest, refused + passed) : max(.zero, refused - passed)
        }
        last = now
        let limit = max(Self.limits.lowerBound, Int((refused / .seconds(1)).rounded(.up)))
        return Self.seconds(upTo: limit, random: random)
    }

    /// The seconds for an answer that refuses for a cause which other calls do not have: from half of `limit` up to `limit`.
    ///
    /// - Parameter random: evenly distributed.
    public static func seconds(upTo limit: Int, random: UInt64) -> Int {
        let least = (limit + 1) / 2
        return least + Int(random % UInt64(limit - least + 1))
    }
}
