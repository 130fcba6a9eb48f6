extension ClientCredentialsService {
    /// Revokes a token that `client`, which has authenticated, got for itself (RFC 7009). False if `token` is no such token of
    /// this server. A token that has ended is revoked already; a token of another client is refused.
    public func revoke(
        _ token: String, of client: Client, from origin: Origin
    ) async throws(ServiceError) -> Bool {
        guard let claims = try await signer.claims(of: token, signer.accessTokens.verify), claims.sessionID == nil
        else { return false }
        guard claims.clientID == client.id else { throw .unauthorizedClient }
        let now = context.clock.now
        guard claims.isTimely(at: now), let epoch = claims.epoch else { return true }
        var event = AuditEvent(.clientTokenRevoked, at: now, by: origin, clientID: client.id)
        let used = claims.useAsRevoked(at: now)
        (event.tokenID, event.tokenExpiry) = (claims.id, used.goodUntil)
        event.revokes = .clientTokenRevoked
        let revoked = event
        _ = try await inStore(await store.revoke(used, of: client.id, epoch: epoch, revoked))
        return true
    }
}

extension AccessToken {
    /// The record by which a token that a client got for itself is known as revoked, until it expires.
    func useAsRevoked(at now: Instant) -> OneTimeToken {
        OneTimeToken(
            .clientToken, of: clientID, id: id, goodUntil: Instant(secondsSinceEpoch: expiry), at: now)
    }
}
