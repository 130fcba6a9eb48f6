internal import Cryptography
internal import JOSE
internal import JSON

/// An access token (RFC 9068), issued anew at every refresh.
struct AccessToken: Decodable, Hashable, Sendable {
    /// The `typ` of the JWT header (RFC 9068 section 2.1).
    static let type = "at+jwt"

    let issuer: String
    let subject: String
    let audience: Audience
    let clientID: String
    let issuedAt: Int64
    let expiry: Int64
    let id: String
    /// Absent in a token that a client got for itself.
    var sessionID: String?
    /// The epoch of a token that a client got for itself (`Client.tokenEpoch`); absent in a token of a session.
    var epoch: Int64?
    var deviceID: String?
    var authenticatedAt: Int64?
    var scope: String?
    var authenticationMethods: [String]?
    /// How the user was authenticated since the login, if at all (RFC 9470 section 6.1).
    var authenticationContext: String?
    /// From when the client should renew the token.
    var refreshAfter: Int64?
    /// The key to which the token is bound (RFC 9449 section 6).
    var confirmation: Confirmation?
    /// The refresh token, for clients that keep one string.
    var refreshToken: String?
    /// The server reads this claim, as RFC 7519 section 4.1.5 demands, and never writes it.
    var notBefore: Int64?
    /// The verdict of the operator's own attestation of app and device; written, and not read.
    var attestation: String?
    /// True for an anonymous user, else nil; written, and not read.
    var anonymous: Bool?
    /// Claims that an admin has given the user; written, and not read.
    var ownClaims: Substring?

    enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case audience = "aud"
        case clientID = "client_id"
        case issuedAt = "iat"
        case expiry = "exp"
        case notBefore = "nbf"
        case id = "jti"
        case sessionID = "sid"
        case epoch
        case deviceID = "device_id"
        case authenticatedAt = "auth_time"
        case scope
        case authenticationMethods = "amr"
        case authenticationContext = "acr"
        case refreshAfter = "refresh_after"
        case confirmation = "cnf"
        case refreshToken = "rt"
    }

    struct Confirmation: Decodable, Hashable, Sendable {
        var jkt: String
    }

    /// Whether `now` is between `nbf` and `exp` (RFC 7519 sections 4.1.4 and 4.1.5).
    func isTimely(at now: Instant) -> Bool {
        now.secondsSinceEpoch < expiry && notBefore.map { $0 <= now.secondsSinceEpoch } != false
    }

    /// The claims as JSON, sorted by name.
    var encodedClaims: [UInt8] {
        var claims = JSONObject(capacity: 640)
        claims.add("acr", authenticationContext)
        claims.add("amr", authenticationMethods)
        claims.add("anonymous", anonymous)
        claims.add("attestation", attestation)
        if audience.all.count == 1 {
            claims.add("aud", audience.all[0])
        } else {
            claims.add("aud", audience.all)
        }
        claims.add("auth_time", authenticatedAt)
        claims.add("client_id", clientID)
        claims.add("cnf", confirmation?.json)
        claims.add("device_id", deviceID)
        claims.add("epoch", epoch)
        claims.add("exp", expiry)
        claims.add("iat", issuedAt)
        claims.add("iss", issuer)
        claims.add("jti", id)
        claims.add("refresh_after", refreshAfter)
        claims.add("rt", refreshToken)
        claims.add("scope", scope)
        claims.add("sid", sessionID)
        claims.add("sub", subject)
        if let ownClaims { claims.add(members: ownClaims) }
        return claims.encoded()
    }
}

extension AccessToken.Confirmation {
    fileprivate var json: JSONObject {
        var members = JSONObject(capacity: 64)
        members.add("jkt", jkt)
        return members
    }
}

/// Issues access tokens, and reads them back.
struct AccessTokenIssuer: Sendable {
    let issuer: String
    let keys: SigningKeys
    /// For the token ids (`jti`).
    let random: RandomSource

