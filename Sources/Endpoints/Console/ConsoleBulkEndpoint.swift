internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// Which sessions of all users an admin looks for, as it was typed.
struct BulkFilter: Sendable {
    /// The fields, with their labels.
    static let fields: [(name: String, label: String)] = [
        ("client", "App"), ("age", "Older than"), ("unused", "Not refreshed for"), ("platform", "Platform"),
        ("version", "Version of the app"),
        // As `amr` says.
        ("method", "Authenticated by (pwd, hwk, swk, phone)"),
        // Of the user's profile. A session has no place: the audit trail knows from where it came.
        ("country", "Country of the user (two letters)"),
    ]
    /// The fields with a duration.
    static let durations: Set = ["age", "unused"]

    /// The names and values of the query, those that are set.
    let pairs: [(name: String, value: String)]

    init(_ value: (String) -> String?) {
        pairs = Self.fields.compactMap { field in value(field.name).map { (field.name, $0) } }
    }

    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// What the filter lets through. Throws the sentence for a field that cannot be read.
    func matching(at now: Instant) throws(ConsoleRefusal) -> @Sendable (SessionRecord) -> Bool {
        for field in Self.fields {
            if let text = self[field.name], !Text.isValid(text, lengthMax: 256) {
                throw ConsoleRefusal(
                    sentence: "\(field.label) must have 1 to 256 bytes and no control characters.")
            }
        }
        let (age, unused) = (try duration("age"), try duration("unused"))
        let (client, version, method) = (self["client"], self["version"], self["method"])
        let (platform, country) = (self["platform"]?.lowercased(), self["country"]?.lowercased())
        return { record in
            let session = record.session
            if let client, client != session.clientID { return false }
            if let age, now - session.startedAt < age { return false }
            if let unused, now - session.renewedAt < unused { return false }
            if let platform, session.device.platform?.lowercased().hasPrefix(platform) != true { return false }
            if let version, session.device.appVersion != version { return false }
            if let country, record.user?.profile.country?.lowercased() != country { return false }
            if let method, !session.authenticationMethods.contains(method) { return false }
            return true
        }
    }

    private func duration(_ name: String) throws(ConsoleRefusal) -> Duration? {
        guard let text = self[name] else { return nil }
        let label = Self.fields.first { $0.name == name }?.label ?? name
        return .seconds(try DurationText.seconds(text, in: label))
    }
}

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
            let view = ConsoleView(stay, self)
            guard !filter.pairs.isEmpty else { return view.bulk(filter, nil, isFirst: true).response() }
            let matches: @Sendable (SessionRecord) -> Bool
            do throws(ConsoleRefusal) { matches = try filter.matching(at: stay.now) } catch {
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
            let filter = BulkFilter { form.value($0) }
            return Self.redirect(
                to: stay.path(ConsoleView.path(of: filter, after: nil), saying: "revoked \(living.count)"))
        }
    }
}
