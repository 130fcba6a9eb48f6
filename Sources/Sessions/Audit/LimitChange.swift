internal import JSON

/// The last change of a limit, as the audit trail has it.
public struct LimitChange: Hashable, Sendable {
    /// The time of the change.
    public let at: Instant
    /// The actor.
    public let actor: String
    /// The limit before; nil: there was none of this source.
    public let earlier: Duration?

    /// The number of changes of one source that are read.
    static let eventsMax = 200

    /// The last change of the value `name` in `events` of that kind, the newest first; nil if they have none, or if
    /// an import is newer.
    init?(of name: String, by kind: AuditEvent.Kind, in events: [RecordedEvent]) {
        for event in events.lazy.map(\.event) where event.kind == kind {
            guard let reason = event.reason else { continue }
            // An import does not say what it has changed.
            guard let difference = ValueDifference(reason: reason) else { return nil }
            guard let values = difference.members[name] else { continue }
            (at, actor, earlier) = (event.at, event.actor, values.old.integer.map { .seconds($0) })
            return
        }
        return nil
    }
}
