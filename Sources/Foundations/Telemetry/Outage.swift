internal import Locks
internal import Synchronization

/// Tells from failures and successes of one thing, such as a database, when an outage of it is over.
public final class Outage: Sendable {
    /// An outage that is over.
    public struct Report: Hashable, Sendable {
        /// The time from its first to its last failure.
        public let duration: Duration
        /// The number of its failures.
        public let failures: Int
    }

    /// An outage is over with the first success after this time without a failure. A single conflict of two transactions, or
    /// failures for a shorter time, are none.
    private static let quietTime = Duration.seconds(1)

    private struct State {
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var failures = 0
        /// Whether something has succeeded since the last failure.
        var hasSucceeded = false

        /// The time from the first to the last failure; nil: too short for an outage.
        var duration: Duration? {
            guard let first, let last, last - first >= Outage.quietTime else { return nil }
            return last - first
        }
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())
    /// Whether something has failed, so that a success in ordinary operation reads no clock.
    private let hasFailed = Atomic<Bool>(false)

    /// No outage. `now` is a clock that cannot be set.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }) { self.now = now }

    /// Notes a failure.
    public func fail() {
        let time = now()
        state.withLock { state in
            // Failures between successes, such as conflicts of transactions, do not add up to an outage.
            if state.hasSucceeded, state.duration == nil { state = State() }
            state.hasSucceeded = false
            state.first = state.first ?? time
            state.last = time
            state.failures += 1
        }
        hasFailed.store(true, ordering: .releasing)
    }

    /// Notes a success. Returns the outage that it ends, if it ends one.
    public func succeed() -> Report? {
        guard hasFailed.load(ordering: .acquiring) else { return nil }
        let time = now()
        return state.withLock { state in
            state.hasSucceeded = true
            guard let last = state.last, time - last >= Self.quietTime else { return nil }
            defer {
                state = State()
                hasFailed.store(false, ordering: .releasing)
            }
            return state.duration.map { Report(duration: $0, failures: state.failures) }
        }
    }
}
