extension TokenService {
    /// Ends the session of a token of either kind, however old it is: an expired rolling token will do, and a token of
    /// an ended session, so that logging out again and again is no error. Returns when the end is durable. The session of a key ends here
    /// only with a proof of that key; `revoke` says who needs none.
    public func logOut(
        _ token: String, as use: TokenUse = .bearer, from origin: Origin
    ) async throws(ServiceError) {
        guard let id = try await sessionID(in: token) else {
            if try await endForeignToken(token, ofClient: nil, from: origin) { return }
            throw .invalidToken(.malformed)
        }
        // Beside a refresh token a proof says nothing about it, so that one too many does no harm.
        let mayBeUnbound = token.hasPrefix(RefreshTokenCoder.prefix)
        _ = try await end(id, .loggedOut, from: origin) { session throws(ServiceError) in
            if mayBeUnbound, session.keyThumbprint == nil { return }
            guard use.fits(session.keyThumbprint) else { throw .invalidToken(.bindingMismatch) }
            try use.use()
        }
    }

    /// Whether APIs see `token`, of `client`: they never see a refresh token, but for one that lies within the one token of a client
    /// that keeps one string.
    public func isSeenByAPIs(_ token: String, of client: Client) -> Bool {
        client.tokenStyle == .single || !token.hasPrefix(RefreshTokenCoder.prefix)
    }

    /// Ends the session of a token that was issued to `client`, which has proved itself if it can (RFC 7009). A token that means
    /// nothing here is revoked already; one of another client is refused, and so is a token that APIs see of a public client's
    /// session that is bound to another key than the request proves: each of them could log the user out.
    public func revoke(
        _ token: String, of client: Client, proof: ProofOfPossession?, from origin: Origin
    ) async throws(ServiceError) {
        guard let id = try await sessionID(in: token) else {
            _ = try await endForeignToken(token, ofClient: client.id, from: origin)
            return
        }
        let needsProof = client.isPublic && isSeenByAPIs(token, of: client)
        _ = try await end(id, .loggedOut, from: origin) { session throws(ServiceError) in
            guard session.clientID == client.id else { throw .unauthorizedClient }
            // What is over is revoked already (section 2.2).
            guard needsProof, session.ending == nil, let key = session.keyThumbprint else { return }
            guard let proof, proof.keyThumbprint == key else { throw .refused(.bindingMismatch) }
            try proof.use()
        }
    }

    /// Ends a session for `reason`. False: there is no such session, not even a tombstone.
    public func end(
        _ id: Identifier<Session>, _ reason: EndReason, from origin: Origin
    ) async throws(ServiceError) -> Bool {
        try await end(id, reason, from: origin) { _ in }
    }

    /// Ends a session for `reason`, unless `check` throws. False: there is no such session, not even a tombstone.
    private func end(
        _ id: Identifier<Session>, _ reason: EndReason, from origin: Origin,
        after check: @escaping @Sendable (Session) throws(ServiceError) -> Void
    ) async throws(ServiceError) -> Bool {
        let now = context.clock.now
        let outcome = try await inStore { () async throws(StoreError) in
            try await store.updateSession(id) { [policy] change -> Result<Void, ServiceError> in
                do throws(ServiceError) { try check(change.session) } catch { return .failure(error) }
                var session = change.session
                let earlier = policy.ending(of: change.record, at: now)
                session.end(earlier?.reason ?? reason, at: earlier?.at ?? now)
                change.keep(session, endedBy: origin, at: now)
                return .success(())
            }
        }
        try outcome?.get()
        return outcome != nil
    }

    /// The session that a genuine token of either kind names.
    private func sessionID(in token: String) async throws(ServiceError) -> Identifier<Session>? {
        if token.hasPrefix(RefreshTokenCoder.prefix) { return context.refreshTokens.decode(token)?.sessionID }
        if let claims = try await claims(of: token, accessTokenIssuer.read) {
            return claims.sessionID.flatMap { Identifier<Session>($0) }
        }
        return try await refreshedSession(in: token)
    }
}
