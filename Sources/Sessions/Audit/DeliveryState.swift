internal import Locks

/// What this node knows of its deliveries to other programs beside what the store has: why the last one failed, and whether an
/// admin wants those that wait to be tried again.
public final class DeliveryState: Sendable {
    /// A delivery that failed.
    public struct Failure: Hashable, Sendable {
        /// The cause in a few words, as the log has it.
        public let cause: String
        /// When it failed.
        public let at: Instant
        /// When it is tried again.
        public let nextAt: Instant
    }

    private struct State {
        var failures: [String: Failure] = [:]
        var wishes = 0
    }

    private let state = Locked(State())

    init() {}

    /// The last failure under a name of `DeliveryProgress`, since the last success.
    public func failure(of name: String) -> Failure? { state.withLock { $0.failures[name] } }

    /// Records that a delivery failed, and is tried again after `delay`.
    public func note(_ cause: String, of name: String, at now: Instant, for delay: Duration) {
        state.withLock { $0.failures[name] = Failure(cause: cause, at: now, nextAt: now + delay) }
    }

    /// Records that a delivery succeeded.
    public func forget(_ name: String) { state.withLock { $0.failures[name] = nil } }

    /// Lets everything that waits be tried again.
    public func retry() { state.withLock { $0.wishes += 1 } }

    /// Waits for `delay`, or until `retry()` is called.
    public func wait(for delay: Duration) async {
        let (wishes, end) = (state.withLock { $0.wishes }, ContinuousClock.now + delay)
        while !Task.isCancelled, state.withLock({ $0.wishes }) == wishes {
            let left = end - ContinuousClock.now
            guard left > .zero else { return }
            try? await Task.sleep(for: min(left, .milliseconds(500)))
        }
    }
}