    /// An access token of a session, until `expiry`.
    func issue(
        for session: Session, audience: [String], scope: Scope, refreshAfter: Duration, refreshToken: String?,
        ownClaims: Substring?, isAnonymous: Bool = false,
        at now: Instant, expiry: Instant
    ) throws(ServiceError) -> String {
        try sign(
            AccessToken(
                issuer: issuer, subject: session.userID.description, audience: Audience(audience),
                clientID: session.clientID, issuedAt: now.secondsSinceEpoch, expiry: expiry.secondsSinceEpoch,
                id: Base64URL.encode(random.bytes(16)), sessionID: session.id.description,
                deviceID: session.device.id, authenticatedAt: session.authenticatedAt.secondsSinceEpoch,
                scope: scope.claim,
                authenticationMethods: session.shownMethods.ifAny,
                authenticationContext: session.authenticationContext?.rawValue,
                refreshAfter: (now + refreshAfter).secondsSinceEpoch,
                confirmation: session.keyThumbprint.map(AccessToken.Confirmation.init), refreshToken: refreshToken,
                attestation: session.attestation, anonymous: isAnonymous ? true : nil, ownClaims: ownClaims), at: now)
    }

    /// An access token of a client for itself (RFC 6749 section 4.4): its `sub` is the client (RFC 9068 section 2.2).
    func issue(
        forClient id: String, epoch: Int64, audience: [String], scope: Scope, keyThumbprint: String?, at now: Instant,
        expiry: Instant
    ) throws(ServiceError) -> String {
        try sign(
            AccessToken(
                issuer: issuer, subject: id, audience: Audience(audience), clientID: id,
                issuedAt: now.secondsSinceEpoch, expiry: expiry.secondsSinceEpoch,
                id: Base64URL.encode(random.bytes(16)), epoch: epoch, scope: scope.claim,
                confirmation: keyThumbprint.map(AccessToken.Confirmation.init)), at: now)
    }

    private func sign(_ token: AccessToken, at now: Instant) throws(ServiceError) -> String {
        guard let signer = keys.signer(at: now) else { throw .store(.unavailable("no signing key is active")) }
        return signer.sign(encodedClaims: token.encodedClaims)
    }

    /// The claims of an access token with the right signature, type and issuer; nil for anything else. The caller checks age
    /// and audience.
    func verify(_ token: String) -> AccessToken? {
        read(token).flatMap { $0.issuer == issuer ? $0 : nil }
    }

    /// Whether the token names a signing key that is not known here.
    func namesUnknownKey(_ token: String) -> Bool {
        guard let id = (try? JWT.parse(token))?.header.kid else { return false }
        return keys.verificationKey(id: id) == nil
    }

    /// The refresh token in an access token that names an unknown key, which was withdrawn, or is newer than a restored backup.
    /// Its other claims must not be trusted; the refresh token has a tag of its own.
    func refreshTokenUnderUnknownKey(_ token: String) -> String? {
        guard let parsed = try? JWT.parse(token), let id = parsed.header.kid, keys.verificationKey(id: id) == nil,
            JWT.ExpectedType.accessToken.accepts(parsed.header.typ)
        else { return nil }
        return parsed.unverifiedClaims?[AccessToken.CodingKeys.refreshToken.rawValue]?.string
    }

    /// The claims of an access token that this server has signed under any issuer, because a token that refreshes or ends a
    /// session must outlive a change of the server's address.
    func read(_ token: String) -> AccessToken? {
        guard let parsed = try? JWT.parse(token),
            let verified = try? parsed.verify(
                using: { id in id.flatMap { keys.verificationKey(id: $0) } }, type: .accessToken),
            let claims = try? verified.claims(as: AccessToken.self)
        else { return nil }
        return claims
    }
}

extension Scope {
    /// The claim's value; nil for an empty scope.
    fileprivate var claim: String? { tokens.isEmpty ? nil : description }
}
