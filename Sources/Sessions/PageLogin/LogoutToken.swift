internal import Cryptography
internal import JOSE
internal import JSON

/// A logout token: the signed message that a session of a client has ended (OpenID Connect Back-Channel Logout section 2.4).
public enum LogoutToken {
    /// The event that each logout token reports.
    public static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// How long a logout token is valid. The specification advises two minutes at most.
    static let lifetime = Duration.seconds(120)
    static let type = "logout+jwt"
}

extension ServiceContext {
    /// The logout token for `client` about a session that has ended; nil if no signing key can be used at present.
    ///
    /// Each call has another `jti`, because a receiver may refuse a `jti` that it has seen, and an answer may have been lost.
    public func logoutToken(
        for client: Client, ending sessionID: Identifier<Session>, of userID: Identifier<User>
    ) async -> String? {
        if signingKeys.isBehind { try? await signingKeys.follow() }
        let now = clock.now
        guard let active = signingKeys.signer(at: now, for: client),
            let signer = try? JWTSigner(key: active.key, kid: active.kid, typ: LogoutToken.type)
        else { return nil }
        var events = JSONObject()
        events.add("http://schemas.openid.net/event/backchannel-logout", JSONObject())
        var claims = JSONObject(capacity: 512)
        claims.add("aud", client.id)
        claims.add("events", events)
        claims.add("exp", (now + LogoutToken.lifetime).secondsSinceEpoch)
        claims.add("iat", now.secondsSinceEpoch)
        claims.add("iss", issuer)
        claims.add("jti", Base64URL.encode(random.bytes(16)))
        claims.add("sid", sessionID.description)
        claims.add("sub", userID.description)
        return signer.sign(encodedClaims: claims.encoded())
    }
}
