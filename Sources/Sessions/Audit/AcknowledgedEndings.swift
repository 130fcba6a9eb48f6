internal import Locks

/// The endings that this node has acknowledged lately, in order, so that it can notice that a database has lost them.
///
/// The memory is bounded by `countMax`, and by `retention` before the last look at the database that it is about: an outage
/// makes it forget nothing. It holds audit events, which have no secret.
public final class AcknowledgedEndings: Sendable {
    /// The age at a look from which an ending is forgotten.
    public static let retention = Duration.seconds(600)
    /// The largest number of ends of sessions, and of other endings.
    public static let countMax = 10_000
    /// The age at a look from which an event of any kind is forgotten.
    public static let recentAge = Duration.seconds(60)
    /// The time within which of all events about users the last one is remembered.
    public static let recentGap = Duration.milliseconds(100)
    /// The largest number of events of any kind.
    public static let recentMax = 1000

    /// An event, and when it was acknowledged.
    public struct Entry: Sendable {
        /// The event.
        public let event: AuditEvent
        /// The time at which the node knew of its commit.
        public let at: ContinuousClock.Instant
        /// The place among all entries.
        fileprivate let number: Int
    }

    /// Entries in their order, of which the oldest are forgotten.
    private struct Queue {
        private var entries: [Entry] = []
        /// The entries before this index are forgotten.
        private var first = 0

        var current: ArraySlice<Entry> { entries[first...] }

        mutating func append(_ entry: Entry, countMax: Int) {
            entries.append(entry)
            forget(entries.count - first - countMax)
        }

        mutating func replaceLast(by entry: Entry) { entries[entries.count - 1] = entry }

        mutating func forget(before instant: ContinuousClock.Instant) {
            forget(current.prefix { $0.at < instant }.count)
        }

        private mutating func forget(_ count: Int) {
            first += max(0, count)
            guard first > entries.count / 2 else { return }
            entries.removeFirst(first)
            first = 0
        }
    }

    private struct State {
        var sessions = Queue()
        var others = Queue()
        var recent = Queue()
        var count = 0
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// A memory without endings. `now` is a clock that cannot be set.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Takes up the events of a transaction that has committed.
    public func note(_ events: [AuditEvent]) {
        let now = now()
        state.withLock { state in
            for event in events {
                state.count += 1
                if event.userID != nil { Self.note(event, at: now, number: state.count, in: &state.recent) }
                let entry = Entry(event: event, at: now, number: state.count)
                switch event.ending {
                case nil: break
                case .session: state.sessions.append(entry, countMax: Self.countMax)
                default: state.others.append(entry, countMax: Self.countMax)
                }
            }
        }
    }

    private static func note(
        _ event: AuditEvent, at now: ContinuousClock.Instant, number: Int, in recent: inout Queue
    ) {
        if let last = recent.current.last, now - last.at < recentGap {
            recent.replaceLast(by: Entry(event: event, at: last.at, number: number))
        } else {
            recent.append(Entry(event: event, at: now, number: number), countMax: recentMax)
        }
    }

    /// Forgets what was too old when the database had lost nothing yet.
    public func forget(lookedAt: ContinuousClock.Instant) {
        state.withLock { state in
            state.sessions.forget(before: lookedAt - Self.retention)
            state.others.forget(before: lookedAt - Self.retention)
            state.recent.forget(before: lookedAt - Self.recentAge)
        }
    }

    /// The endings, the oldest first.
    public var endings: [Entry] {
        state.withLock { state in Array(state.sessions.current) + Array(state.others.current) }
            .sorted { $0.number < $1.number }
    }

    /// Events about users, whatever their kind, the oldest first.
    public var recent: [AuditEvent] { state.withLock { state in state.recent.current.map(\.event) } }
}
