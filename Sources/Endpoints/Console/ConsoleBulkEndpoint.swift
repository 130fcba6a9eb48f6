internal import AdminActs
internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// Sessions of many users in the console.
extension Endpoints {
    /// The time for one step of the search.
    private static let bulkBudget = Duration.seconds(1)

    /// `GET /console/bulk?…&cursor=`: the living sessions that match, and a form that ends those of this page.
    func showConsoleBulk(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let query = try QueryParameters(
                call, known: BulkFilter.fields.map(\.name) + ["cursor"] + ConsoleRequest.ownParameters)
            let filter = BulkFilter { stay.query[$0] }
            let view = self.view(stay)
            guard !filter.pairs.isEmpty else { return view.bulk(filter, nil, isFirst: true).response() }
            let matches: @Sendable (SessionRecord) -> Bool
            do throws(CallRefusal) { matches = try filter.matching(at: stay.now) } catch {
                return view.bulk(filter, nil, isFirst: true, notice: (.bad, "\(error.sentence)"))
                    .response(.unprocessable)
            }
            let cursor = try query.text("cursor").map { text in
                guard let id = Identifier<Session>(text) else {
                    throw RequestProblem.invalid("cursor", "must be a next_cursor of this list")
                }
                return id
            }
            let found = try await services.administration.searchSessions(
                after: cursor, limit: ConsoleView.rowsMax, isOver: budget(Self.bulkBudget), matching: matches)
            return view.bulk(filter, found, isFirst: cursor == nil).response()
        }
    }

    /// `POST /console/bulk`: ends the sessions of a list, which the form names one by one, so that none ends that was not shown.
    func endConsoleBulk(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleBulk, needing: .owner) { stay, form in
            let ids = (form["sessions"] ?? "").split(separator: " ").prefix(ConsoleView.rowsMax)
                .compactMap { Identifier<Session>($0) }
            let administration = services.administration
            // Some may have ended since the list was shown, and some end with others of the list.
            var living: [Identifier<Session>] = []
            for id in ids {
                let record = try await known { () async throws(ServiceError) in try await administration.session(id) }
                if let record, context.policy.ending(of: record, at: stay.now) == nil { living.append(id) }
            }
            for id in living {
                _ = try await known { () async throws(ServiceError) in
                    try await administration.endSession(id, by: stay.origin)
                }
            }
            let filter = BulkFilter { form[$0] }
            return Self.redirect(
                to: stay.path(
                    ConsoleView.path(of: filter, after: nil), saying: ConsoleFlash(.sessionsEnded, living.count)))
        }
    }
}
