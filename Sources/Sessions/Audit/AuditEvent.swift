/// An event of the audit trail with its cause. It commits with the change that it records.
public struct AuditEvent: Hashable, Sendable {
    /// The kind of event. The raw values are on the wire and in the database.
    public enum Kind: String, CaseIterable, Sendable {
        case sessionStarted = "session_started"
        /// A login continued the session that the device still had.
        case sessionContinued = "session_continued"
        case sessionEnded = "session_ended"
        case sessionsEnded = "sessions_ended"
        case sessionRestored = "session_restored"
        /// A refresh token of a session that is bound to a key came without a proof of that key; `reason` is `TokenMisuse`. The
        /// session continues.
        case refreshTokenMisused = "refresh_token_misused"
        /// The protection of a session by its app changed; `reason` is the old and the new mode.
        case authenticationModeChanged = "authentication_mode_changed"
        /// A refresh named another platform than the login; `reason` is the old and the new one.
        case devicePlatformChanged = "device_platform_changed"
        /// An admin key set the verdict of the operator's own attestation; `reason` is the verdict.
        case attestationChanged = "attestation_changed"
        /// A refresh was granted in a session without the verdict `genuine`; `reason` is its verdict.
        case attestationMissed = "attestation_missed"
        /// A user completed a login on the server's page; `session_id` names the session that its code can start.
        case loginApproved = "login_approved"
        /// A server pushed a login to a phone of the user; `session_id` names the session that it can start.
        case loginRequested = "login_requested"
        /// A phone claimed a login.
        case loginClaimed = "login_claimed"
        /// A login with a phone ended without success; `reason` is its cause.
        case loginAborted = "login_aborted"
        /// A user says that another person asked for a login, or logged in.
        case loginReported = "login_reported"
        case loginFailed = "login_failed"
        case loginRefused = "login_refused"
        case loginsDisabled = "logins_disabled"
        case loginsEnabled = "logins_enabled"
        case userCreated = "user_created"
        /// Members of a user changed; `reason` is `ValueDifference.reason` until the user is deleted, and nil from then on. An
        /// import has the reason `import` here.
        case userChanged = "user_changed"
        /// A user's e-mail address changed; `reason` is `EmailChange.reason` until the user is deleted, and nil from then on.
        case emailChanged = "email_changed"
        /// An anonymous user got a username and password, or an identity; `reason` is `password` or the provider.
        /// The former mailbox of a user has taken the account back, beside the event of the change.
        case emailChangeUndone = "email_change_undone"
        /// A mail with a code and a link was asked for; `reason` is the purpose. No webhook has it, because strangers cause it.
        case verificationRequested = "verification_requested"
        /// A wrong code was typed, or the mailbox has cancelled the request; `reason` is the purpose, or `cancelled`.
        case verificationFailed = "verification_failed"
        /// A user has asked for the end of the account, which is deleted later.
        case deletionRequested = "deletion_requested"
        case deletionCancelled = "deletion_cancelled"
        case userNamed = "user_named"
        case userDeleted = "user_deleted"
        case identityLinked = "identity_linked"
        case identityUnlinked = "identity_unlinked"
        /// A user has a new passkey; `reason` is its short name.
        case passkeyAdded = "passkey_added"
        /// A login by a passkey was odd, and was accepted; `reason` is its short name with `counter`, `backup` or both.
        case passkeyChanged = "passkey_changed"
        case passkeyRemoved = "passkey_removed"
        /// The session of a phone has a PIN.
        case pinSet = "pin_set"
        case pinChanged = "pin_changed"
        case pinRemoved = "pin_removed"
        /// Three wrong PINs have locked the PIN of a session.
        case pinLocked = "pin_locked"
        /// A user has a second factor more; `reason` is its short name.
        case secondFactorAdded = "second_factor_added"
        case secondFactorRemoved = "second_factor_removed"
        /// After too many wrong codes no code of an authenticator of the user is taken.
        case secondFactorBlocked = "second_factor_blocked"
        /// An admin has let codes of authenticators be taken again.
        case secondFactorUnblocked = "second_factor_unblocked"
        /// An admin has decided whether policies apply to the user; `reason` is the decision.
        case secondFactorPolicyChanged = "second_factor_policy_changed"
        case recoveryCodesMade = "recovery_codes_made"
        /// A recovery code has stood in for the second factor; `reason` says how many are left.
        case recoveryCodeUsed = "recovery_code_used"
        case passwordChanged = "password_changed"
        case passwordResetRequested = "password_reset_requested"
        case clientCreated = "client_created"
        case clientChanged = "client_changed"
        case clientDeleted = "client_deleted"
        /// The tokens that a client got for itself have ended, without `client_id` those of all clients; `reason` is
        /// `ClientTokenEnding`.
        case clientTokensEnded = "client_tokens_ended"
        /// A client has revoked a token that it got for itself; `jti` is the token's.
        case clientTokenRevoked = "client_token_revoked"
        /// A stream of security events was made, changed or deleted; `reason` says which, or its new status.
        case eventStreamChanged = "event_stream_changed"
        case settingsChanged = "settings_changed"
        case allSessionsRevoked = "all_sessions_revoked"
        case signingKeyCreated = "signing_key_created"
        case signingKeyWithdrawn = "signing_key_withdrawn"
        /// An admin key was made; `reason` is its id. The trail never has its name, which may be that of a person.
        case adminKeyCreated = "admin_key_created"
        case adminKeyDeleted = "admin_key_deleted"
        case backupStarted = "backup_started"
        case databaseRestored = "database_restored"
    }

