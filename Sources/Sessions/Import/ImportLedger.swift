/// What was ended, deleted or lifted here, as far as the audit trail tells: an import does not undo it.
///
/// It holds what belongs to no user, and of a few users what is theirs: a trail can be longer than the memory of a machine.
public struct ImportLedger: Hashable, Sendable {
    /// The events that it takes up and that belong to no user.
    public static let generalKinds: [AuditEvent.Kind] = [
        .clientDeleted, .adminKeyDeleted, .signingKeyWithdrawn, .allSessionsRevoked,
    ]
    /// The events of users that it takes up; of `sessionStarted` only those of foreign tokens (`ForeignToken.startReason`).
    public static let userKinds: [AuditEvent.Kind] = [
        .userDeleted, .identityUnlinked, .loginsEnabled, .sessionsEnded, .passwordChanged, .sessionStarted,
    ]

    /// Up to which place of the trail it holds everything that an import needs; what comes after it is news.
    public private(set) var place: Int64 = 0

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
    /// Where sessions began by foreign tokens.
    private var begun: [Place: Instant] = [:]
    private var allEnded: Instant?

    /// Of a trail of which nothing has been read.
    public init() {}

    /// Takes up a step along the trail, which begins at `place`.
    public mutating func note(_ step: LedgerStep) {
        for recorded in step.events { note(recorded.event) }
        place = step.place
    }

    /// Takes up an event of the trail, as often as it comes and in any order.
    public mutating func note(_ event: AuditEvent) {
        func later(than known: Instant?) -> Instant { max(known ?? event.at, event.at) }
        switch (event.kind, event.userID) {
        case (.userDeleted, let user?): users.insert(user)
        case (.clientDeleted, _): if let id = event.clientID { clients[id] = later(than: clients[id]) }
        case (.adminKeyDeleted, _), (.signingKeyWithdrawn, _):
            // The id comes first, then the name that people gave it.
            if let id = event.reason?.split(separator: " ").first { keys.insert(String(id)) }
        case (.identityUnlinked, let user?):
            guard let provider = event.reason else { return }
            let link = Link(userID: user, provider: provider)
            links[link] = later(than: links[link])
        case (.loginsEnabled, let user?) where event.actor == Origin.userActor:
            enabledByUser[user] = later(than: enabledByUser[user])
        case (.loginsEnabled, let user?): enabledByAdmin[user] = later(than: enabledByAdmin[user])
        case (.passwordChanged, let user?):
            let place = Place(userID: user)
            ended[place] = later(than: ended[place])
        case (.sessionsEnded, let user?):
            let place = Place(userID: user, clientID: event.clientID, deviceID: event.deviceID)
            ended[place] = later(than: ended[place])
        case (.sessionStarted, let user?) where event.reason == ForeignToken.startReason:
            let place = Place(userID: user, clientID: event.clientID, deviceID: event.deviceID)
            begun[place] = later(than: begun[place])
        case (.allSessionsRevoked, _): allEnded = later(than: allEnded)
        default: break
        }
    }

    /// Whether the user of that id was deleted.
    public func hasDeleted(_ id: Identifier<User>) -> Bool { users.contains(id) }

    /// Whether the admin key, or the signing key, of that id was deleted or withdrawn.
    public func hasDeleted(keyID: String) -> Bool { keys.contains(keyID) }

    /// Whether a client of that id was deleted.
    public func hasDeleted(clientID: String) -> Bool { clients[clientID] != nil }

    /// Whether the client was deleted after it was made.
    public func hasDeleted(_ client: Client) -> Bool { clients[client.id].map { $0 >= client.createdAt } ?? false }

    /// Whether the user has lost an identity at that provider since that one was linked.
    func hasUnlinked(_ identity: Identity) -> Bool {
        links[Link(userID: identity.userID, provider: identity.key.provider)].map { $0 >= identity.linkedAt } ?? false
    }

    /// Whether the user's logins were switched on after `disabling`: an admin's by an admin, the user's own by either.
    func hasLifted(_ disabling: User.LoginDisabling, byAdmin: Bool, of id: Identifier<User>) -> Bool {
        [enabledByAdmin[id], byAdmin ? nil : enabledByUser[id]].contains { $0.map { $0 >= disabling.since } ?? false }
    }

    /// Whether the user's sessions of that time, there and everywhere, have ended since. A "revoke all" goes by epochs.
    func hasEnded(_ session: Session) -> Bool {
        lastEnd(of: session.userID, session.clientID, session.device).map { $0 >= session.startedAt } ?? false
    }

    /// Whether a session that began when the token did has ended since, or has begun by one that began then.
    func hasEnded(_ token: ForeignToken) -> Bool {
        let place = Place(userID: token.userID, clientID: token.clientID, deviceID: token.device.id)
        let ends = [allEnded, begun[place], lastEnd(of: token.userID, token.clientID, token.device)]
        return ends.contains { $0.map { $0 >= token.startedAt } ?? false }
    }

    private func lastEnd(of user: Identifier<User>, _ clientID: String, _ device: Device) -> Instant? {
        if ended.isEmpty { return nil }
        return [
            ended[Place(userID: user)], ended[Place(userID: user, clientID: clientID)],
            ended[Place(userID: user, deviceID: device.id)],
            ended[Place(userID: user, clientID: clientID, deviceID: device.id)],
        ].compactMap(\.self).max()
    }
}

/// A step along the audit trail.
public struct LedgerStep: Hashable, Sendable {
    /// What an import needs of it.
    public let events: [RecordedEvent]
    /// How far it went: the place of the last event that was looked at, whatever it was; where it began, if there was none.
    public let place: Int64

    /// A step to `place`.
    public init(_ events: [RecordedEvent], to place: Int64) { (self.events, self.place) = (events, place) }
}
