internal import JOSE
internal import JSON

extension TokenService {
    /// The media type of a signed introspection, and with `application/` left out the `typ` of its header (RFC 9701 sections 4
    /// and 5).
    public static let introspectionType = "token-introspection+jwt"

    /// `introspection`, a JSON object, as a JWT for the client that asked (RFC 9701 section 5). It has no `sub` and no `exp`, so
    /// that nobody takes it for an access token.
    public func sign(introspection: [UInt8], for client: Client) async throws(ServiceError) -> String {
        if context.signingKeys.isBehind { try await followKeys() }
        let now = context.clock.now
        guard let active = context.signingKeys.signer(at: now),
            let signer = try? JWTSigner(key: active.key, kid: active.kid, typ: Self.introspectionType)
        else { throw .store(.unavailable("no signing key is active")) }
        var claims = JSONObject(capacity: introspection.count + 256)
        claims.add("aud", client.id)
        claims.add("iat", now.secondsSinceEpoch)
        claims.add("iss", context.issuer)
        let object = String(decoding: introspection, as: UTF8.self)
        claims.add(members: "\"token_introspection\":\(object)"[...])
        return signer.sign(encodedClaims: claims.encoded())
    }
}
