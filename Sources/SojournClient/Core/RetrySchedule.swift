/// How long to wait after an attempt without an answer.
package struct RetrySchedule: Hashable, Sendable {
    /// The longest waits before the first, the second and the third retry of one renewal.
    private static let withinRenewal: [Duration] = [.milliseconds(500), .seconds(2), .seconds(5)]
    /// The longest waits after one, two, three renewals in a row that failed; the last one repeats.
    private static let betweenRenewals: [Duration] = [.seconds(5), .seconds(10), .seconds(30), .seconds(60)]
    /// No server can make a client wait longer than this, because a wrong answer of a proxy would stop it for ever.
    package static let retryAfterMax: Int64 = 3600
    /// The longest `Retry-After` for which one renewal waits. A longer one ends the renewal, and holds the next one back.
    package static let retryAfterWithinRenewalMax: Int64 = 5

    private var failures = 0
    /// The uptime before which no renewal begins.
    package private(set) var heldUntil: Duration?
    /// Whether the server asked for the wait.
    private var isServersWord = false

    /// A schedule without failures.
    package init() {}

    /// The wait before the retry of that number (1 is the first) within one renewal.
    ///
    /// - Parameter random: evenly distributed. A wait has any length up to the longest one, so that the clients which an outage
    ///   brought into step do not come back together.
    package static func wait(attempt: Int, retryAfter: Int64?, random: UInt64) -> Duration {
        if let retryAfter { return .seconds(min(max(retryAfter, 0), retryAfterMax)) }
        return part(of: withinRenewal[min(max(attempt, 1), withinRenewal.count) - 1], random)
    }

    /// A renewal got no answer of the server. The wait that follows holds all callers back.
    package mutating func noteFailure(at uptime: Duration, retryAfter: Int64?, random: UInt64) {
        failures += 1
        isServersWord = retryAfter != nil
        let wait =
            retryAfter.map { Duration.seconds(min(max($0, 0), Self.retryAfterMax)) }
            ?? Self.part(of: Self.betweenRenewals[min(failures, Self.betweenRenewals.count) - 1], random)
        heldUntil = uptime + wait
    }

    /// The server has answered.
    package mutating func noteAnswer() { self = RetrySchedule() }

    /// The app has come to the foreground: the network may be another one. What the server asked for holds.
    package mutating func noteStart() {
        if !isServersWord { heldUntil = nil }
    }

    /// How long the next renewal is held back; nil: it may begin.
    package func hold(at uptime: Duration) -> Duration? {
        guard let heldUntil, heldUntil > uptime else { return nil }
        return heldUntil - uptime
    }

    private static func part(of longest: Duration, _ random: UInt64) -> Duration {
        longest * (Double(random >> 11) / Double(1 << 53))
    }
}
