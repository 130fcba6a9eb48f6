/// The result of a login or a refresh: the signed tokens, and what they were granted for.
public struct TokenGrant: Sendable {
    /// The tokens that a transaction grants, before they are signed. An object, because it goes from the store's thread to the
    /// answer and a value of two dozen texts would be copied at each step.
    final class Entitlement: Sendable {
        /// The session as the transaction leaves it, with its user, client and settings.
        let session: Session
        let user: User
        let client: Client
        let settings: Settings
        /// The scope of the access token.
        let scope: Scope
        /// The `aud` of the access token.
        let audience: [String]
        /// The row of the table that granted a refresh; nil: a login.
        let decision: RefreshDecision?
        /// Whether the grant gives a refresh token, where the client can use one.
        let hasRefreshToken: Bool
        /// When the session ends with the phone that let it in, as far as is known now; nil: it depends on none.
        let bondEnd: Instant?
        /// Whether the whole request was answered before. The answer has no ID token then, because that needs no key.
        let isRepetition: Bool

        init(
            session: Session, user: User, client: Client, settings: Settings, scope: Scope, audience: [String],
            decision: RefreshDecision? = nil, bondEnd: Instant? = nil, hasRefreshToken: Bool = true,
            isRepetition: Bool = false
        ) {
            self.isRepetition = isRepetition
            self.hasRefreshToken = hasRefreshToken
            self.bondEnd = bondEnd
            self.session = session
            self.user = user
            self.client = client
            self.settings = settings
            self.scope = scope
            self.audience = audience
            self.decision = decision
        }
    }

    let entitlement: Entitlement
    /// The access token.
    public let accessToken: String
    /// The refresh token; nil for a client that keeps one string, because the access token then holds it.
    public let refreshToken: String?
    /// The `iat` of the access token.
    public let issuedAt: Instant
    /// The `exp` of the access token.
    public let expiresAt: Instant
    /// From when the client should refresh.
    public let refreshAfter: Instant
    /// When the session ends if it is not refreshed.
    public let idleExpiresAt: Instant
    /// When the session ends however often it is refreshed.
    public let sessionExpiresAt: Instant

    /// The scope of the access token.
    public var scope: Scope { entitlement.scope }
    /// The session as it now stands.
    public var session: Session { entitlement.session }
    /// The user of the session.
    public var user: User { entitlement.user }
    /// The row of the table that granted a refresh; nil: a login.
    public var decision: RefreshDecision? { entitlement.decision }
    /// How long the server gives the same refresh token again.
    public var rotationInterval: Duration { entitlement.settings.sessions.rotationInterval }
    /// How the client can renew its sessions: `refresh_token`, `device_key`.
    public var renewalMethods: [String] {
        guard entitlement.client.staysLoggedIn else { return [] }
        let grants = entitlement.client.grantTypes
        return (grants.contains(.refreshToken) ? ["refresh_token"] : [])
            + (grants.contains(.jwtBearer) ? ["device_key"] : [])
    }
}
