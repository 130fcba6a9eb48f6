/// The last change of a limit, as the audit trail has it.
public struct LimitChange: Hashable, Sendable {
    /// The time of the change.
    public let at: Instant
    /// The actor.
    public let actor: String
    /// The limit before; nil: there was none of this source, or the trail no longer says.
    public let earlier: Duration?

    /// The number of changes of one source that are read.
    static let eventsMax = 200

    /// The last change of the value `name` in `events`, the newest first. `first` is the value before all of them; nil if the
    /// trail may have lost the first ones.
    init?(of name: String, in events: [RecordedEvent], first: Duration?) {
        let changes = events.compactMap { recorded in
            Self.value(name, in: recorded.event.reason ?? "").map { (value: $0, event: recorded.event) }
        }
        func before(_ place: Int) -> Duration? { place + 1 < changes.count ? changes[place + 1].value : first }
        guard let place = changes.indices.first(where: { before($0) != changes[$0].value }) else { return nil }
        at = changes[place].event.at
        actor = changes[place].event.actor
        earlier = before(place)
    }

    /// The value in a text such as `offline_session_idle=1209600 offline_session_max=15552000`; `.some(nil)`: none is set.
    private static func value(_ name: String, in reason: String) -> Duration?? {
        for part in reason.split(separator: " ") where part.hasPrefix(name + "=") {
            return .some(Int64(part.dropFirst(name.utf8.count + 1)).map { .seconds($0) })
        }
        return nil
    }
}

extension SessionSettings {
    /// The values, for the audit trail.
    var summary: String {
        "offline_session_idle=\(offlineSessionIdle.wholeSeconds) "
            + "offline_session_max=\(offlineSessionMax.wholeSeconds) "
            + "offline_session_max_limited=\(offlineSessionMaxLimited) refresh_after=\(refreshAfter.wholeSeconds) "
            + "rotation_interval=\(rotationInterval.wholeSeconds)"
    }
}

extension Client {
    /// The lifetimes that differ from those of `old`, for the audit trail; nil if there are none.
    func changedLifetimes(from old: Client) -> String? {
        let changes = [
            ("offline_session_idle", offlineSessionIdle, old.offlineSessionIdle),
            ("offline_session_max", offlineSessionMax, old.offlineSessionMax),
            ("access_token_lifetime", accessTokenLifetime, old.accessTokenLifetime),
            ("refresh_after", refreshAfter, old.refreshAfter),
        ].filter { $0.1 != $0.2 }.map { name, value, _ in "\(name)=\(value.map { "\($0.wholeSeconds)" } ?? "inherited")"
        }
        return changes.isEmpty ? nil : changes.joined(separator: " ")
    }
}
