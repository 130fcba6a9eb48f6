internal import Calendar
internal import HTTP
internal import Pages
public import Sessions

/// What the console looks for in the audit trail. Each text is what a column of the table shows, or the word of the wire.
public struct EventFilter: Sendable {
    /// The user: an id, or what was typed.
    public var user: String?
    var session: String?
    var client: String?
    var device: String?
    var request: String?
    var actor: String?
    var address: String?
    var kind: String?
    var reason: String?
    /// The first day, in UTC, like `2026-01-31`.
    public var from: String?
    /// The last day.
    public var until: String?

    /// The fields.
    public static let names = [
        "user", "session", "client", "device", "request", "actor", "address", "kind", "reason", "from", "until",
    ]

    /// The filter of the values of a query.
    public init<Failure: Error>(_ value: (String) throws(Failure) -> String?) throws(Failure) {
        user = try value("user")
        session = try value("session")
        client = try value("client")
        device = try value("device")
        request = try value("request")
        actor = try value("actor")
        address = try value("address")
        kind = try value("kind")
        reason = try value("reason")
        from = try value("from")
        until = try value("until")
    }

    /// The names and values of the query, those that are set.
    public var pairs: [(name: String, value: String)] {
        zip(
            Self.names, [user, session, client, device, request, actor, address, kind, reason, from, until]
        ).compactMap { name, value in value.map { (name, $0) } }
    }

    /// The time from which events are looked for.
    public var since: Instant? {
        from.flatMap(CivilDate.daysSinceEpoch).map { Instant(secondsSinceEpoch: $0 * 86_400) }
    }

    /// The time before which they are.
    public var end: Instant? {
        until.flatMap(CivilDate.daysSinceEpoch).map { Instant(secondsSinceEpoch: ($0 + 1) * 86_400) }
    }

    /// The path of a page of events.
    static func path(_ page: PagePath, of filter: EventFilter, before cursor: Int64?) -> PagePath {
        let pairs = filter.pairs + (cursor.map { [(name: "cursor", value: "\($0)")] } ?? [])
        let query = pairs.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        return PagePath(checking: page.text + (query.isEmpty ? "" : "?" + query)) ?? page
    }
}

extension ConsoleView {
    /// How many digits of an id a table shows.
    static let shownDigits = 8

    /// Whether an event has all that is looked for.
    public func matches(_ event: AuditEvent, _ filter: EventFilter) -> Bool {
        if let since = filter.since, event.at < since { return false }
        if let end = filter.end, event.at >= end { return false }
        return Self.fits(filter.user, [event.userID?.description], byPart: true)
            && Self.fits(filter.session, [event.sessionID?.description], byPart: true)
            && Self.fits(filter.request, [event.requestID], byPart: true)
            && Self.fits(filter.client, [event.clientID])
            && Self.fits(filter.device, [event.deviceID, event.deviceName])
            && Self.fits(filter.kind, [event.kind.rawValue]) && Self.fits(filter.reason, [event.reason])
            && Self.fits(filter.actor, names(ofActorOf: event))
            && Self.fits(
                filter.address, [event.remoteAddress] + [event.remoteAddress.flatMap { setting.placeName($0) }])
    }

    /// Whether one of the values is what is looked for. Letters have no case, and an underscore is a blank. Of an id the part is
    /// enough that a table shows: the beginning, or the end of one that a counter makes.
    private static func fits(_ wanted: String?, _ values: [String?], byPart: Bool = false) -> Bool {
        guard let wanted else { return true }
        let text = plain(wanted).lowercased()
        return values.contains { value in
            guard let value = value.map({ plain($0).lowercased() }) else { return false }
            let isPart = byPart && text.utf8.count >= shownDigits
            return value == text || isPart && (value.hasPrefix(text) || value.hasSuffix(text))
        }
    }

    /// The actor of an event in a table. A request finds that a session has ended by a rule, and its sender has not asked for the
    /// end.
    func actor(of event: AuditEvent) -> String {
        let byRule: Set<EndReason> = [
            .idleExpired, .maxLifetimeReached, .refreshTokenReused, .codeReused, .presenceLost,
        ]
        if case .end(let reason) = event.transition, byRule.contains(reason), event.actor == Origin.userActor {
            return "found at a request"
        }
        guard event.actor.hasPrefix("admin:") else { return event.actor }
        let id = String(event.actor.dropFirst("admin:".count))
        return id == "local" ? "an admin on the server's machine" : admin.keyNames[id].map { "\($0) (\(id))" } ?? id
    }

    /// All that names the actor of an event: as the table shows it, as the audit trail has it, and the name of the admin key alone.
    private func names(ofActorOf event: AuditEvent) -> [String?] {
        let id = event.actor.split(separator: ":", maxSplits: 1).last.map(String.init)
        return [actor(of: event), event.actor, id, id.flatMap { admin.keyNames[$0] }]
    }
}
