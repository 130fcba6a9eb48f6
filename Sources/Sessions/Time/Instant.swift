/// A point in time, in whole seconds since 1970-01-01T00:00:00Z.
///
/// Whole seconds suffice and make every boundary exact. An end is a whole second, so that `now < end` gives the same answer for
/// a clock with fractions as for one without.
public struct Instant: Hashable, Comparable, Sendable {
    /// Seconds since the Unix epoch, as on the wire and in the database.
    public var secondsSinceEpoch: Int64

    /// Creates the instant that many seconds after the Unix epoch.
    public init(secondsSinceEpoch: Int64) { self.secondsSinceEpoch = secondsSinceEpoch }

    /// Returns true if `a` is earlier than `b`.
    public static func < (a: Instant, b: Instant) -> Bool { a.secondsSinceEpoch < b.secondsSinceEpoch }

    /// Returns the instant `duration` later. It saturates instead of overflowing, so that an absurd setting cannot trap.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.secondsSinceEpoch.addingReportingOverflow(duration.wholeSeconds)
        return Instant(secondsSinceEpoch: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the time from `earlier` to `later`; negative if the clock was set back in between.
    public static func - (later: Instant, earlier: Instant) -> Duration {
        let (difference, overflow) = later.secondsSinceEpoch.subtractingReportingOverflow(earlier.secondsSinceEpoch)
        return .seconds(overflow ? (later < earlier ? .min : .max) : difference)
    }
}

extension Duration {
    /// The duration in whole seconds without fractions, as on the wire and in the database.
    public var wholeSeconds: Int64 { components.seconds }
}

/// The domain's source of time. It is given once at the start, so that a test can move it.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Instant
    private let readPrecisely: (@Sendable () -> Duration)?

    /// Creates a clock that reads `read`. `precisely` gives fractions of a second, to compare clocks.
    public init(_ read: @escaping @Sendable () -> Instant, precisely: (@Sendable () -> Duration)? = nil) {
        self.read = read
        readPrecisely = precisely
    }

    /// The current time.
    public var now: Instant { read() }

    /// The time since 1970, with fractions of a second if the clock has them.
    public var sinceEpoch: Duration { readPrecisely?() ?? .seconds(now.secondsSinceEpoch) }
}
