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
