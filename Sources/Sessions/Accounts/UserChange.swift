/// A change of one user inside a transaction: edits `user`, ends sessions, or deletes the user.
public struct UserChange: Sendable {
    /// The sessions of the user that end with this change.
    public struct EndingSessions: Hashable, Sendable {
        /// The reason of their end.
        public var reason: EndReason
        /// The time of their end.
        public var at: Instant
        /// The session that asks for the change, which continues.
        public var except: Identifier<Session>?
        /// The client of the sessions that end; nil means every client.
        public var clientID: String?
        /// The device of the sessions that end; nil means every device.
        public var deviceID: String?

        /// Whether the sessions of every client and device end.
        var isOfAll: Bool { clientID == nil && deviceID == nil }

        /// Selects all sessions of the user except `except`, restricted to the client and the device if given.
        public init(
            _ reason: EndReason, at: Instant, except: Identifier<Session>? = nil, clientID: String? = nil,
            deviceID: String? = nil
        ) {
            self.reason = reason
            self.at = at
            self.except = except
            self.clientID = clientID
            self.deviceID = deviceID
        }
    }

    /// The user, which the closure edits. A difference at the end is written. The id cannot change.
    public var user: User
    /// The current settings.
    public let settings: Settings
    /// All current clients, in no particular order.
    public let clients: [Client]
    /// The session that asks for the change; nil if none was named, or if its tombstone was deleted.
    public let asking: Session?
    /// The author of the change: the source of the username, of the address and of the password that it changes.
    public var source = AccountSource.user
    /// The sessions that end in the same transaction.
    public var ending: EndingSessions?
    /// True if the counts of all `LockoutTarget`s of the user are deleted.
    public var forgetsFailedAttempts = false
    /// True if the user is deleted. The sessions then end with the reason `user_deleted` and remain as tombstones.
    public var deletes = false
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []

    /// Creates a change of `user`.
    public init(user: User, settings: Settings, clients: [Client], asking: Session? = nil) {
        self.user = user
        self.settings = settings
        self.clients = clients
        self.asking = asking
    }
}

/// The result of a user change.
public enum UserUpdate<Outcome: Sendable>: Sendable {
    /// The user does not exist.
    case notFound
    /// The new username belongs to another user; nothing was written.
    case usernameTaken
    /// The change is durable. `endedSessions` is the number of sessions that it ended.
    case done(Outcome, endedSessions: Int)
}
