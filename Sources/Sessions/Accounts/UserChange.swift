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
    /// The verification that the change uses; nil: none was named. A difference at the end is written.
    public var verification: Verification?
    /// A verification to add after others have ended.
    public var newVerification: Verification?
    /// The details of the user; nil: they were not asked for. A difference at the end is written.
    public var details: UserDetails?
    /// Whether the password is the only way into the account: no identity, passkey or authenticator; nil: it was not asked for.
    public var isPasswordSole: Bool?
    /// Passkeys and authenticators that were made from then on are deleted; nil: none are.
    public var deletesKeysSince: Instant?
    /// The mails to send.
    public var mails: [QueuedMail] = []
    /// The author of the change: the source of the username, of the address and of the password that it changes.
    public var source = AccountSource.user
    /// The sessions that end in the same transaction.
    public var ending: EndingSessions?
    /// True if the counts of all `LockoutTarget`s of the user are deleted.
    public var forgetsFailedAttempts = false
    /// True if the verifications of the user end. They do as well with all sessions, with the switches that stop logins, and with
    /// the user.
    public var endsVerifications = false
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

/// What a change of a user reads beside the user and the clients.
public struct UserChangeRows: Hashable, Sendable {
    /// The session that asks for the change.
    public var asking: Identifier<Session>?
    /// The verification that it uses.
    public var verification: Identifier<Verification>?
    /// Whether it reads the details of the user.
    public var details = false
    /// Whether it reads if the password is the only way into the account.
    public var ways = false

    /// The rows of a change that `session` asks for.
    public init(
        asking session: Identifier<Session>? = nil, verification: Identifier<Verification>? = nil,
        details: Bool = false, ways: Bool = false
    ) {
        (asking, self.verification, self.details, self.ways) = (session, verification, details, ways)
    }

    /// These rows, and the session that asks.
    func asked(by session: Identifier<Session>?) -> Self {
        var rows = self
        rows.asking = session
        return rows
    }
}

/// The result of a user change.
public enum UserUpdate<Outcome: Sendable>: Sendable {
    /// The user does not exist.
    case notFound
    /// The new username belongs to another user; nothing was written.
    case usernameTaken
    /// The new verified address belongs to another user; nothing was written.
    case emailTaken
    /// The change is durable. `endedSessions` is the number of sessions that it ended.
    case done(Outcome, endedSessions: Int)
}
