public import Cryptography

/// What all use cases of the domain share.
public final class ServiceContext: Sendable {
    /// Where everything is kept.
    public let store: any Store
    /// The lifetimes and the table of rotation.
    public let policy: RefreshPolicy
    /// Writes and reads refresh tokens.
    public let refreshTokens: RefreshTokenCoder
    /// Seals and opens the refresh tokens of identity providers.
    let providerTokens: ProviderTokens
    /// The keys that sign rolling tokens.
    public let signingKeys: SigningKeys
    /// Hashes passwords.
    public let passwords: PasswordHasher
    /// The time.
    public let clock: WallClock
    /// How far it can be believed; nil: altogether.
    public let clockGuard: ClockGuard?
    /// Random bytes.
    public let random: RandomSource
    /// The `iss` of every rolling token: the public base URL.
    public let issuer: String
    /// The `aud` of every rolling token: whom it is for.
    public let audience: String
    /// The same as a list, made once.
    let ownAudience: [String]

    /// What a new password must be.
    public let passwordRules: PasswordRules
    /// How long a token for a new password works.
    public let resetTokenLifetime: Duration
    /// How guessing passwords is slowed down.
    public let lockoutPolicy: LockoutPolicy
    /// Wrong passwords, as far as this node has seen them.
    let failedAttempts: FailedAttemptCounter
    /// The misuses of refresh tokens that this node has told of a moment ago.
    let misuses = MisuseEventThrottle()

    /// Whether there are foreign tokens.
    let foreignTokens = ForeignTokenPresence()
    /// Takes proofs of possession.
    public let proofs: DPoPVerifier
    /// Since when this node has known its database.
    let databaseIncarnation = DatabaseIncarnation()

    /// What all use cases share.
    public init(
        store: any Store, policy: RefreshPolicy, rootKeys: RootKeys, signingKeys: SigningKeys,
        passwords: PasswordHasher, clock: WallClock, random: RandomSource = .system, issuer: String, audience: String,
        clockGuard: ClockGuard? = nil, proofs: DPoPPolicy = DPoPPolicy(),
        lockoutPolicy: LockoutPolicy = LockoutPolicy(),
        passwordRules: PasswordRules = PasswordRules(), resetTokenLifetime: Duration = .seconds(3600)
    ) {
        self.resetTokenLifetime = resetTokenLifetime
        self.lockoutPolicy = lockoutPolicy
        self.passwordRules = passwordRules
        failedAttempts = FailedAttemptCounter(lockoutPolicy)
        self.store = store
        self.policy = policy
        self.refreshTokens = RefreshTokenCoder(rootKeys: rootKeys)
        providerTokens = ProviderTokens(rootKeys: rootKeys, random: random)
        self.signingKeys = signingKeys
        self.passwords = passwords
        self.clock = clockGuard.map { watch in WallClock { watch.reading.now } } ?? clock
        self.clockGuard = clockGuard
        self.proofs = DPoPVerifier(proofs, rootKeys: rootKeys)
        self.random = random
        self.issuer = issuer
        self.audience = audience
        ownAudience = [audience]
    }

    /// The time, and the earliest that it can be.
    var time: ClockGuard.Reading {
        if let clockGuard { return clockGuard.reading }
        let now = clock.now
        return ClockGuard.Reading(now: now, earliest: now)
    }
}

/// Issues tokens, renews them, ends sessions, and tells whether a token is good: everything that a client's token can do.
public final class TokenService: Sendable {
    let context: ServiceContext
    let accessTokenIssuer: AccessTokenIssuer

    /// The token service of `context`.
    public init(_ context: ServiceContext) {
        self.context = context
        accessTokenIssuer = AccessTokenIssuer(
            issuer: context.issuer, keys: context.signingKeys, random: context.random.inBatches)
    }

    var store: any Store { context.store }
    var policy: RefreshPolicy { context.policy }

    /// What a login or a refresh gives: the values of the token answer.
    func grant(_ issue: TokenIssue, at now: Instant) async throws(ServiceError) -> TokenGrant {
        // What a key has signed that another node has withdrawn would be good for nothing.
        if context.signingKeys.isBehind { try await followKeys() }
        return try signedGrant(issue, at: now)
    }

    /// The same, with the keys that are known here.
    func signedGrant(_ issue: TokenIssue, at now: Instant) throws(ServiceError) -> TokenGrant {
        let (session, user, client) = (issue.session, issue.user, issue.client)
        let lifetimes = policy.lifetimes(settings: issue.settings, client: client, user: user)
        // What checks tokens by itself is to know no older word of the provider than a refresh would do with.
        let end = lifetimes.accessTokenEnd(of: session, issuedAt: now)
        let confirmationEnd = policy.confirmationEnd(of: session)
        let expiry = min(end, confirmationEnd ?? end)
        // Half-way there at the latest: by then the provider may have been asked again.
        let refreshAfter = min(
            lifetimes.refreshAfter, confirmationEnd.map { ($0 - now) / 2 } ?? lifetimes.refreshAfter)
        let refreshToken = context.refreshTokens.encode(RefreshToken(sessionID: session.id, serial: session.child))
        let hasRefreshToken = client.grantTypes.contains(.refreshToken)
        let isSingle = client.tokenStyle == .single
        let accessToken = try accessTokenIssuer.issue(
            for: session, audience: issue.audience, scope: issue.scope, refreshAfter: refreshAfter,
            refreshToken: isSingle && hasRefreshToken ? refreshToken : nil, ownClaims: user.claims?.members, at: now,
            expiry: expiry)
        return TokenGrant(
            issue: issue, accessToken: accessToken, refreshToken: isSingle || !hasRefreshToken ? nil : refreshToken,
            issuedAt: now, expiresAt: expiry, refreshAfter: now + refreshAfter,
            idleExpiresAt: lifetimes.idleEnd(of: session), sessionExpiresAt: lifetimes.finalEnd(of: session))
    }
}

/// What a transaction has decided to issue tokens for. An object, because it is handed from the store's thread through the
/// use case to the answer, and has two dozen texts.
final class TokenIssue: Sendable {
    /// The session as it now stands, and what it hangs on.
    let session: Session
    let user: User
    let client: Client
    let settings: Settings
    /// What the rolling token may do.
    let scope: Scope
    /// Its `aud`.
    let audience: [String]

    init(session: Session, user: User, client: Client, settings: Settings, scope: Scope, audience: [String]) {
        self.session = session
        self.user = user
        self.client = client
        self.settings = settings
        self.scope = scope
        self.audience = audience
    }
}

/// What a login or a refresh gives.
public struct TokenGrant: Sendable {
    let issue: TokenIssue
    /// The rolling token.
    public let accessToken: String
    /// The refresh token; nil for a client that keeps one string, in which it then is.
    public let refreshToken: String?
    /// What the rolling token may do.
    public var scope: Scope { issue.scope }
    /// The `iat` of the rolling token.
    public let issuedAt: Instant
    /// The `exp` of the rolling token.
    public let expiresAt: Instant
    /// From when the client should refresh.
    public let refreshAfter: Instant
    /// The session as it now stands.
    public var session: Session { issue.session }
    /// Whose it is.
    public var user: User { issue.user }
    /// When the session ends if it is not refreshed.
    public let idleExpiresAt: Instant
    /// When the session ends however often it is refreshed.
    public let sessionExpiresAt: Instant
}