    /// The kind of event.
    public var kind: Kind
    /// The time of the event.
    public var at: Instant
    /// The actor: `user`, `admin:KEY`, `client:ID`, `provider:NAME` or `system`.
    public var actor: String
    /// The user.
    public var userID: Identifier<User>?
    /// The session.
    public var sessionID: Identifier<Session>?
    /// The client.
    public var clientID: String?
    /// The device.
    public var deviceID: String?
    /// The name that the device had then, or else its platform, until the user is deleted. It stays when the session is
    /// forgotten.
    public var deviceName: String?
    /// The `jti` of a token that a client got for itself.
    public var tokenID: String?
    /// The expiry of that token, for the node that revokes it. The trail does not have it.
    public var tokenExpiry: Instant?
    /// The epoch before which tokens that clients got for themselves have ended.
    public var tokenEpoch: Int64?
    /// The cause: an end reason, a refusal reason, or the changed values.
    public var reason: String?
    /// The network address of the caller; nil if there is none.
    public var remoteAddress: String?
    /// The request id, as in `X-Request-Id`.
    public var requestID: String?
    /// The revocation that resource servers need; nil if there is none. The trail records the result as
    /// `RecordedEvent.revocation`.
    public var revokes: Revocation.Kind?

    /// Creates an event of `kind` at `at`, caused by `origin`.
    public init(
        _ kind: Kind, at: Instant, by origin: Origin, userID: Identifier<User>? = nil,
        sessionID: Identifier<Session>? = nil, clientID: String? = nil, deviceID: String? = nil,
        deviceName: String? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.at = at
        self.actor = origin.actor
        self.userID = userID
        self.sessionID = sessionID
        self.clientID = clientID
        self.deviceID = deviceID
        self.deviceName = deviceName
        self.reason = reason
        self.remoteAddress = origin.remoteAddress
        self.requestID = origin.requestID
    }

    /// Creates an event of `kind` about `session`.
    public init(_ kind: Kind, at: Instant, by origin: Origin, session: Session, reason: String? = nil) {
        self.init(
            kind, at: at, by: origin, userID: session.userID, sessionID: session.id, clientID: session.clientID,
            deviceID: session.device.id, deviceName: session.device.label, reason: reason)
    }
}

extension [AuditEvent] {
    /// The events without what a deleted user called the devices.
    func withoutDeviceNames() -> [AuditEvent] {
        map { event in
            var event = event
            event.deviceName = nil
            return event
        }
    }
}

/// The beginning or the end of a session.
public enum SessionTransition: Hashable, Sendable {
    /// The session began.
    case start
    case end(EndReason)
}

extension AuditEvent {
    /// The beginning or the end of a session that the event records; nil if it records none.
    public var transition: SessionTransition? {
        switch kind {
        case .sessionStarted: .start
        case .sessionEnded: reason.flatMap { EndReason(rawValue: $0) }.map { .end($0) }
        default: nil
        }
    }
}

/// The cause of a change, which the audit trail records with every event: actor, address and request.
public struct Origin: Hashable, Sendable {
    /// `user`, `admin:KEY`, `client:ID`, `provider:NAME` or `system`.
    public var actor: String
    /// The network address, if the request came over the network.
    public var remoteAddress: String?
    /// The request id.
    public var requestID: String?

    /// Creates an origin.
    public init(actor: String, remoteAddress: String? = nil, requestID: String? = nil) {
        self.actor = actor
        self.remoteAddress = remoteAddress
        self.requestID = requestID
    }

    /// The cause of `event`.
    init(_ event: AuditEvent) {
        self.init(actor: event.actor, remoteAddress: event.remoteAddress, requestID: event.requestID)
    }

    /// The actor of users on their own account.
    public static let userActor = "user"

    /// The server itself, in clean-up and key rotation.
    public static let system = Origin(actor: "system")
}

/// An audit event with its id in the trail.
public struct RecordedEvent: Hashable, Sendable {
    /// The id, which increases in the order of the trail and is its cursor.
    public var id: Int64
    /// The event.
    public var event: AuditEvent
    /// The revocation that this event entered into the feed, without its number; nil if there is none.
    public var revocation: Revocation?

    /// Creates a recorded event.
    public init(id: Int64, event: AuditEvent, revocation: Revocation? = nil) {
        self.id = id
        self.event = event
        self.revocation = revocation
    }
}
