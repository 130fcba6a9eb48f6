internal import Locks

/// How often devices and backends may ask for the result of a login: once in each interval, which grows by five seconds with
/// each poll that comes too soon (RFC 8628 section 3.5, OpenID Connect CIBA section 11).
///
/// Each node has its own, in bounded memory. A login that is forgotten begins with the first interval again, which only lets
/// its client ask sooner.
final class PollPaces: Sendable {
    private struct Pace {
        /// The time between two polls, in nanoseconds.
        var interval: Int64
        /// The time of the last poll, in nanoseconds of the stopwatch.
        var polledAt: Int64
    }

    private static let second: Int64 = 1_000_000_000
    /// By how much a poll that comes too soon increases the interval.
    static let step = 5 * second
    /// The longest interval, so that a client that has erred for long is not kept from its tokens.
    static let intervalMax = 60 * second
    /// How much sooner than told a poll may come, because the way of the one before may have been longer.
    private static let tolerance = second
    /// The largest number of logins that are remembered.
    static let countMax = 16_384

    private let first: Int64
    /// By the hash of the secret with a random seed of the process.
    private let paces = Locked<[Int: Pace]>([:])

    /// Creates paces that begin with `interval`.
    init(_ interval: Duration) { first = interval.components.seconds * Self.second }

    /// The number of logins that are remembered.
    var count: Int { paces.withLock { $0.count } }

    /// Notes a poll for the login with this secret at `now`. True if it comes too soon.
    func isTooSoon(_ secret: String, at now: Int64) -> Bool {
        let key = secret.hashValue
        return paces.withLock { paces in
            guard var pace = paces[key] else {
                if paces.count >= Self.countMax { Self.makeRoom(in: &paces, at: now) }
                paces[key] = Pace(interval: first, polledAt: now)
                return false
            }
            let isTooSoon = now < pace.polledAt + pace.interval - Self.tolerance
            if isTooSoon { pace.interval = min(pace.interval + Self.step, Self.intervalMax) }
            pace.polledAt = now
            paces[key] = pace
            return isTooSoon
        }
    }

    /// Forgets the logins that were not polled for the longest interval; all, if that is less than half of them.
    private static func makeRoom(in paces: inout [Int: Pace], at now: Int64) {
        paces = paces.filter { now < $0.value.polledAt + intervalMax }
        if paces.count > countMax / 2 { paces = [:] }
    }
}
