/// A revocation of unexpired access tokens, for resource servers that verify tokens by themselves. It commits with the change
/// that causes it.
///
/// A session that the clock ends (idle, maximum) causes none, because its access tokens expire with it or before. Shorter
/// lifetimes are the exception, and cause one revocation for all tokens.
public struct Revocation: Hashable, Sendable {
    /// The revoked tokens. The raw values are on the wire and in the database.
    public enum Kind: String, CaseIterable, Sendable {
        /// Tokens with this `sid`.
        case sessionEnded = "session_ended"
        /// Tokens with this `sub`, until `userUnblocked`, because logins are disabled with immediate effect.
        case userBlocked = "user_blocked"
        /// Tokens with this `sub` are valid again, if their sessions are active.
        case userUnblocked = "user_unblocked"
        /// Tokens with this `sub` and an `iat` not after `at`. An import may create the user again, and later tokens are valid.
        case userDeleted = "user_deleted"
        /// Tokens with this `client_id` and an `iat` not after `at`.
        case clientDeleted = "client_deleted"
        /// Tokens with a `sid` and an `iat` not after `at`.
        case allSessionsEnded = "all_sessions_ended"
        /// Tokens with a `sid` and an `iat` that is not after `at`; only those with this `client_id` or this `sub`, if it names
        /// one. Their sessions end earlier now, and active ones get new tokens with the new expiry.
        case lifetimesShortened = "lifetimes_shortened"
        /// Tokens without a `sid` and with a smaller `epoch`; only those with this `client_id`, if it names one.
        case clientTokensEnded = "client_tokens_ended"
        /// The token without a `sid` that has this `client_id` and this `jti`.
        case clientTokenRevoked = "client_token_revoked"

        /// True if tokens issued after `at` are valid.
        var hasCutoff: Bool {
            switch self {
            case .userDeleted, .clientDeleted, .allSessionsEnded, .lifetimesShortened: true
            case .sessionEnded, .userBlocked, .userUnblocked, .clientTokensEnded, .clientTokenRevoked: false
            }
        }

        /// True if no later revocation cancels this one. For a session or a user the last one counts.
        var addsUp: Bool {
            switch self {
            case .clientDeleted, .allSessionsEnded, .lifetimesShortened, .clientTokensEnded, .clientTokenRevoked: true
            case .sessionEnded, .userBlocked, .userUnblocked, .userDeleted: false
            }
        }
    }

    /// The number, which is part of the cursor. A reader of one number has missed no smaller one. Of two revocations of one
    /// session or one user, the later one has the larger number.
    public var number: Int64
    /// The kind.
    public var kind: Kind
    /// The time of the revocation; the last revoked `iat` for kinds with a cutoff.
    public var at: Instant
    /// The time from which the revocation can be deleted, because all its tokens have expired.
    public var until: Instant
    /// The user.
    public var userID: Identifier<User>?
    /// The session.
    public var sessionID: Identifier<Session>?
    /// The client.
    public var clientID: String?
    /// The `jti` of the one token of `clientTokenRevoked`.
    public var tokenID: String?
    /// The first epoch of tokens that `clientTokensEnded` does not concern.
    public var tokenEpoch: Int64?
    /// The `EndReason` of a session; nil for other kinds, because theirs could hold an admin's note about a user.
    public var reason: String?

    /// Creates a revocation with `number`.
    public init(
        number: Int64, _ kind: Kind, at: Instant, until: Instant, userID: Identifier<User>? = nil,
        sessionID: Identifier<Session>? = nil, clientID: String? = nil, reason: String? = nil
    ) {
        self.number = number
        self.kind = kind
        self.at = at
        self.until = until
        self.userID = userID
        self.sessionID = sessionID
        self.clientID = clientID
        self.reason = kind == .sessionEnded ? reason : nil
    }

    /// The time after a change in which tokens may have been issued without knowledge of it: by a node with a fast clock, or by
    /// a refresh that wrote nothing and read the state before the commit.
    public static let leeway = Duration.seconds(1)

