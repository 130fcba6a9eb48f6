/// The deletions, endings and releases that the audit trail records, which an import does not undo.
///
/// It holds all general events, but the events of a few users only, because a trail can be longer than the memory of a machine.
public struct ImportLedger: Hashable, Sendable {
    /// The kinds of recorded events that belong to no user.
    public static let generalKinds: [AuditEvent.Kind] = [
        .clientDeleted, .adminKeyDeleted, .signingKeyWithdrawn, .allSessionsRevoked,
    ]
    /// The kinds of recorded events that belong to users; of `sessionStarted` only those of foreign tokens
    /// (`ForeignToken.startReason`).
    public static let userKinds: [AuditEvent.Kind] = [
        .userDeleted, .identityUnlinked, .passkeyRemoved, .secondFactorRemoved, .pinRemoved, .loginsEnabled,
        .sessionsEnded, .passwordChanged,
        .sessionStarted,
    ]

    /// The number of the trail's event up to which the ledger is complete. Later events are news.
    public private(set) var place: Int64 = 0

    /// The scope in which sessions of a user ended. Nil means any client or device.
    private struct Place: Hashable {
        let userID: Identifier<User>
        var clientID: String?
        var deviceID: String?
    }

    private struct Link: Hashable {
        let userID: Identifier<User>
        let provider: String
    }

    private struct RemovedCredential: Hashable {
        let userID: Identifier<User>
        let label: String
    }

    private var users: Set<Identifier<User>> = []
    /// Ids of admin keys and of signing keys, which do not collide because they are random.
    private var keys: Set<String> = []
    private var clients: [String: Instant] = [:]
    private var links: [Link: Instant] = [:]
    private var removedCredentials: [RemovedCredential: Instant] = [:]
    private var removedPINs: [Identifier<Session>: Instant] = [:]
    private var enabledByUser: [Identifier<User>: Instant] = [:]
    private var enabledByAdmin: [Identifier<User>: Instant] = [:]
    private var ended: [Place: Instant] = [:]
    /// The times at which foreign tokens were exchanged for sessions.
    private var begun: [Place: Instant] = [:]
    private var allEnded: Instant?

    /// An empty ledger.
    public init() {}

    /// Records a step along the trail, which begins at `place`.
    public mutating func note(_ step: LedgerStep) {
        for recorded in step.events { note(recorded.event) }
        place = step.place
    }

    /// Records an event of the trail. Events may be repeated and in any order.
    public mutating func note(_ event: AuditEvent) {
        func later(than known: Instant?) -> Instant { max(known ?? event.at, event.at) }
        switch (event.kind, event.userID) {
        case (.userDeleted, let user?): users.insert(user)
        case (.clientDeleted, _): if let id = event.clientID { clients[id] = later(than: clients[id]) }
        case (.adminKeyDeleted, _), (.signingKeyWithdrawn, _):
            if let id = event.reason { keys.insert(id) }
        case (.identityUnlinked, let user?):
            guard let provider = event.reason else { return }
            let link = Link(userID: user, provider: provider)
            links[link] = later(than: links[link])
        case (.passkeyRemoved, let user?), (.secondFactorRemoved, let user?):
            guard let label = event.reason else { return }
            let removed = RemovedCredential(userID: user, label: label)
            removedCredentials[removed] = later(than: removedCredentials[removed])
        case (.pinRemoved, _):
            if let id = event.sessionID { removedPINs[id] = later(than: removedPINs[id]) }
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

    /// Whether the user with that id was deleted.
    public func hasDeleted(_ id: Identifier<User>) -> Bool { users.contains(id) }

    /// Whether the admin key with that id was deleted, or the signing key with that id was withdrawn.
    public func hasDeleted(keyID: String) -> Bool { keys.contains(keyID) }

    /// Whether a client with that id was deleted.
    public func hasDeleted(clientID: String) -> Bool { clients[clientID] != nil }

    /// Whether the client was deleted after its creation.
    public func hasDeleted(_ client: Client) -> Bool { clients[client.id].map { $0 >= client.createdAt } ?? false }

    /// Whether an identity of the user at that provider was unlinked after `identity` was linked.
    func hasUnlinked(_ identity: Identity) -> Bool {
        links[Link(userID: identity.userID, provider: identity.key.provider)].map { $0 >= identity.linkedAt } ?? false
    }

    /// Whether the passkey was removed after it was made.
    func hasRemoved(_ passkey: Passkey) -> Bool {
        removedCredentials[RemovedCredential(userID: passkey.userID, label: passkey.label)]
            .map { $0 >= passkey.createdAt } ?? false
    }

    /// Whether the authenticator was removed after it was made.
    func hasRemoved(_ factor: TOTPFactor) -> Bool {
        removedCredentials[RemovedCredential(userID: factor.userID, label: factor.label)]
            .map { $0 >= factor.createdAt } ?? false
    }

    /// Whether the PIN was removed after it was set.
    func hasRemoved(_ pin: PIN) -> Bool { removedPINs[pin.sessionID].map { $0 >= pin.changedAt } ?? false }

    /// Whether the user's logins were enabled after `disabling`: a disabling by an admin only by an admin, the user's own by
    /// either.
    func hasLifted(_ disabling: User.LoginDisabling, byAdmin: Bool, of id: Identifier<User>) -> Bool {
        [enabledByAdmin[id], byAdmin ? nil : enabledByUser[id]].contains { $0.map { $0 >= disabling.since } ?? false }
    }

    /// Whether sessions of the user at that client and device ended after `session` started. Ignores "revoke all", which works
    /// by epochs.
    func hasEnded(_ session: Session) -> Bool {
        lastEnd(of: session.userID, session.clientID, session.device).map { $0 >= session.startedAt } ?? false
    }

    /// Whether a session that started at the token's start would have ended since, or a foreign token was exchanged there
    /// since.
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
    /// The events of the step that an import needs.
    public let events: [RecordedEvent]
    /// The number of the last event that was read, of any kind; the start of the step if there was none.
    public let place: Int64

    /// A step to `place`.
    public init(_ events: [RecordedEvent], to place: Int64) { (self.events, self.place) = (events, place) }
}
