internal import Calendar
internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The audit trail in the console.
extension Endpoints {
    /// `GET /console/events?…&cursor=`: the events that match, newest first. A page reads a limited number of events, and offers
    /// to go on.
    func showConsoleEvents(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let (filter, cursor) = try Self.eventFilter(call)
            let view = self.view(stay)
            guard let resolved = try await resolved(filter) else {
                return view.events(nil, filter, isFirst: true).response(.notFound)
            }
            let found = try await findEvents(resolved, view, before: cursor, limit: ConsoleView.rowsMax)
            return view.events(found, filter, isFirst: cursor == nil).response()
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

    /// Reads the filter and the cursor of the query.
    static func eventFilter(_ call: Call) throws -> (EventFilter, cursor: Int64?) {
        let query = try QueryParameters(call, known: EventFilter.names + ["cursor"])
        let cursor = try query.eventCursor()
        let filter = try EventFilter { (name) throws(any Error) in try query.text(name) }
        for (name, text) in [("from", filter.from), ("until", filter.until)] {
            guard let text else { continue }
            guard CivilDate.daysSinceEpoch(to: text) != nil else {
                throw RequestProblem.invalid(name, "must be a day like 2026-01-31")
            }
        }
        return (filter, cursor == 0 ? nil : cursor)
    }

    /// Events by a step through those of the user of the filter, or through the trail, which begins at the last day.
    func findEvents(
        _ filter: EventFilter, _ view: ConsoleView, before cursor: Int64?, limit: Int, isNamed: Bool = true
    ) async throws(ServiceError) -> Trail {
        let userID = filter.user.flatMap { Identifier<User>($0) }
        if filter.pairs.isEmpty {
            return try await services.administration.trail(before: cursor, limit: limit, isNamed: isNamed)
        }
        var cursor = cursor
        if cursor == nil, let end = filter.end {
            cursor = try await services.administration.eventCursor(before: end)
        }
        return try await services.administration.searchEvents(
            ofUser: userID, before: cursor, since: filter.since, limit: limit, isNamed: isNamed
        ) { view.matches($0, filter) }
    }
}
