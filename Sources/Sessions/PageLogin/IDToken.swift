internal import Cryptography
internal import JOSE
internal import JSON

/// The claims of a user that the scope discloses (OpenID Connect Core section 5.4).
public struct ScopedClaims: Sendable {
    private let user: User
    private let scope: Scope
    private let rules: ScopeClaims?

    /// The claims of `user` that `scope` discloses to `client`; nil: without those that an admin has set.
    public init(of user: User, in scope: Scope, to client: Client? = nil) {
        (self.user, self.scope, rules) = (user, scope, client?.scopeClaims)
    }

    /// Adds the claims to an object, in the order of their names.
    fileprivate func add(to claims: inout JSONObject) {
        if let email {
            claims.add("email", email)
            claims.add(members: "\"email_verified\":\(user.profile.isEmailVerified)")
        }
        if scope.contains("profile") {
            claims.add("family_name", familyName)
            claims.add("given_name", givenName)
            claims.add("name", displayName)
            claims.add("preferred_username", user.shownUsername)
        }
        claims.add("phone_number", phoneNumber)
        if let rules { claims.add(members: rules.members(of: user, in: scope)) }
    }

    /// The username, if the scope discloses it and the user has chosen it.
    public var username: String? { scope.contains("profile") ? user.shownUsername : nil }
    /// The display name, if the scope discloses it.
    public var displayName: String? { scope.contains("profile") ? user.profile.displayName : nil }
    /// The given name, if the scope discloses it.
    public var givenName: String? { scope.contains("profile") ? user.profile.givenName : nil }
    /// The family name, if the scope discloses it.
    public var familyName: String? { scope.contains("profile") ? user.profile.familyName : nil }
    /// The e-mail address, if the scope discloses it.
    public var email: String? { scope.contains("email") ? user.profile.email : nil }
    /// The telephone number, if the scope discloses it.
    public var phoneNumber: String? { scope.contains("phone") ? user.profile.phoneNumber : nil }

    /// The answer of the userinfo endpoint (section 5.3.2), in UTF-8.
    public var userInfo: [UInt8] {
        var claims = JSONObject()
        add(to: &claims)
        claims.add("sub", user.id.description)
        return claims.encoded()
    }
}

/// How a user has authenticated, as an ID token says it.
struct IDTokenAuthentication: Hashable, Sendable {
    let context: AuthenticationContext?
    let methods: [String]
    /// Nil if it is not known.
    let at: Instant?
    /// That of the authorization request.
    var nonce: String?
}

extension Session {
    /// The authentication of the login, as far as the row tells (OpenID Connect Core section 12.2): a later one at an identity
    /// provider has taken the place of its time, and words of a provider for its own ways name none of this server's.
    var loginAuthentication: IDTokenAuthentication {
        if let at = presence.identityAt {
            return IDTokenAuthentication(context: nil, methods: authenticationMethods, at: at > startedAt ? nil : at)
        }
        let method = PastAuthentication(methods: authenticationMethods, at: startedAt).method
        return IDTokenAuthentication(
            context: method.flatMap { AuthenticationContext.all(of: $0).first }, methods: authenticationMethods,
            at: startedAt)
    }
}

extension PageLoginService {
    /// How long an ID token is valid. A client reads it once, when it gets it.
    static let idTokenLifetime = Duration.seconds(300)

    /// The ID token of a login (OpenID Connect Core section 2); nil without the scope `openid`.
    func idToken(
        of grant: TokenGrant, _ login: PageLogin, for client: Client, at now: Instant
    ) throws(ServiceError) -> String? {
        let authentication = IDTokenAuthentication(
            context: login.authenticationContext, methods: login.methods, at: login.authenticatedAt,
            nonce: login.request.nonce)
        return try idToken(of: grant, authentication, for: client, at: now)
    }

    /// The ID token of a refresh (section 12.2), or of a login that a phone has approved for a device or a backend (OpenID Connect
    /// CIBA section 10.1.1), from what the session and its user say; nil without the scope `openid`, and for
    /// a refresh that arrives twice as it is.
    public func idToken(of grant: TokenGrant) throws(ServiceError) -> String? {
        guard grant.scope.contains("openid"), !grant.entitlement.isRepetition else { return nil }
        return try idToken(
            of: grant, grant.session.loginAuthentication, for: grant.entitlement.client, at: grant.issuedAt)
    }

    private func idToken(
        of grant: TokenGrant, _ authentication: IDTokenAuthentication, for client: Client, at now: Instant
    ) throws(ServiceError) -> String? {
        guard grant.scope.contains("openid") else { return nil }
        guard let active = context.signingKeys.signer(at: now, for: client),
            let signer = try? JWTSigner(key: active.key, kid: active.kid, typ: "JWT")
        else { throw .store(.unavailable("no signing key is active")) }
        var claims = JSONObject(capacity: 512)
        claims.add("acr", authentication.context?.rawValue)
        claims.add("amr", authentication.methods.shownMethods.ifAny)
        // Section 3.1.3.6: the left half of the hash of the signature's algorithm, which for EdDSA is not agreed upon.
        if active.key.algorithm != .eddsa {
            claims.add("at_hash", Base64URL.encode(Array(sha256(Array(grant.accessToken.utf8)).prefix(16))))
        }
        claims.add("aud", client.id)
        claims.add("auth_time", authentication.at?.secondsSinceEpoch)
        claims.add("azp", client.id)
        claims.add("exp", (now + Self.idTokenLifetime).secondsSinceEpoch)
        claims.add("iat", now.secondsSinceEpoch)
        claims.add("iss", context.issuer)
        claims.add("nonce", authentication.nonce)
        claims.add("sid", grant.session.id.description)
        claims.add("sub", grant.user.id.description)
        ScopedClaims(of: grant.user, in: grant.scope, to: client).add(to: &claims)
        return signer.sign(encodedClaims: claims.encoded())
    }

    /// The subject and the session that a genuine ID token of this server names, however old it is (OpenID Connect RP-Initiated
    /// Logout section 2); nil for any other text.
    public func hint(_ token: String) -> IDTokenHint? {
        guard let parsed = try? JWT.parse(token),
            let verified = try? parsed.verify(
                using: { id in id.flatMap { context.signingKeys.verificationKey(id: $0) } }, type: .jwtOrAbsent),
            let hint = try? verified.claims(as: IDTokenHint.self), hint.issuer == context.issuer
        else { return nil }
        return hint
    }
}

/// What an ID token of this server says when a client sends it back as a hint.
public struct IDTokenHint: Decodable, Hashable, Sendable {
    let issuer: String
    /// The user's id.
    public let subject: String
    /// The client.
    public let audience: String
    /// The id of the session.
    public let sessionID: String?

    enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case audience = "aud"
        case sessionID = "sid"
    }
}
