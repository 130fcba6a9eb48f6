internal import Cryptography
internal import JOSE
internal import JSON

/// Signs tokens, and verifies signatures, with the signing keys of all nodes. The store counts the changes of keys, and every
/// call to the store notices them.
public final class TokenSigner: UseCase {
    /// The media type of a signed introspection; without `application/`, the `typ` of its header (RFC 9701 sections 4 and 5).
    public static let introspectionType = "token-introspection+jwt"

    let context: ServiceContext
    let accessTokens: AccessTokenIssuer

    init(_ context: ServiceContext) {
        self.context = context
        accessTokens = AccessTokenIssuer(
            issuer: context.issuer, keys: context.signingKeys, random: context.random.inBatches)
    }

    /// Signs the tokens of a login or a refresh.
    func grant(_ entitlement: TokenGrant.Entitlement, at now: Instant) async throws(ServiceError) -> TokenGrant {
        // A token that a withdrawn key has signed would be invalid at once.
        try await followKeysIfBehind()
        return try signedGrant(entitlement, at: now)
    }

    /// Signs the tokens of a login or a refresh with the keys that this node knows.
    func signedGrant(_ entitlement: TokenGrant.Entitlement, at now: Instant) throws(ServiceError) -> TokenGrant {
        let (session, user, client) = (entitlement.session, entitlement.user, entitlement.client)
        let lifetimes = policy.lifetimes(settings: entitlement.settings, client: client, user: user)
        // The token expires with the provider's confirmation, because an API that verifies tokens by itself must not accept an
        // older one than a refresh would.
        let end = lifetimes.accessTokenEnd(of: session, issuedAt: now)
        // So it does with the bond to a phone.
        let confirmationEnd = [policy.confirmationEnd(of: session), entitlement.bondEnd].compactMap(\.self).min()
        let expiry = min(end, confirmationEnd ?? end)
        // Half-way to the end of the confirmation at the latest, because by then the provider may have been asked again.
        let refreshAfter = min(
            lifetimes.refreshAfter, confirmationEnd.map { ($0 - now) / 2 } ?? lifetimes.refreshAfter)
        let refreshToken = context.refreshTokens.encode(RefreshToken(sessionID: session.id, serial: session.child))
        let hasRefreshToken =
            entitlement.hasRefreshToken && client.staysLoggedIn && client.grantTypes.contains(.refreshToken)
        let isSingle = client.tokenStyle == .single
        let accessToken = try accessTokens.issue(
            for: session, audience: entitlement.audience, scope: entitlement.scope, refreshAfter: refreshAfter,
            refreshToken: isSingle && hasRefreshToken ? refreshToken : nil, ownClaims: user.claims?.members,
            isAnonymous: user.isAnonymous, at: now, expiry: expiry)
        return TokenGrant(
            entitlement: entitlement, accessToken: accessToken,
            refreshToken: isSingle || !hasRefreshToken ? nil : refreshToken, issuedAt: now, expiresAt: expiry,
            refreshAfter: now + refreshAfter, idleExpiresAt: lifetimes.idleEnd(of: session),
            sessionExpiresAt: lifetimes.finalEnd(of: session))
    }

    /// Signs `introspection`, a JSON object, as a JWT for the client that asked (RFC 9701 section 5). It has no `sub` and no
    /// `exp`, so that no API accepts it as an access token.
    public func sign(introspection: [UInt8], for client: Client) async throws(ServiceError) -> String {
        try await followKeysIfBehind()
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

    /// The claims that `read` finds in a token. If it finds none, the keys of other nodes are read and it tries once more.
    func claims(
        of token: String, _ read: (String) -> AccessToken?
    ) async throws(ServiceError) -> AccessToken? {
        if let claims = read(token) { return claims }
        guard accessTokens.namesUnknownKey(token) else { return nil }
        _ = try await inStore(await store.settings())
        guard context.signingKeys.isBehind else { return nil }
        try await followKeys()
        return read(token)
    }

    /// Whether a token that was valid under the keys of reading `number` still is, now that the store was asked and has
    /// reported whether another node has withdrawn a key.
    func stands(_ token: String, since number: Int) async throws(ServiceError) -> Bool {
        try await followKeysIfBehind()
        return context.signingKeys.readingNumber == number || accessTokens.verify(token) != nil
    }

    /// Asks the store for changes of keys by other nodes. If the store does not answer, the known keys remain in use.
    public func lookForKeys() async {
        guard (try? await store.settings()) != nil else { return }
        try? await followKeys()
    }

    /// Reads the signing keys again if the store has noticed a change.
    func followKeysIfBehind() async throws(ServiceError) {
        if context.signingKeys.isBehind { try await followKeys() }
    }

    private func followKeys() async throws(ServiceError) {
        try await inStore(await context.signingKeys.follow())
    }
}