    /// Creates the revocation of `event`; nil if it has none. The store assigns the number when it writes it.
    ///
    /// - Parameters:
    ///   - now: the time of the write. The event may be older, and tokens may have been issued while its change waited.
    ///   - lastTokenEnd: returns the expiry of the last token that was issued by an instant.
    public init?(_ event: AuditEvent, at now: Instant, lastTokenEnd: (Instant) -> Instant) {
        guard let kind = event.revokes else { return nil }
        let written = max(event.at, now)
        let at = kind.hasCutoff ? written + Self.leeway : event.at
        self.init(kind, of: event, at: at, until: lastTokenEnd(max(at, written)))
    }

    /// Creates the revocation of `kind` for `event`, without its number.
    public init(_ kind: Kind, of event: AuditEvent, at: Instant, until: Instant) {
        self.init(
            number: 0, kind, at: at, until: until, userID: event.userID, sessionID: event.sessionID,
            clientID: event.clientID, reason: event.reason)
        (tokenID, tokenEpoch) = (event.tokenID, event.tokenEpoch)
    }
}

extension EndReason {
    /// Whether access tokens can outlive a session that ends for this reason.
    var leavesTokens: Bool { self != .idleExpired && self != .maxLifetimeReached }
}

extension AuditEvent {
    /// The event for the end of a session.
    static func ended(_ session: Session, _ reason: EndReason, at now: Instant, by origin: Origin) -> AuditEvent {
        var event = AuditEvent(.sessionEnded, at: now, by: origin, session: session, reason: reason.rawValue)
        if reason.leavesTokens { event.revokes = .sessionEnded }
        return event
    }
}

/// A session that ended with a change of its user.
public struct EndedSession: Hashable, Sendable {
    /// The session.
    public var id: Identifier<Session>
    /// The client.
    public var clientID: String
    /// The device.
    public var deviceID: String
    /// What events call the device (`Device.label`).
    public var deviceName: String?

    /// Creates an ended session.
    public init(id: Identifier<Session>, clientID: String, deviceID: String, deviceName: String?) {
        self.id = id
        self.clientID = clientID
        self.deviceID = deviceID
        self.deviceName = deviceName
    }
}

extension UserChange {
    /// The audit events for the sessions that `ending` has ended, to write after the events of the change itself.
    public func events(_ ended: [EndedSession], by ending: EndingSessions) -> [AuditEvent] {
        let cause = events.first
        let origin = Origin(
            actor: cause?.actor ?? Origin.system.actor, remoteAddress: cause?.remoteAddress,
            requestID: cause?.requestID)
        return ended.map { session in
            var event = AuditEvent(
                .sessionEnded, at: ending.at, by: origin, userID: user.id, sessionID: session.id,
                clientID: session.clientID, deviceID: session.deviceID, deviceName: session.deviceName,
                reason: ending.reason.rawValue)
            if ending.reason.leavesTokens { event.revokes = .sessionEnded }
            return event
        }
    }
}

/// The expiry of access tokens that were issued by some instant. The lifetime of a token is fixed when it is issued, and a
/// shorter one that is set later affects only later tokens.
extension Settings {
    /// The longest lifetime of an access token that is issued now, over all clients.
    public func tokenLife(_ clients: some Sequence<Client>) -> Duration {
        clients.reduce(.zero) { longest, client in
            // Users and the maximum affect only the ends of sessions, which limit the lifetime further.
            let own = Lifetimes(
                settings: sessions, client: client, user: nil, absoluteMaximum: sessions.offlineSessionIdle)
            return max(longest, own.accessToken)
        }
    }

    /// The expiry of the last token issued by `instant`.
    public func lastTokenEnd(_ clients: some Sequence<Client>, issuedBy instant: Instant) -> Instant {
        let end = instant + tokenLife(clients)
        return max(end, earlierTokensEnd ?? end)
    }
}
