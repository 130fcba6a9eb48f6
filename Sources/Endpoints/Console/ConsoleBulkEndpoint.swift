internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// Which sessions of all users an admin looks for.
struct BulkFilter: Sendable {
    var client: String?
    /// The sessions that began so long ago or longer.
    var age: String?
    /// The sessions that were not refreshed for so long.
    var unused: String?
    var platform: String?
    var version: String?
    /// How the user has authenticated, as `amr` says.
    var method: String?
    /// The country of the user's profile. A session has no place: the audit trail knows from where it came.
    var country: String?

    static let names = ["client", "age", "unused", "platform", "version", "method", "country"]

    init(_ value: (String) throws -> String?) rethrows {
        client = try value("client")
        age = try value("age")
        unused = try value("unused")
        platform = try value("platform")
        version = try value("version")
        method = try value("method")
        country = try value("country")
    }

    /// The names and values of the query, those that are set.
    var pairs: [(name: String, value: String)] {
        zip(Self.names, [client, age, unused, platform, version, method, country]).compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    /// Whether nothing is looked for, or a duration cannot be read.
    var isReadable: Bool { [age, unused].compactMap(\.self).allSatisfy { ConsoleView.seconds($0) != nil } }

    /// Whether a session has all that is looked for.
    func matches(_ record: SessionRecord, at now: Instant) -> Bool {
        let session = record.session
        if let client, client != session.clientID { return false }
        if let seconds = age.flatMap({ ConsoleView.seconds($0) }), now - session.startedAt < .seconds(seconds) {
            return false
        }
        if let seconds = unused.flatMap({ ConsoleView.seconds($0) }), now - session.renewedAt < .seconds(seconds) {
            return false
        }
        if let platform, session.device.platform?.lowercased().hasPrefix(platform.lowercased()) != true { return false }
        if let version, session.device.appVersion != version { return false }
        if let country, record.user?.profile.country?.lowercased() != country.lowercased() { return false }
        if let method, !session.authenticationMethods.contains(method) { return false }
        return true
    }
}

/// Sessions of many users in the console.
extension Endpoints {
    /// The time for one step of the search.
    private static let bulkBudget = Duration.seconds(1)

    /// `GET /console/bulk?…&cursor=`: the living sessions that match, and a form that ends those of this page.
    func showConsoleBulk(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let query = try QueryParameters(call, known: BulkFilter.names + ["cursor"] + ConsoleStay.ownParameters)
            let filter = try BulkFilter(query.text)
            let view = ConsoleView(stay, self)
            guard !filter.pairs.isEmpty, filter.isReadable else {
                return view.bulk(filter, nil, isFirst: true).response()
            }
            let cursor = try query.text("cursor").map { text in
                guard let id = Identifier<Session>(text) else {
                    throw RequestProblem.invalid("cursor", "must be a next_cursor of this list")
                }
                return id
            }
            let now = stay.now
            let found = try await services.administration.searchSessions(
                after: cursor, limit: ConsoleView.rowsMax, isOver: budget(Self.bulkBudget)
            ) { filter.matches($0, at: now) }
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
