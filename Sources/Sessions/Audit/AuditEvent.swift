/// One line of the audit trail: a security event and its cause. It commits with the change that it tells of.
public struct AuditEvent: Hashable, Sendable {
    /// What happened. The raw values are on the wire and in the database.
    public enum Kind: String, CaseIterable, Sendable {
        case sessionStarted = "session_started"
        case sessionEnded = "session_ended"
        case sessionsEnded = "sessions_ended"
        case sessionRestored = "session_restored"
        /// A refresh token of a session that is bound to a key came without a proof of that key; `reason` is `TokenMisuse`. The
        /// session is kept.
        case refreshTokenMisused = "refresh_token_misused"
        /// How the app guards a session was changed; `reason` is from what to what.
        case authenticationModeChanged = "authentication_mode_changed"
        case loginFailed = "login_failed"
        case loginRefused = "login_refused"
        case loginsDisabled = "logins_disabled"
        case loginsEnabled = "logins_enabled"
        case userCreated = "user_created"
        case userChanged = "user_changed"
        /// A user's e-mail address became another one; `reason` is `EmailChange.reason`.
        case emailChanged = "email_changed"
        case userDeleted = "user_deleted"
        case identityLinked = "identity_linked"
        case identityUnlinked = "identity_unlinked"
        case passwordChanged = "password_changed"
        case passwordResetRequested = "password_reset_requested"
        case clientCreated = "client_created"
        case clientChanged = "client_changed"
        case clientDeleted = "client_deleted"
        case settingsChanged = "settings_changed"
        case allSessionsRevoked = "all_sessions_revoked"
        case signingKeyCreated = "signing_key_created"
        case signingKeyWithdrawn = "signing_key_withdrawn"
        case adminKeyCreated = "admin_key_created"
        case adminKeyDeleted = "admin_key_deleted"
        case backupStarted = "backup_started"
        case databaseRestored = "database_restored"
    }

    /// What happened.
    public var kind: Kind
    /// When.
    public var at: Instant
    /// Who did it: `user`, `admin:KEY`, `client:ID`, `provider:NAME`, `system`.
    public var actor: String
    /// Whom it concerns.
    public var userID: Identifier<User>?
    /// Which stay it concerns.
    public var sessionID: Identifier<Session>?
    /// In which app.
    public var clientID: String?
    /// On which device.
    public var deviceID: String?
    /// The cause: an end reason, a refusal reason, or what changed.
    public var reason: String?
    /// The network address that asked, if one did.
    public var remoteAddress: String?
    /// The request, as in `X-Request-Id`.
    public var requestID: String?
    /// What resource servers have to know of it; nil: nothing. The trail keeps what became of it (`RecordedEvent.revocation`).
    public var revokes: Revocation.Kind?

    /// An event of `kind` at `at`, brought about by `origin`.
    public init(
        _ kind: Kind, at: Instant, by origin: Origin, userID: Identifier<User>? = nil,
        sessionID: Identifier<Session>? = nil, clientID: String? = nil, deviceID: String? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.at = at
        self.actor = origin.actor
        self.userID = userID
        self.sessionID = sessionID
        self.clientID = clientID
        self.deviceID = deviceID
        self.reason = reason
        self.remoteAddress = origin.remoteAddress
        self.requestID = origin.requestID
    }

    /// An event of `kind` about `session`.
    public init(_ kind: Kind, at: Instant, by origin: Origin, session: Session, reason: String? = nil) {
        self.init(
            kind, at: at, by: origin, userID: session.userID, sessionID: session.id, clientID: session.clientID,
            deviceID: session.device.id, reason: reason)
    }
}

/// Who asked for a change, from where: what the audit trail says of every cause.
public struct Origin: Hashable, Sendable {
    /// `user`, `admin:KEY`, `client:ID`, `provider:NAME`, `system`.
    public var actor: String
    /// The network address, if it came over the network.
    public var remoteAddress: String?
    /// The request's id.
    public var requestID: String?

    /// An origin.
    public init(actor: String, remoteAddress: String? = nil, requestID: String? = nil) {
        self.actor = actor
        self.remoteAddress = remoteAddress
        self.requestID = requestID
    }

    /// The actor of who asks for themselves.
    public static let userActor = "user"

    /// The server itself: clean-up, key rotation.
    public static let system = Origin(actor: "system")
}

/// An audit event with its place in the trail.
public struct RecordedEvent: Hashable, Sendable {
    /// Counts up, without order lost: the cursor of the trail.
    public var id: Int64
    /// What happened.
    public var event: AuditEvent
    /// What the feed of revocations says of it, but for the number there; nil: nothing.
    public var revocation: Revocation?

    /// The event at place `id`.
    public init(id: Int64, event: AuditEvent, revocation: Revocation? = nil) {
        self.id = id
        self.event = event
        self.revocation = revocation
    }
}
