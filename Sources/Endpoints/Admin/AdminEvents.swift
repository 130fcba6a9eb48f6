internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/events?cursor=&limit=&user=&session_id=`: lists the audit trail, oldest event first. The `id` of the last
    /// event read is the cursor for a later call.
    func listEvents(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["cursor", "limit", "user", "session_id"])
        let limit = try query.limit()
        let cursor = try query.eventCursor()
        let userID = try await userID(try query.text("user"))
        let sessionID: Identifier<Session>? = try query.text("session_id").map { text in
            guard let id = Identifier<Session>(text) else {
                throw RequestProblem.invalid("session_id", "must be the id of a session")
            }
            return id
        }
        // One event more than the limit shows whether there is another page.
        let events = try await services.administration.events(
            after: cursor, limit: limit + 1, userID: userID, sessionID: sessionID)
        let items = events.prefix(limit)
        return try .json(
            ListAnswer(
                items.map(EventAnswer.init),
                nextCursor: events.count > limit ? items.last.map { String($0.id) } : nil))
    }

    /// Reads the user of the query, given by id or as `username:NAME`. The id works for a deleted user as well.
    private func userID(_ text: String?) async throws -> Identifier<User>? {
        guard let text else { return nil }
        switch UserReference(text) {
        case .id(let id)?: return id
        case .username?:
            return try await services.administration.user(.username(String(text.dropFirst("username:".count)))).id
        case nil: throw RequestProblem.invalid("user", "must be the id of a user, or username:NAME")
        }
    }
}

/// One event of the audit trail.
struct EventAnswer: Encodable {
    let id: Int64
    let event: String
    let at: Int64
    let actor: String
    let userID: String?
    let sessionID: String?
    let clientID: String?
    let deviceID: String?
    let deviceName: String?
    let jti: String?
    let reason: String?
    let remoteAddress: String?
    let requestID: String?

    init(_ recorded: RecordedEvent) {
        let event = recorded.event
        id = recorded.id
        self.event = event.kind.rawValue
        at = event.at.secondsSinceEpoch
        actor = event.actor
        userID = event.userID?.description
        sessionID = event.sessionID?.description
        clientID = event.clientID
        deviceID = event.deviceID
        deviceName = event.deviceName
        jti = event.tokenID
        reason = event.reason
        remoteAddress = event.remoteAddress
        requestID = event.requestID
    }

    enum CodingKeys: String, CodingKey {
        case id, event, at, actor, jti
        case userID = "user_id"
        case sessionID = "session_id"
        case clientID = "client_id"
        case deviceID = "device_id"
        case deviceName = "device_name"
        case reason
        case remoteAddress = "remote_address"
        case requestID = "request_id"
    }
}

extension Route {
    static let listEvents = Route(
        .get, "/admin/v1/events", on: .admin, .admin(.read) { try await $0.listEvents($1) },
        Operation(
            "list_events", .operation, "The audit trail",
            """
            The oldest event comes first. The `id` of the last event that was read is the cursor for the next \
            call.
            """,
            parameters: ["cursor.events", "limit", "user.events", "session_id.events"],
            answers: [.json("Events", "A page.")], errors: [.notFound]))
}
