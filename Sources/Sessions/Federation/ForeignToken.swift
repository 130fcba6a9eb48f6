/// A refresh token of another system, known by its hash, which is exchanged once for a session of this server.
///
/// The tokens are imported in a move from another server, so that users need not log in again. The foreign token is serial 0 of
/// the new session. When it is presented again, the rules of rotation treat it like any parent token, so that a lost answer
/// logs no user out, and a token that was used twice is detected.
public struct ForeignToken: Hashable, Sendable {
    /// The exchange of a foreign token for a session.
    public struct Exchange: Hashable, Sendable {
        /// The new session.
        public let sessionID: Identifier<Session>
        /// The time of the exchange.
        public let at: Instant

        /// Creates an exchange for the session `sessionID`.
        public init(sessionID: Identifier<Session>, at: Instant) {
            self.sessionID = sessionID
            self.at = at
        }
    }

    /// The number of bytes of a digest.
    public static let digestCount = 32
    /// The reason in the audit event of a session that such a token started.
    public static let startReason = "foreign_token"

    /// SHA-256 of the token as the client presents it.
    public let digest: [UInt8]
    /// The user.
    public let userID: Identifier<User>
    /// The client.
    public let clientID: String
    /// The installation of the app.
    public let device: Device
    /// The granted scope; nil for all scopes that the client has when the token is exchanged.
    public let scope: Scope?
    /// The time of the interactive login at the other system. The session's maximum lifetime counts from this time.
    public let startedAt: Instant
    /// The time from which the other system would refuse the token; nil if it sets none.
    public let expiresAt: Instant?
    /// The epoch (`Settings.epoch`) at the import. A later "revoke all" also revokes tokens that were not exchanged yet.
    public let epoch: Int64
    /// The exchange; nil before it.
    public var exchange: Exchange?

    /// Creates a foreign token from its stored values.
    public init(
        digest: [UInt8], userID: Identifier<User>, clientID: String, device: Device, scope: Scope? = nil,
        startedAt: Instant, expiresAt: Instant? = nil, epoch: Int64, exchange: Exchange? = nil
    ) {
        self.digest = digest
        self.userID = userID
        self.clientID = clientID
        self.device = device
        self.scope = scope
        self.startedAt = startedAt
        self.expiresAt = expiresAt
        self.epoch = epoch
        self.exchange = exchange
    }
}

/// A change of one foreign token inside a transaction: exchange it for a session, or delete it.
public struct ForeignTokenChange: Sendable {
    /// The token; nil deletes it. Only `exchange` can be changed.
    public var token: ForeignToken?
    /// The user; nil if it was deleted.
    public let user: User?
    /// The client; nil if it does not exist.
    public let client: Client?
    /// The current settings.
    public let settings: Settings
    /// The session of the token's user, client and device without a recorded end; nil if there is none. The change cannot
    /// modify it, so that a new session is possible only if this is nil.
    public let living: Session?
    /// The new session; nil if the change starts none.
    public var session: Session?
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []

    /// Creates a change of `token`.
    public init(token: ForeignToken, user: User?, client: Client?, settings: Settings, living: Session?) {
        self.token = token
        self.user = user
        self.client = client
        self.settings = settings
        self.living = living
    }
}
