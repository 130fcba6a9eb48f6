/// Settings and clients of one moment. They are small, and every request needs them.
public struct Catalogue: Hashable, Sendable {
    /// The settings.
    public var settings: Settings
    /// Every client by its id.
    public var clients: [String: Client]

    /// Both of one moment.
    public init(settings: Settings, clients: [String: Client]) {
        self.settings = settings
        self.clients = clients
    }

    /// A session with what it depends on.
    public func record(of session: Session, _ user: User?) -> SessionRecord {
        SessionRecord(session: session, user: user, client: clients[session.clientID], settings: settings)
    }

    /// The settings to be written when this has become `next` at `now`: with the end of the tokens that still have the
    /// longer lifetime of before, if the lifetime is shorter now.
    public func settings(becoming next: Catalogue, at now: Instant) -> Settings {
        var settings = next.settings
        if next.settings.tokenLife(next.clients.values) < self.settings.tokenLife(clients.values) {
            let end = self.settings.lastTokenEnd(clients.values, issuedBy: now)
            settings.earlierTokensEnd = max(end, settings.earlierTokensEnd ?? end)
        }
        return settings
    }

    /// What `event`, which is written at `now`, revokes; nil: nothing. For a change that shortens the lifetime of tokens, this
    /// must be the catalogue before the change, because the revocation is about tokens that were issued before it.
    public func revocation(of event: AuditEvent, at now: Instant) -> Revocation? {
        Revocation(event, at: now) { settings.lastTokenEnd(clients.values, issuedBy: $0) }
    }
}

/// The rows that a transaction writes of a changed catalogue.
public struct CatalogueDifference: Sendable {
    /// The settings; nil if they do not change.
    public let settings: Settings?
    /// Clients that are new or changed.
    public let clients: [Client]
    /// Ids of clients that are deleted.
    public let deletedClients: [String]

    /// Creates the difference between `old` and `new`.
    init(from old: Catalogue, to new: Catalogue) {
        settings = new.settings == old.settings ? nil : new.settings
        clients = new.clients.values.filter { $0 != old.clients[$0.id] }
        deletedClients = old.clients.keys.filter { new.clients[$0] == nil }
    }
}
