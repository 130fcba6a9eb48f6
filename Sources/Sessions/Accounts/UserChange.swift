/// A change of one user, inside a transaction: edit `user`, end sessions with it, or delete it.
public struct UserChange: Sendable {
    /// Which of the user's sessions end with this change.
    public struct EndingSessions: Hashable, Sendable {
        /// The reason that each gets.
        public var reason: EndReason
        /// The instant that each gets.
        public var at: Instant
        /// Spared: the session that asked.
        public var except: Identifier<Session>?
        /// Only those in this client, if set.
        public var clientID: String?
        /// Only those on this device, if set.
        public var deviceID: String?

        /// All sessions of the user, but `except`, as far as client and device agree.
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

    /// The user, to be edited; what differs at the end is written. The id stays.
    public var user: User
    /// The settings of this moment.
    public let settings: Settings
    /// Every client of this moment, in no order: what the user's sessions may be in.
    public let clients: [Client]
    /// The session that asks for the change, as it is at this moment; nil: none was named, or it is forgotten.
    public let asking: Session?
    /// Sessions that end in the same transaction.
    public var ending: EndingSessions?
    /// Whether what is counted in `LockoutTarget`s of the user is forgotten.
    public var forgetsGuesses = false
    /// Whether the user is deleted; their sessions then end as `user_deleted` and stay as tombstones.
    public var deletes = false
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of `user`.
    public init(user: User, settings: Settings, clients: [Client], asking: Session? = nil) {
        self.user = user
        self.settings = settings
        self.clients = clients
        self.asking = asking
    }
}

/// What a change of a user came to.
public enum UserUpdate<Outcome: Sendable>: Sendable {
    /// No such user.
    case notFound
    /// The new username belongs to somebody else; nothing was written.
    case usernameTaken
    /// Written and durable; so many sessions ended with it.
    case done(Outcome, endedSessions: Int)
}
