public import JSON

/// What a receiver of security events is told (OpenID CAEP 1.0, RISC Profile 1.0, Shared Signals Framework 1.0 section 8.1.4).
public struct SecurityEvent: Hashable, Sendable {
    /// The events that a stream can carry. The raw values are the URIs on the wire.
    public enum Kind: String, CaseIterable, Sendable, Codable {
        /// A session has ended (CAEP section 3.1).
        case sessionRevoked = "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
        /// A password or a passkey was set, changed or removed (CAEP section 3.3).
        case credentialChange = "https://schemas.openid.net/secevent/caep/event-type/credential-change"
        /// A session has started (CAEP section 3.6).
        case sessionEstablished = "https://schemas.openid.net/secevent/caep/event-type/session-established"
        /// The user or an admin has disabled the user's logins (RISC section 2.3).
        case accountDisabled = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"
        /// The logins of a user are possible again (RISC section 2.4).
        case accountEnabled = "https://schemas.openid.net/secevent/risc/event-type/account-enabled"
        /// The user was deleted (RISC section 2.2).
        case accountPurged = "https://schemas.openid.net/secevent/risc/event-type/account-purged"
    }

    /// The URI of the event with which a receiver tests its stream. No stream has to ask for it.
    static let verification = "https://schemas.openid.net/secevent/ssf/event-type/verification"

    /// The cause (CAEP section 2): `admin`, `user`, `policy` or `system`.
    public enum Initiator: String, Sendable {
        case admin
        case user
        case policy
        case system
    }

    /// The kind.
    public let kind: Kind
    /// The user.
    public let userID: Identifier<User>
    /// The session; nil if the event is about the user.
    public let sessionID: Identifier<Session>?
    /// When it happened.
    public let at: Instant
    /// The cause.
    public let initiator: Initiator
    /// The cause in one word of the audit trail; never a note of an admin about a user.
    public let reason: String
    /// The members of the event beside these, such as `credential_type`.
    public let details: [String: JSONValue]
}

extension SecurityEvent {
    /// The security event that an event of the audit trail is; nil if receivers are not told of it.
    public init?(_ recorded: RecordedEvent) {
        let event = recorded.event
        guard let userID = event.userID, let (kind, details) = Self.meaning(of: event) else { return nil }
        self.kind = kind
        self.userID = userID
        let isAboutSession = kind == .sessionRevoked || kind == .sessionEstablished
        if isAboutSession, event.sessionID == nil { return nil }
        sessionID = isAboutSession ? event.sessionID : nil
        at = event.at
        initiator = Self.initiator(of: event)
        reason = Self.reason(of: event, kind)
        self.details = details
    }

    private static func meaning(of event: AuditEvent) -> (Kind, [String: JSONValue])? {
        switch event.kind {
        // `sessions_ended` stands beside one event for each session.
        case .sessionEnded: (.sessionRevoked, [:])
        case .sessionStarted: (.sessionEstablished, [:])
        case .passwordChanged: (.credentialChange, credential("password", "update"))
        // The specification has no word for a passkey that may be synchronized between platforms.
        case .passkeyAdded: (.credentialChange, credential("fido2-platform", "create"))
        case .passkeyRemoved: (.credentialChange, credential("fido2-platform", "delete"))
        case .secondFactorAdded: (.credentialChange, credential("app", "create"))
        case .secondFactorRemoved: (.credentialChange, credential("app", "delete"))
        case .pinSet: (.credentialChange, credential("pin", "create"))
        case .pinChanged: (.credentialChange, credential("pin", "update"))
        case .pinRemoved: (.credentialChange, credential("pin", "delete"))
        case .loginsDisabled: (.accountDisabled, [:])
        case .loginsEnabled: (.accountEnabled, [:])
        case .userDeleted: (.accountPurged, [:])
        default: nil
        }
    }

    private static func credential(_ type: String, _ change: String) -> [String: JSONValue] {
        ["credential_type": .string(type), "change_type": .string(change)]
    }

    private static func initiator(of event: AuditEvent) -> Initiator {
        if event.actor.hasPrefix("admin:") { return .admin }
        if event.actor == Origin.userActor {
            // A session that the clock has ended is found so by the user's next request.
            let isOfClock =
                event.reason == EndReason.idleExpired.rawValue
                || event.reason == EndReason.maxLifetimeReached.rawValue
                || event.reason == EndReason.refreshTokenReused.rawValue
            return isOfClock ? .policy : .user
        }
        return .system
    }

    /// The reason of an end. Other events hold a note of an admin, or the name of a passkey, in their reason.
    private static func reason(of event: AuditEvent, _ kind: Kind) -> String {
        if kind == .sessionRevoked, let reason = event.reason, EndReason(rawValue: reason) != nil { return reason }
        return event.kind.rawValue
    }
}
