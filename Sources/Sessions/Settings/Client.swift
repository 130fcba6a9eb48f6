/// An OAuth client: one app, or one backend (RFC 6749 section 2; member names of RFC 7591).
public struct Client: Hashable, Sendable, Identifiable {
    /// How the client proves who it is at the token endpoint (RFC 7591 section 2).
    public enum AuthenticationMethod: String, CaseIterable, Sendable {
        /// A public client: its id is all there is.
        case none
        /// The secret in the Authorization header.
        case clientSecretBasic = "client_secret_basic"
        /// The secret in the form.
        case clientSecretPost = "client_secret_post"
        /// An assertion that one of the client's keys has signed (RFC 7523 section 2.2).
        case privateKeyJWT = "private_key_jwt"

        /// Whether the client shares a secret with the server.
        public var hasSecret: Bool { self == .clientSecretBasic || self == .clientSecretPost }
    }

    /// The grants that a client can be allowed.
    public enum GrantType: String, CaseIterable, Sendable {
        case refreshToken = "refresh_token"
        case clientCredentials = "client_credentials"
        case password
        /// An assertion signed by the key of a device (RFC 7523).
        case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        /// An ID token of an identity provider (RFC 8693).
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    }

    /// Where the refresh token travels.
    public enum TokenStyle: String, CaseIterable, Sendable {
        /// Beside the rolling token.
        case separate
        /// Inside the rolling token, as the claim `rt`: the client keeps one string (seed 003). Every API that sees the
        /// rolling token then sees the refresh token.
        case single
    }

    /// Whether a login must bring a proof of possession of a key, to which the session is then bound (RFC 9449).
    public enum ProofRequirement: String, CaseIterable, Sendable {
        /// The app chooses at login.
        case optional
        /// No login without. Sessions that began before stay what they are.
        case required
    }

    /// Chosen by the admin: 1 to 128 visible ASCII characters.
    public let id: String
    /// What people call it.
    public var name: String?
    /// How it authenticates.
    public var authenticationMethod: AuthenticationMethod
    /// SHA-256 of the secret, for a confidential client. The secret is random, so a fast hash is enough.
    public var secretHash: [UInt8]?
    /// The public keys of a client that signs assertions.
    public var keys: ClientKeys?
    /// What it may ask the token endpoint for.
    public var grantTypes: [GrantType]
    /// The widest scope that it can be granted, and that its tokens are good for.
    public var scope: Scope
    /// The APIs that it can have tokens for, beside the server's own audience (RFC 8707).
    public var resources: [String] = []
    /// Where the refresh token travels.
    public var tokenStyle: TokenStyle
    /// Overrides the setting of the same name; nil inherits.
    public var offlineSessionIdle: Duration?
    /// A limit of the client's own, from the session's start; nil inherits.
    public var offlineSessionMax: Duration?
    /// The lifetime of a rolling token; nil: the idle time.
    public var accessTokenLifetime: Duration?
    /// Overrides the setting of the same name; nil inherits.
    public var refreshAfter: Duration?
    /// When it was made.
    public let createdAt: Instant
    /// The value of the store's counter when it was made: sessions of an earlier client with the same id are over.
    public var epoch: Int64
    /// Whether what it gets must be bound to a key.
    public var dpop: ProofRequirement
    /// How long sessions that are guarded by biometry or password go on without the user's showing to be there, those by
    /// password never longer than `refreshAfter`; nil or zero: as their mode has it.
    public var userPresenceMaxAge: Duration?

    /// The public first-party app that exists from the first start.
    public static let mobileID = "mobile"

    /// A client as it stands in the store.
    public init(
        id: String, name: String? = nil, authenticationMethod: AuthenticationMethod = .none,
        secretHash: [UInt8]? = nil, keys: ClientKeys? = nil, grantTypes: [GrantType] = [.refreshToken],
        scope: Scope = .empty,
        tokenStyle: TokenStyle = .separate, offlineSessionIdle: Duration? = nil, offlineSessionMax: Duration? = nil,
        accessTokenLifetime: Duration? = nil, refreshAfter: Duration? = nil, createdAt: Instant, epoch: Int64,
        dpop: ProofRequirement = .optional, userPresenceMaxAge: Duration? = nil
    ) {
        self.id = id
        self.name = name
        self.authenticationMethod = authenticationMethod
        self.secretHash = secretHash
        self.keys = keys
        self.grantTypes = grantTypes
        self.scope = scope
        self.tokenStyle = tokenStyle
        self.offlineSessionIdle = offlineSessionIdle
        self.offlineSessionMax = offlineSessionMax
        self.accessTokenLifetime = accessTokenLifetime
        self.refreshAfter = refreshAfter
        self.createdAt = createdAt
        self.epoch = epoch
        self.dpop = dpop
        self.userPresenceMaxAge = userPresenceMaxAge
    }

    /// What is left of a scope that was granted once: what an admin has taken from the client since is left out.
    func standing(_ granted: Scope) -> Scope { granted.intersection(scope) }

    /// Whether the client has nothing to prove itself with.
    public var isPublic: Bool { authenticationMethod == .none }
}
