/// How long to wait after an attempt without an answer.
package struct RetrySchedule: Hashable, Sendable {
    /// The longest waits before the first, the second and the third retry of one renewal.
    private static let withinRenewal: [Duration] = [.milliseconds(500), .seconds(2), .seconds(5)]
    /// The longest waits after one, two, three renewals in a row that failed; the last one repeats.
    private static let betweenRenewals: [Duration] = [.seconds(5), .seconds(10), .seconds(30), .seconds(60)]
    /// The longest wait of a caller that has no token which works.
    private static let withoutTokenMax = Duration.seconds(30)
    /// The longest waits beyond `Retry-After` after one, two renewals in a row that failed, of a caller with a token that works; the
    /// last one repeats.
    private static let beyondRetryAfter: [Duration] = [.seconds(10), .seconds(20)]
    /// No server can make a client wait longer than this, because a wrong answer of a proxy would stop it for ever.
    package static let retryAfterMax: Int64 = 3600
    /// The longest `Retry-After` for which one renewal waits. A longer one ends the renewal, and holds the next one back.
    package static let retryAfterWithinRenewalMax: Int64 = 5

    private var failures = 0
    /// The uptime before which no renewal begins.
    private var heldUntil: Duration?
    /// The uptime before which no renewal begins for callers with a token that works: not before `heldUntil`.
    private var patientUntil: Duration?
    /// Whether the server asked for the wait.
    private var isServersWord = false

    /// A schedule without failures.
    package init() {}

    /// The wait before the retry of that number (1 is the first) within one renewal.
    ///
    /// - Parameter random: evenly distributed. A wait has any length up to the longest one, so that the clients which an outage
    ///   brought into step do not come back together.
    package static func wait(attempt: Int, retryAfter: Int64?, random: UInt64) -> Duration {
        if let retryAfter { return asked(retryAfter, random) }
        return part(of: step(attempt, of: withinRenewal), random)
    }

    /// The wait that the server asks for. Up to a second is added, because `Retry-After` has whole seconds: clients that were refused
    /// together would come in as many steps.
    private static func asked(_ retryAfter: Int64, _ random: UInt64) -> Duration {
        let seconds = Duration.seconds(min(max(retryAfter, 0), retryAfterMax))
        return seconds > .zero ? seconds + part(of: .seconds(1), random) : .zero
    }

    /// A renewal got no answer of the server. The wait that follows holds all callers back, those with a token that works for
    /// longer, because they lose nothing and make room for the others.
    package mutating func noteFailure(at uptime: Duration, retryAfter: Int64?, random: UInt64) {
        failures += 1
        isServersWord = retryAfter != nil
        if let retryAfter {
            let until = uptime + Self.asked(retryAfter, random)
            heldUntil = until
            patientUntil = until + Self.part(of: Self.step(failures, of: Self.beyondRetryAfter), random)
        } else {
            let longest = Self.step(failures, of: Self.betweenRenewals)
            heldUntil = uptime + Self.part(of: min(longest, Self.withoutTokenMax), random)
            patientUntil = uptime + Self.part(of: longest, random)
        }
    }

    private static func step(_ number: Int, of waits: [Duration]) -> Duration {
        waits[min(max(number, 1), waits.count) - 1]
    }

    /// The server has answered.
    package mutating func noteAnswer() { self = RetrySchedule() }

    /// The app has come to the foreground: the network may be another one. What the server asked for holds.
    package mutating func noteStart() {
        if !isServersWord { heldUntil = nil }
        patientUntil = heldUntil
    }

    /// How long the next renewal is held back; nil: it may begin.
    ///
    /// - Parameter hasToken: whether the caller has a token that works, and can wait.
    package func hold(at uptime: Duration, hasToken: Bool = false) -> Duration? {
        guard let until = hasToken ? patientUntil : heldUntil, until > uptime else { return nil }
        return until - uptime
    }

    private static func part(of longest: Duration, _ random: UInt64) -> Duration {
        longest * (Double(random >> 11) / Double(1 << 53))
    }
}
