/// A change of settings and clients inside a transaction. They change together, because the settings limit the clients.
public struct CatalogueChange: Sendable {
    /// The settings, which the closure edits. A new client takes `settings.epoch + 1`, which then becomes the new epoch.
    public var settings: Settings
    /// All clients by id, which the closure edits.
    public var clients: [String: Client]
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []
    /// A logo that settings or clients show from now on, which may be new.
    public var newLogo: Logo?

    /// Creates a change.
    public init(settings: Settings, clients: [String: Client]) {
        self.settings = settings
        self.clients = clients
    }

    /// Edits the settings by `change`.
    public mutating func changeSettings<Outcome>(_ change: (inout SettingsChange) -> Outcome) -> Outcome {
        var edited = SettingsChange(settings: settings, clients: clients.inOrder)
        let outcome = change(&edited)
        settings = edited.settings
        events += edited.events
        return outcome
    }

    /// Creates, edits or deletes the client `id` by `change`.
    public mutating func change<Outcome>(_ id: String, _ change: (inout ClientChange) -> Outcome) -> Outcome {
        var edited = ClientChange(client: clients[id], settings: settings)
        let outcome = change(&edited)
        clients[id] = edited.client
        if let client = edited.client { settings.epoch = max(settings.epoch, client.epoch, client.tokenEpoch) }
        events += edited.events
        return outcome
    }
}

extension [String: Client] {
    /// The clients, sorted by the bytes of their ids.
    public var inOrder: [Client] {
        values.sorted { Array($0.id.utf8).lexicographicallyPrecedes(Array($1.id.utf8)) }
    }
}

/// A change of the settings inside a transaction.
public struct SettingsChange: Sendable {
    /// The settings, which the closure edits.
    public var settings: Settings
    /// All clients, because the settings must suit them.
    public let clients: [Client]
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []

    /// Creates a change of `settings`.
    public init(settings: Settings, clients: [Client]) {
        self.settings = settings
        self.clients = clients
    }
}

/// A change of one client inside a transaction. Nil deletes the client, a value creates or changes it.
public struct ClientChange: Sendable {
    /// The client; nil if it does not exist.
    public var client: Client?
    /// The settings. A new client takes `settings.epoch + 1`, which the store keeps as the new epoch, and so does a client with
    /// tokens that end.
    public let settings: Settings
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []

    /// Creates a change of `client`.
    public init(client: Client?, settings: Settings) {
        self.client = client
        self.settings = settings
    }
}
