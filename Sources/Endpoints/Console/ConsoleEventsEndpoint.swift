internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What the console looks for in the audit trail.
struct EventFilter: Sendable {
    var user: String?
    var session: String?
    var client: String?
    var device: String?
    var request: String?
    var actor: String?
    var kind: String?
    var reason: String?

    /// The names and values of the query, those that are set.
    var pairs: [(name: String, value: String)] {
        [
            ("user", user), ("session", session), ("client", client), ("device", device), ("request", request),
            ("actor", actor), ("kind", kind), ("reason", reason),
        ].compactMap { name, value in value.map { (name, $0) } }
    }

    /// Whether an event has all that is looked for.
    func matches(_ event: AuditEvent) -> Bool {
        func fits(_ wanted: String?, _ value: String?) -> Bool { wanted == nil || wanted == value }
        return fits(user, event.userID?.description) && fits(session, event.sessionID?.description)
            && fits(client, event.clientID) && fits(device, event.deviceID) && fits(request, event.requestID)
            && fits(actor, event.actor) && fits(kind, event.kind.rawValue)
            && fits(reason, event.reason)
    }
}

/// The audit trail in the console.
extension Endpoints {
    /// `GET /console/events?…&cursor=`: the events that match, newest first. A page reads a limited number of events, and offers
    /// to go on.
    func showConsoleEvents(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let (filter, cursor) = try Self.eventFilter(call)
            let view = ConsoleView(stay, self)
            guard let resolved = try await resolved(filter) else {
                return view.events([], names: [:], filter, next: nil, isFirst: true, isUserUnknown: true)
                    .response(.notFound)
            }
            let found = try await findEvents(resolved, before: cursor, limit: ConsoleView.rowsMax)
            let names = try await userNames(of: found.events)
            return view.events(found.events, names: names, filter, next: found.next, isFirst: cursor == nil).response()
        }
    }

    /// The filter with the id of the user in place of the name; nil if no user has the name.
    func resolved(_ filter: EventFilter) async throws(ServiceError) -> EventFilter? {
        // The trail knows users that were deleted by their ids alone.
        guard let text = filter.user, Identifier<User>(text) == nil else { return filter }
        guard let user = try await services.administration.user(called: text) else { return nil }
        var filter = filter
        filter.user = user.id.description
        return filter
    }

    /// The names of the users of events, by one read.
    func userNames(of events: [RecordedEvent]) async throws(ServiceError) -> ConsoleView.UserNames {
        try await services.administration.usernames(of: Set(events.compactMap(\.event.userID)))
    }

    /// Reads the filter and the cursor of the query.
    static func eventFilter(_ call: Call) throws -> (EventFilter, cursor: Int64?) {
        let query = try QueryParameters(
            call, known: ["user", "session", "client", "device", "request", "actor", "kind", "reason", "cursor"])
        let cursor = try query.eventCursor()
        let filter = EventFilter(
            user: try query.text("user"), session: try query.text("session"), client: try query.text("client"),
            device: try query.text("device"), request: try query.text("request"), actor: try query.text("actor"),
            kind: try query.text("kind"), reason: try query.text("reason"))
        return (filter, cursor == 0 ? nil : cursor)
    }

    /// The events of a user by the index of users, all others by a step through the trail.
    func findEvents(
        _ filter: EventFilter, before cursor: Int64?, limit: Int
    ) async throws(ServiceError) -> (events: [RecordedEvent], next: Int64?) {
        if filter.pairs.count == 1, let id = filter.user.flatMap({ Identifier<User>($0) }) {
            let events = try await services.accounts.history(of: id, before: cursor, limit: limit)
            return (events, events.count < limit ? nil : events.last?.id)
        }
        if filter.pairs.isEmpty {
            let events = try await services.administration.events(before: cursor, limit: limit)
            return (events, events.count < limit ? nil : events.last?.id)
        }
        return try await services.administration.searchEvents(before: cursor, limit: limit, matching: filter.matches)
    }
}
