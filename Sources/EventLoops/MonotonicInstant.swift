import Glibc

/// A monotonic clock; tests pass their own.
public typealias MonotonicClock = @Sendable () -> MonotonicInstant

/// A moment on a clock that never jumps: nanoseconds since an arbitrary start.
public struct MonotonicInstant: Comparable, Sendable {
    /// Nanoseconds since the clock's start.
    public var nanoseconds: Int64

    /// A moment that never comes.
    public static let never = MonotonicInstant(nanoseconds: .max)

    /// Creates a moment from nanoseconds since the clock's start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Reads CLOCK_MONOTONIC.
    @Sendable public static func system() -> MonotonicInstant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Returns true if the left moment is earlier.
    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Adds a duration to a moment. The result is clamped at 292 years.
    public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return MonotonicInstant(nanoseconds: seconds < 0 ? .min : .max) }
        let (sum, tooFar) = instant.nanoseconds.addingReportingOverflow(whole + attoseconds / 1_000_000_000)
        return MonotonicInstant(nanoseconds: tooFar ? (whole < 0 ? .min : .max) : sum)
    }

    /// Adds nanoseconds to a moment. The result is clamped at 292 years.
    public func advanced(byNanoseconds count: Int64) -> MonotonicInstant {
        let (sum, tooFar) = nanoseconds.addingReportingOverflow(count)
        return MonotonicInstant(nanoseconds: tooFar ? (count < 0 ? .min : .max) : sum)
    }

    /// Returns the milliseconds from `now` to this moment, rounded up, between 0 and one minute.
    ///
    /// The caller reads the clock again after waiting. The bound limits the effect of a clock that a test moves.
    func millisecondsAfter(_ now: MonotonicInstant) -> Int32 {
        if self <= now { return 0 }
        let (distance, overflow) = nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        if overflow || distance > 60_000_000_000 { return 60_000 }
        return Int32((distance + 999_999) / 1_000_000)
    }
}
