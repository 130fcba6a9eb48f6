/// What was ended, deleted or lifted here, as far as the audit trail tells: an import does not undo it.
public struct ImportMemory: Hashable, Sendable {
    /// The events that it takes up; of `sessionStarted` only those of foreign tokens (`ForeignToken.startReason`).
    public static let kinds: [AuditEvent.Kind] = [
        .userDeleted, .clientDeleted, .adminKeyDeleted, .signingKeyWithdrawn, .identityUnlinked, .loginsEnabled,
        .sessionsEnded, .passwordChanged, .allSessionsRevoked, .sessionStarted,
    ]

    /// Where sessions of a user ended; nil: everywhere.
    private struct Place: Hashable {
        let userID: Identifier<User>
        var clientID: String?
        var deviceID: String?
    }

    private struct Link: Hashable {
        let userID: Identifier<User>
        let provider: String
    }

    private var users: Set<Identifier<User>> = []
    /// Ids of admin keys and of signing keys, which are as different as random ones are.
    private var keys: Set<String> = []
    private var clients: [String: Instant] = [:]
    private var links: [Link: Instant] = [:]
    private var enabledByUser: [Identifier<User>: Instant] = [:]
    private var enabledByAdmin: [Identifier<User>: Instant] = [:]
    private var ended: [Place: Instant] = [:]
    private var allEnded: Instant?

    /// Of a trail that says nothing.
    public init() {}

    /// Takes up an event of the trail.
    public mutating func note(_ event: AuditEvent) {
        switch (event.kind, event.userID) {
        case (.userDeleted, let user?): users.insert(user)
        case (.clientDeleted, _): if let id = event.clientID { clients[id] = event.at }
        case (.adminKeyDeleted, _), (.signingKeyWithdrawn, _):
            // The id comes first, then the name that people gave it.
            if let id = event.reason?.split(separator: " ").first { keys.insert(String(id)) }
        case (.identityUnlinked, let user?):
            if let provider = event.reason { links[Link(userID: user, provider: provider)] = event.at }
        case (.loginsEnabled, let user?) where event.actor == Origin.userActor: enabledByUser[user] = event.at
        case (.loginsEnabled, let user?): enabledByAdmin[user] = event.at
        case (.passwordChanged, let user?): ended[Place(userID: user)] = event.at
        case (.sessionsEnded, let user?):
            ended[Place(userID: user, clientID: event.clientID, deviceID: event.deviceID)] = event.at
        case (.sessionStarted, let user?) where event.reason == ForeignToken.startReason:
            ended[Place(userID: user, clientID: event.clientID, deviceID: event.deviceID)] = event.at
        case (.allSessionsRevoked, _): allEnded = event.at
        default: break
        }
    }

    /// Whether the user of that id was deleted.
    public func hasDeleted(_ id: Identifier<User>) -> Bool { users.contains(id) }

    /// Whether the admin key, or the signing key, of that id was deleted or withdrawn.
    public func hasDeleted(keyID: String) -> Bool { keys.contains(keyID) }

    /// Whether the client was deleted after it was made.
    public func hasDeleted(_ client: Client) -> Bool { clients[client.id].map { $0 >= client.createdAt } ?? false }

    /// Whether the user has lost an identity at that provider since that one was linked.
    public func hasUnlinked(_ identity: Identity) -> Bool {
        links[Link(userID: identity.userID, provider: identity.key.provider)].map { $0 >= identity.linkedAt } ?? false
    }

    /// Whether the user's logins were switched on after `disabling`: an admin's by an admin, the user's own by either.
    func hasLifted(_ disabling: User.LoginDisabling, byAdmin: Bool, of id: Identifier<User>) -> Bool {
        [enabledByAdmin[id], byAdmin ? nil : enabledByUser[id]].contains { $0.map { $0 >= disabling.since } ?? false }
    }

    /// Whether a session that began when the token did has ended since, or has begun by one that began then.
    public func hasEnded(_ token: ForeignToken) -> Bool {
        let (user, client, device) = (token.userID, token.clientID, token.device.id)
        let ends = [
            allEnded, ended[Place(userID: user)], ended[Place(userID: user, clientID: client)],
            ended[Place(userID: user, deviceID: device)],
            ended[Place(userID: user, clientID: client, deviceID: device)],
        ]
        return ends.contains { $0.map { $0 >= token.startedAt } ?? false }
    }
}
