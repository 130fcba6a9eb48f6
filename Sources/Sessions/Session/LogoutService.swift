/// Ends sessions: by their tokens, or by their ids.
public final class LogoutService: UseCase {
    let context: ServiceContext
    private let refresh: RefreshService
    private let foreignTokens: ForeignTokenService

    init(_ context: ServiceContext, _ refresh: RefreshService, _ foreignTokens: ForeignTokenService) {
        self.context = context
        self.refresh = refresh
        self.foreignTokens = foreignTokens
    }

    /// Ends the session of a token of either kind, however old it is: an expired access token is enough, and so is a token of
    /// an ended session, so that a repeated logout is no error. Returns when the end is durable. A session with a key ends only
    /// with a proof of that key; `revoke` says which clients need none.
    ///
    /// - Parameter page: the page that sends the request, which the client of the session has to allow.
    public func logOut(
        _ token: String, as use: TokenUse = .bearer, page: CallingPage? = nil, from origin: Origin
    ) async throws(ServiceError) {
        guard let id = try await refresh.session(named: token) else {
            if try await logOutForeignToken(token, ofClient: nil, page: page, from: origin) { return }
            throw .invalidToken(.malformed)
        }
        // A proof beside the refresh token of a session without a key is ignored.
        let mayBeUnbound = token.hasPrefix(RefreshTokenCoder.prefix)
        _ = try await end(id, .loggedOut, from: origin) { record throws(ServiceError) in
            try page?.admit(in: record)
            let key = record.session.keyThumbprint
            if mayBeUnbound, key == nil { return }
            guard use.fits(key) else { throw .invalidToken(.bindingMismatch) }
            try use.use(for: record.client?.dpop ?? .optional)
        }
    }

    /// Whether APIs see `token`, of `client`: they never see a refresh token, unless it lies within the one token of a client
    /// that keeps one string.
    public func isSeenByAPIs(_ token: String, of client: Client) -> Bool {
        client.tokenStyle == .single || !token.hasPrefix(RefreshTokenCoder.prefix)
    }

    /// Ends the session of a token that was issued to `client`, which has authenticated if it can (RFC 7009). An unknown token
    /// is revoked already. A token of another client is refused; so is a token that APIs see, of a public client's session that
    /// is bound to another key than the request proves, because each of those APIs could log the user out.
    public func revoke(
        _ token: String, of client: Client, proof: ProofOfPossession?, from origin: Origin
    ) async throws(ServiceError) {
        guard let id = try await refresh.session(named: token) else {
            _ = try await logOutForeignToken(token, ofClient: client.id, from: origin)
            return
        }
        let needsProof = client.isPublic && isSeenByAPIs(token, of: client)
        _ = try await end(id, .loggedOut, from: origin) { record throws(ServiceError) in
            let session = record.session
            guard session.clientID == client.id else { throw .unauthorizedClient }
            // The token of an ended session is revoked already (section 2.2).
            guard needsProof, session.ending == nil, let key = session.keyThumbprint else { return }
            guard let proof, proof.keyThumbprint == key else { throw .refused(.bindingMismatch) }
            try proof.use(for: client.dpop)
        }
    }

    /// Ends a session for `reason`. False: there is no such session, not even a tombstone.
    public func end(
        _ id: Identifier<Session>, _ reason: EndReason, from origin: Origin
    ) async throws(ServiceError) -> Bool {
        try await end(id, reason, from: origin) { _ in }
    }

    /// Ends a session of that user, who asks for it in another one, which goes on. False: the user has no such session, or it
    /// has ended.
    public func end(
        _ id: Identifier<Session>, of userID: Identifier<User>, asking: Identifier<Session>, from origin: Origin
    ) async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            return try await end(id, .revokedByUser, from: origin, sparing: asking) { record throws(ServiceError) in
                guard record.session.userID == userID, record.session.ending == nil else { throw .notFound("session") }
            }
        } catch {
            guard error == .notFound("session") else { throw error }
            return false
        }
    }

    /// Ends a session for `reason`, unless `check` throws. False: there is no such session, not even a tombstone.
    ///
    /// - Parameter spared: a session of a browser that goes on, even if the session began in it.
    private func end(
        _ id: Identifier<Session>, _ reason: EndReason, from origin: Origin, sparing spared: Identifier<Session>? = nil,
        after check: @escaping @Sendable (SessionRecord) throws(ServiceError) -> Void
    ) async throws(ServiceError) -> Bool {
        let now = context.clock.now
        let change: @Sendable (inout SessionChange) -> Result<Void, ServiceError> = { [policy] change in
            do throws(ServiceError) { try check(change.record) } catch { return .failure(error) }
            var session = change.session
            let earlier = policy.ending(of: change.record, at: now)
            session.end(earlier?.reason ?? reason, at: earlier?.at ?? now)
            change.keep(session, endedBy: origin, at: now)
            return .success(())
        }
        let hasDependents = try await inStore(await store.hasDependents(id))
        let outcome = try await inStore(
            hasDependents
                ? await store.updateSessionAndCompanions(id, sparing: spared, by: origin, change)
                : await store.updateSession(id, change))
        try outcome?.get()
        return outcome != nil
    }

    /// Logs out a token of another system, or the session that it has become. False: not a foreign token.
    private func logOutForeignToken(
        _ text: String, ofClient clientID: String?, page: CallingPage? = nil, from origin: Origin
    ) async throws(ServiceError) -> Bool {
        switch try await foreignTokens.logOut(text, ofClient: clientID, page: page, from: origin) {
        case .unknown: return false
        case .deleted: return true
        case .session(let id):
            _ = try await end(id, .loggedOut, from: origin)
            return true
        }
    }
}
