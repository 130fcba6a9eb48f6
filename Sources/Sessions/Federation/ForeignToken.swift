/// A refresh token of another system, known by its hash: accepted once, and exchanged for a session of ours.
///
/// Whoever moves here from another server brings these along, so that nobody has to log in again. The foreign token is
/// the serial 0 of the session that it becomes: presented again, it is judged by the table of rotation like any other
/// parent, so that a lost answer logs nobody out and a token that was used twice is found out.
public struct ForeignToken: Hashable, Sendable {
    /// What a foreign token has become.
    public struct Exchange: Hashable, Sendable {
        /// The session.
        public let sessionID: Identifier<Session>
        /// Since when.
        public let at: Instant

        /// The exchange for the session `sessionID`.
        public init(sessionID: Identifier<Session>, at: Instant) {
            self.sessionID = sessionID
            self.at = at
        }
    }

    /// The number of bytes of a digest.
    public static let digestCount = 32
    /// Why a session started that such a token has become, in the trail.
    public static let startReason = "foreign_token"

    /// SHA-256 of the token's text as the client presents it.
    public let digest: [UInt8]
    /// Whose it is.
    public let userID: Identifier<User>
    /// The app.
    public let clientID: String
    /// The installation of the app.
    public let device: Device
    /// What was granted; nil: all that the client can be granted when the token is exchanged.
    public let scope: Scope?
    /// The interactive login, at the other system: the session starts here, and its longest stay counts from here.
    public let startedAt: Instant
    /// From when the other system would have refused it; nil if it sets no such end.
    public let expiresAt: Instant?
    /// The value of the store's counter when it was brought here: a "revoke all" ends what waits, too.
    public let epoch: Int64
    /// Set when it was exchanged.
    public var exchange: Exchange?

    /// A foreign token as it stands in the store.
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

/// A change of one foreign token, inside a transaction: exchange it for a session, or delete it.
public struct ForeignTokenChange: Sendable {
    /// The token; nil deletes it. Only its `exchange` can be edited.
    public var token: ForeignToken?
    /// Nil when the user was deleted.
    public let user: User?
    /// Nil when there is no such client.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// The session on the token's (user, client, device) without a recorded end, if there is one. It stays as it is, so
    /// that a new session is possible only when this is nil.
    public let living: Session?
    /// The session that the token becomes; left nil when it becomes none.
    public var session: Session?
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of `token`.
    public init(token: ForeignToken, user: User?, client: Client?, settings: Settings, living: Session?) {
        self.token = token
        self.user = user
        self.client = client
        self.settings = settings
        self.living = living
    }
}
