/// A change of settings and clients together, inside a transaction: what a client is allowed hangs on the settings.
public struct CatalogueChange: Sendable {
    /// The settings, to be edited. A new client takes `settings.epoch + 1`, and that is then the new epoch.
    public var settings: Settings
    /// Every client by its id, to be edited.
    public var clients: [String: Client]
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of `settings` and `clients`.
    public init(settings: Settings, clients: [String: Client]) {
        self.settings = settings
        self.clients = clients
    }

    /// Lets `change` edit the settings.
    public mutating func changeSettings<Outcome>(_ change: (inout SettingsChange) -> Outcome) -> Outcome {
        var edited = SettingsChange(settings: settings, clients: clients.inOrder)
        let outcome = change(&edited)
        settings = edited.settings
        events += edited.events
        return outcome
    }

    /// Lets `change` make, edit or delete the client `id`.
    public mutating func change<Outcome>(_ id: String, _ change: (inout ClientChange) -> Outcome) -> Outcome {
        var edited = ClientChange(client: clients[id], settings: settings)
        let outcome = change(&edited)
        clients[id] = edited.client
        settings.epoch = max(settings.epoch, edited.client?.epoch ?? 0)
        events += edited.events
        return outcome
    }
}

extension [String: Client] {
    /// The clients in the order of their ids' bytes.
    public var inOrder: [Client] {
        values.sorted { Array($0.id.utf8).lexicographicallyPrecedes(Array($1.id.utf8)) }
    }
}

/// A change of the settings, inside a transaction.
public struct SettingsChange: Sendable {
    /// The settings, to be edited.
    public var settings: Settings
    /// Every client, because settings and clients must go together.
    public let clients: [Client]
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of `settings`.
    public init(settings: Settings, clients: [Client]) {
        self.settings = settings
        self.clients = clients
    }
}

/// A change of one client, inside a transaction: set `client` to nil to delete it, to a value to make or change it.
public struct ClientChange: Sendable {
    /// The client; nil when there is none.
    public var client: Client?
    /// The settings. A new client takes `settings.epoch + 1`, and the store keeps that as the new epoch.
    public let settings: Settings
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of `client`.
    public init(client: Client?, settings: Settings) {
        self.client = client
        self.settings = settings
    }
}

extension Store {
    /// Lets `change` make, edit or delete the client.
    public func updateClient<Outcome: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout ClientChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await updateCatalogue { $0.change(id, change) }
    }

    /// Lets `change` edit the settings.
    public func updateSettings<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout SettingsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await updateCatalogue { $0.changeSettings(change) }
    }
}
