/// A point in time, in whole seconds since 1970-01-01T00:00:00Z.
///
/// Whole seconds are enough and make every boundary exact: an end is a whole second, so `now < end` gives the same
/// answer for a clock with fractions as for one without.
public struct Instant: Hashable, Comparable, Sendable {
    /// Seconds since the Unix epoch, as the wire and the database have them.
    public var secondsSinceEpoch: Int64

    /// The instant that many seconds after the Unix epoch.
    public init(secondsSinceEpoch: Int64) { self.secondsSinceEpoch = secondsSinceEpoch }

    /// The earlier of two instants is the smaller one.
    public static func < (a: Instant, b: Instant) -> Bool { a.secondsSinceEpoch < b.secondsSinceEpoch }

    /// The instant `duration` later; saturates instead of overflowing, so that an absurd setting cannot trap.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.secondsSinceEpoch.addingReportingOverflow(duration.wholeSeconds)
        return Instant(secondsSinceEpoch: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time that has passed from `earlier` to `later`; negative when the clock was set back in between.
    public static func - (later: Instant, earlier: Instant) -> Duration {
        let (difference, overflow) = later.secondsSinceEpoch.subtractingReportingOverflow(earlier.secondsSinceEpoch)
        return .seconds(overflow ? (later < earlier ? .min : .max) : difference)
    }
}

extension Duration {
    /// The duration in whole seconds, fractions dropped: what the wire and the database carry.
    public var wholeSeconds: Int64 { components.seconds }
}

/// Where the domain gets the time from: given once at the start, so that a test can move it.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Instant
    private let readPrecisely: (@Sendable () -> Duration)?

    /// A clock that answers with `read`, and with `precisely` to who compares clocks.
    public init(_ read: @escaping @Sendable () -> Instant, precisely: (@Sendable () -> Duration)? = nil) {
        self.read = read
        readPrecisely = precisely
    }

    /// The present instant.
    public var now: Instant { read() }

    /// The time since 1970, with fractions of a second if the clock has them.
    public var sinceEpoch: Duration { readPrecisely?() ?? .seconds(now.secondsSinceEpoch) }
}
