/// An OAuth client: one app or one backend (RFC 6749 section 2; member names of RFC 7591).
public struct Client: Hashable, Sendable, Identifiable {
    /// The client's authentication at the token endpoint (RFC 7591 section 2).
    public enum AuthenticationMethod: String, CaseIterable, Sendable {
        /// No authentication: a public client.
        case none
        /// The secret in the Authorization header.
        case clientSecretBasic = "client_secret_basic"
        /// The secret in the form.
        case clientSecretPost = "client_secret_post"
        /// An assertion signed by one of the client's keys (RFC 7523 section 2.2).
        case privateKeyJWT = "private_key_jwt"

        /// True if the client has a secret.
        public var hasSecret: Bool { self == .clientSecretBasic || self == .clientSecretPost }
    }

    /// The grants that a client may have.
    public enum GrantType: String, CaseIterable, Sendable {
        /// A code of the authorization endpoint (RFC 6749 section 4.1).
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        case clientCredentials = "client_credentials"
        case password
        /// An assertion signed by the key of a device (RFC 7523).
        case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        /// A login that a phone, or a browser, approves (RFC 8628).
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
        /// A login that the client requests and a phone of the user approves (OpenID Connect CIBA).
        case backchannel = "urn:openid:params:grant-type:ciba"
        /// An ID token of an identity provider (RFC 8693).
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
        /// The app's own login screen: `POST /v1/login`, which is no grant of the token endpoint.
        case login
    }

    /// The place of the refresh token.
    public enum TokenStyle: String, CaseIterable, Sendable {
        /// Beside the access token.
        case separate
        /// Inside the access token, as the claim `rt`: the client keeps one string (seed 003). Every API that sees the
        /// access token then sees the refresh token.
        case single
    }

    /// The requirement of a proof of possession at login. The session is then bound to the key of the proof (RFC 9449).
    public enum ProofRequirement: String, CaseIterable, Sendable {
        /// The app decides at login.
        case optional
        /// A login needs a proof. Existing sessions continue unchanged.
        case required
        /// As `required`, and each proof needs a recent nonce of the server, at every call. Without it, an injected script could
        /// sign proofs for next week, and take them along (RFC 9449 section 11.2).
        case nonce
    }

    /// The id, chosen by the admin: 1 to 128 visible ASCII characters.
    public let id: String
    /// The display name.
    public var name: String?
    /// The authentication method.
    public var authenticationMethod: AuthenticationMethod
    /// Whether a secret is accepted by `authenticationMethod` alone; otherwise in the Authorization header and in the form.
    public var isAuthenticationMethodPinned = false
    /// SHA-256 of the secret of a confidential client. A fast hash suffices, because the secret is random.
    public var secretHash: [UInt8]?
    /// The secret before the present one, while it is still accepted.
    public var earlierSecret: EarlierSecret?
    /// The public keys of a client that authenticates by assertions.
    public var keys: ClientKeys?
    /// The grants that the client may use.
    public var grantTypes: [GrantType]
    /// The widest scope that the client can be granted. It also limits the scope of its existing tokens.
    public var scope: Scope
    /// The APIs for which the client can request tokens, beside the server's own audience (RFC 8707).
    public var resources: [String] = []
    /// The place of the refresh token.
    public var tokenStyle: TokenStyle
    /// Overrides the setting of the same name; nil inherits it.
    public var offlineSessionIdle: Duration?
    /// The client's own limit for a session, from its start; nil inherits the setting.
    public var offlineSessionMax: Duration?
    /// The lifetime of an access token; nil: the idle time.
    public var accessTokenLifetime: Duration?
    /// Overrides the setting of the same name; nil inherits it.
    public var refreshAfter: Duration?
    /// The time of its creation.
    public let createdAt: Instant
    /// The epoch (`Settings.epoch`) at its creation. Sessions of an earlier client with the same id have ended.
    public var epoch: Int64
    /// The epoch (`Settings.epoch`) from which tokens that the client gets for itself are valid. It increases when a secret or
    /// a key of the client ends, and no session depends on it. A client made anew begins at its own epoch, so that no token of
    /// an earlier client with the same id becomes valid again.
    public var tokenEpoch: Int64
    /// The requirement of a proof of possession.
    public var dpop: ProofRequirement
    /// The longest time for which a session of the mode `BIOMETRIC` or `PASSWORD` continues without a proof of presence, for
    /// `PASSWORD` at most `refreshAfter`; nil or zero leaves it to the mode.
    public var userPresenceMaxAge: Duration?

