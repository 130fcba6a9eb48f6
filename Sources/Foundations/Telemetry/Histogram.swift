internal import Synchronization

/// Counts observations in fixed buckets. Each observation costs two atomic additions, from any thread.
public final class Histogram: Sendable {
    /// Buckets for durations in seconds, from half a millisecond to ten seconds.
    public static let latencyBuckets = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// The upper bounds of the buckets, ascending. One more bucket without an upper bound follows.
    public let bounds: [Double]

    private let buckets: [Counter]
    /// The bit pattern of a Double.
    private let sum = Atomic<UInt64>(0)

    init(bounds: [Double]) {
        precondition(
            !bounds.isEmpty && bounds.allSatisfy(\.isFinite) && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 },
            "the bounds of a histogram must be finite and ascend")
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts one observation. NaN and infinities are ignored.
    public func observe(_ value: Double) {
        guard value.isFinite else { return }
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].increment()
        var seen = sum.load(ordering: .relaxed)
        while true {
            let next = (Double(bitPattern: seen) + value).bitPattern
            let (exchanged, original) = sum.weakCompareExchange(expected: seen, desired: next, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    /// Counts a duration in seconds.
    public func observe(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) * 1e-18)
    }

    /// The observations per bucket, not cumulative, and the sum of all values.
    public var snapshot: (counts: [UInt64], sum: Double) {
        (buckets.map(\.value), Double(bitPattern: sum.load(ordering: .relaxed)))
    }
}
