/// What a resource server has to know that checks rolling tokens by itself: which of those that have not expired are good
/// for nothing any more. It commits with the change that it tells of.
///
/// A session that the clock ends (idle, maximum) brings none: its rolling tokens end with it, or before, unless lifetimes have
/// become shorter since, which brings one for all of them.
public struct Revocation: Hashable, Sendable {
    /// What is over. The raw values are on the wire and in the database.
    public enum Kind: String, CaseIterable, Sendable {
        /// Tokens with this `sid`.
        case sessionEnded = "session_ended"
        /// Tokens with this `sub`, until `userUnblocked`: their logins are off with immediate effect.
        case userBlocked = "user_blocked"
        /// Tokens with this `sub` are good again, as far as their sessions live.
        case userUnblocked = "user_unblocked"
        /// Tokens with this `sub` and an `iat` that is not after `at`: an import may bring the user back, who then gets others.
        case userDeleted = "user_deleted"
        /// Tokens with this `client_id` and an `iat` that is not after `at`.
        case clientDeleted = "client_deleted"
        /// Tokens with a `sid` and an `iat` that is not after `at`.
        case allSessionsEnded = "all_sessions_ended"
        /// Tokens with a `sid` and an `iat` that is not after `at`; only those with this `client_id` or this `sub`, if it names one. Their
        /// sessions end earlier now. Those that live get tokens that say so.
        case lifetimesShortened = "lifetimes_shortened"

        /// Whether later tokens are good.
        var hasCutoff: Bool {
            switch self {
            case .userDeleted, .clientDeleted, .allSessionsEnded, .lifetimesShortened: true
            case .sessionEnded, .userBlocked, .userUnblocked: false
            }
        }

        /// Whether a later one takes none back. Of a session or a user the last word counts.
        var addsUp: Bool { hasCutoff && self != .userDeleted }
    }

    /// Counts up in the order of commits, so that who has seen one never misses a smaller one: the cursor of the feed.
    public var number: Int64
    /// What is over.
    public var kind: Kind
    /// Since when; up to which `iat`, where later tokens are good.
    public var at: Instant
    /// From then on it can be forgotten: every token that it is about has expired.
    public var until: Instant
    /// Whose.
    public var userID: Identifier<User>?
    /// Which stay.
    public var sessionID: Identifier<Session>?
    /// In which app.
    public var clientID: String?
    /// Why a session ended: an `EndReason`. Of nothing else, for which it can be what an admin wrote about a user.
    public var reason: String?

    /// A revocation at place `number` of the feed.
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

    /// How much later than the change a token can have been issued without knowing of it: by a node whose clock is ahead, or by
    /// a refresh that wrote nothing and read what was there before the commit.
    public static let leeway = Duration.seconds(1)

    /// The revocation that `event` is; nil if it is none. Its number is given when it is written.
    ///
    /// - Parameters:
    ///   - now: when it is written. The event may be older: while its change waited, tokens were issued.
    ///   - lastTokenEnd: when the last token has expired that was issued by some instant.
    public init?(_ event: AuditEvent, at now: Instant, lastTokenEnd: (Instant) -> Instant) {
        guard let kind = event.revokes else { return nil }
        let written = max(event.at, now)
        let at = kind.hasCutoff ? written + Self.leeway : event.at
        self.init(kind, of: event, at: at, until: lastTokenEnd(max(at, written)))
    }

    /// The revocation of `kind` that `event` was, without its number.
    public init(_ kind: Kind, of event: AuditEvent, at: Instant, until: Instant) {
        self.init(
            number: 0, kind, at: at, until: until, userID: event.userID, sessionID: event.sessionID,
            clientID: event.clientID, reason: event.reason)
    }
}

extension EndReason {
    /// Whether rolling tokens can outlive a session that ends for this reason.
    var leavesTokens: Bool { self != .idleExpired && self != .maxLifetimeReached }
}

extension AuditEvent {
    /// The end of a session, for its reason.
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
    /// The app.
    public var clientID: String
    /// The device.
    public var deviceID: String

    /// A session that ended.
    public init(id: Identifier<Session>, clientID: String, deviceID: String) {
        self.id = id
        self.clientID = clientID
        self.deviceID = deviceID
    }
}

extension UserChange {
    /// What the audit trail gets for each session that `ending` has ended, after the events of the change itself.
    public func events(_ ended: [EndedSession], by ending: EndingSessions) -> [AuditEvent] {
        let cause = events.first
        let origin = Origin(
            actor: cause?.actor ?? Origin.system.actor, remoteAddress: cause?.remoteAddress,
            requestID: cause?.requestID)
        return ended.map { session in
            var event = AuditEvent(
                .sessionEnded, at: ending.at, by: origin, userID: user.id, sessionID: session.id,
                clientID: session.clientID, deviceID: session.deviceID, reason: ending.reason.rawValue)
            if ending.reason.leavesTokens { event.revokes = .sessionEnded }
            return event
        }
    }

    /// Switches logins off or on by `edit`, and tells the audit trail; and resource servers, if living tokens lose, or get
    /// back, what they are good for.
    mutating func switchLogins(
        _ kind: AuditEvent.Kind, at now: Instant, by origin: Origin, reason: String? = nil, _ edit: (inout User) -> Void
    ) {
        let wasBlocked = user.rejectsRollingTokens
        edit(&user)
        var event = AuditEvent(kind, at: now, by: origin, userID: user.id, reason: reason)
        if user.rejectsRollingTokens != wasBlocked {
            event.revokes = user.rejectsRollingTokens ? .userBlocked : .userUnblocked
        }
        events.append(event)
    }
}

/// Until when rolling tokens live that were issued by some moment. Their life is settled when they are issued; a shorter one
/// that is set later shortens only the next ones.
extension Settings {
    /// The longest life of a rolling token that is issued now, whatever its client.
    public func tokenLife(_ clients: some Sequence<Client>) -> Duration {
        clients.reduce(.zero) { longest, client in
            // Only ends of sessions depend on users and the maximum, and those come on top.
            let own = Lifetimes(
                settings: sessions, client: client, user: nil, absoluteMaximum: sessions.offlineSessionIdle)
            return max(longest, own.accessToken)
        }
    }

    /// When the last token has expired that was issued by `instant`.
    public func lastTokenEnd(_ clients: some Sequence<Client>, issuedBy instant: Instant) -> Instant {
        let end = instant + tokenLife(clients)
        return max(end, earlierTokensEnd ?? end)
    }
}