    /// Whether users of the client stay logged in. If not, a login gives a short access token and no refresh token, and the
    /// session ends with that token.
    public var staysLoggedIn = true
    /// Whether strangers make accounts by a proof of their mailbox.
    public var signUp = false
    /// When logins ask for a second factor, if that is stricter than the settings; nil: as they say.
    public var secondFactorPolicy: SecondFactorPolicy?
    /// What pages and mails show of the client.
    public var branding = Branding()

    /// Whether a login of the client can make an anonymous user.
    public var anonymousUsers = false

    /// What a refresh does that names another platform than the login.
    public enum AppDataRule: String, CaseIterable, Sendable {
        /// The new platform is kept, and nothing else happens.
        case ignore
        /// The new platform is kept, and the change is in the audit trail.
        case report
        /// The refresh is refused as `device_mismatch`, as is one that does not name its platform. The session is kept.
        case refuse
    }

    /// The rule for a refresh that names another platform than the login.
    public var appData = AppDataRule.ignore

    /// The claims of a user that each scope brings into ID tokens and userinfo.
    public var scopeClaims = ScopeClaims.preset

    /// What a refresh does in a session that the operator's own attestation does not call `genuine`.
    public enum AttestationRule: String, CaseIterable, Sendable {
        /// The refresh is granted, and nothing else happens.
        case ignore
        /// The refresh is granted, and is in the audit trail.
        case report
        /// The refresh is refused as `device_mismatch`. The session is kept.
        case refuse
    }

    /// The rule for a refresh in a session without the verdict `genuine`.
    public var attestation = AttestationRule.ignore

    /// The origins of the pages that may call the server as this client (CORS). Without one, the field `Origin` means nothing.
    public var allowedOrigins: [WebOrigin] = []

    /// The registration for logins on the server's page.
    @Boxed public var page = PageRegistration()

    /// How the client hears of the logins that it requests of users.
    @Boxed public var backchannel = BackchannelRegistration()

    /// The stream of security events to the client's receiver; nil without one.
    @Boxed public var eventStream: EventStream?

    /// The lifetime of access tokens of a client that does not stay logged in, and of those that a client gets for itself, unless
    /// it has its own.
    public static let shortAccessTokenLifetime = Duration.seconds(3600)

    /// The id of the public first-party app, which exists from the first start.
    public static let mobileID = "mobile"

    /// Creates a client from its stored values.
    public init(
        id: String, name: String? = nil, authenticationMethod: AuthenticationMethod = .none,
        secretHash: [UInt8]? = nil, keys: ClientKeys? = nil, grantTypes: [GrantType] = [.refreshToken, .login],
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
        tokenEpoch = epoch
        self.dpop = dpop
        self.userPresenceMaxAge = userPresenceMaxAge
    }

    /// The granted scope without the tokens that an admin has removed from the client since.
    func standing(_ granted: Scope) -> Scope { granted.intersection(scope) }

    /// The methods by which the client may authenticate: its own, and with a secret both places of it, unless one is pinned.
    public var acceptedMethods: [AuthenticationMethod] {
        guard authenticationMethod.hasSecret, !isAuthenticationMethodPinned else { return [authenticationMethod] }
        return [.clientSecretBasic, .clientSecretPost]
    }

    /// The part of a requested scope that the client can be granted: an authorization request may name others too, which are left
    /// out (RFC 6749 section 3.3, OpenID Connect Core section 3.1.2.1). Nil if the client can have nothing of it.
    public func part(of requested: Scope) -> Scope? {
        let part = requested.intersection(scope)
        return part.tokens.isEmpty && !requested.tokens.isEmpty ? nil : part
    }

    /// True if the client has no authentication.
    public var isPublic: Bool { authenticationMethod == .none }
}
