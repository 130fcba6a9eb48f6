internal import Locks

/// The endings that this node has acknowledged lately, in order, so that it can notice that a database has lost them.
///
/// The memory is bounded by `countMax`, and by `retention` before the newest of them: an outage makes it forget nothing. It holds audit events, which have no secret.
public final class AcknowledgedEndings: Sendable {
    /// The age from which an ending is forgotten.
    public static let retention = Duration.seconds(600)
    /// The largest number of endings.
    public static let countMax = 10_000

    private struct State {
        var endings: [(event: AuditEvent, at: ContinuousClock.Instant)] = []
        /// The endings before this index are forgotten.
        var first = 0
        var last: AuditEvent?
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// A memory without endings. `now` is a clock that cannot be set.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Takes up the events of a transaction that has committed.
    public func note(_ events: [AuditEvent]) {
        let now = now()
        state.withLock { state in
            if let last = events.last(where: { $0.userID != nil }) { state.last = last }
            for event in events where event.ending != nil { state.endings.append((event, now)) }
            let tooMany = state.endings.count - Self.countMax
            while state.first < state.endings.count,
                state.first < tooMany || now - state.endings[state.first].at > Self.retention
            {
                state.first += 1
            }
            guard state.first > state.endings.count / 2 else { return }
            state.endings.removeFirst(state.first)
            state.first = 0
        }
    }

    /// The endings, the oldest first.
    public var endings: [AuditEvent] {
        state.withLock { state in state.endings[state.first...].map(\.event) }
    }

    /// The last event about a user, whatever its kind; nil if there was none.
    public var last: AuditEvent? { state.withLock { $0.last } }
}
