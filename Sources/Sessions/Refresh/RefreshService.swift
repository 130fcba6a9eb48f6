// Shaped for speed: each call of an async function allocates a frame for its variables and those of inlined functions. So steps
// that few refreshes need are functions with `@inline(never)`: the frames of one refresh take 6000 bytes instead of 34 000.
// Measure: `sojourn-bench refresh`; `swift test --filter ExecutorTests` counts the changes of thread.

/// Renews access tokens by refresh tokens: reads the token, has the store decide in a transaction, and signs while the disk
/// works.
public final class RefreshService: UseCase {
    let context: ServiceContext
    private let signer: TokenSigner
    private let presence: UserPresenceService
    private let providerChecks: ProviderCheckService
    private let foreignTokens: ForeignTokenService

    init(
        _ context: ServiceContext, _ signer: TokenSigner, _ presence: UserPresenceService,
        _ providerChecks: ProviderCheckService, _ foreignTokens: ForeignTokenService
    ) {
        self.context = context
        self.signer = signer
        self.presence = presence
        self.providerChecks = providerChecks
        self.foreignTokens = foreignTokens
    }

    /// Renews the access token of the session that `attempt` names. When it returns, the outcome is durable; when it throws,
    /// `attempt` holds the session and, for a genuine token that was refused, the user.
    ///
    /// - Parameter admit: admits the refresh of a session, before the store is asked.
    public func refresh(
        _ attempt: RefreshAttempt, from origin: Origin,
        admitting admit: (Identifier<Session>) throws(ServiceError) -> Void = { _ in }
    ) async throws(ServiceError) -> TokenGrant {
        guard let token = try await refreshToken(in: attempt.token) else {
            return try await exchange(attempt, from: origin)
        }
        attempt.begin(serial: token.serial, of: token.sessionID, in: context, from: origin)
        try admit(token.sessionID)
        if !attempt.evidence.isEmpty { try await verifyEvidence(of: attempt, in: token.sessionID) }
        guard try await runTransaction(of: attempt, in: token.sessionID) else { throw .refused(.unknownSession) }
        if case .success(let grant) = attempt.grant { return grant }
        return try await conclude(attempt, in: token.sessionID)
    }

    /// Decides `attempt` in a transaction on its session, and signs the tokens while the disk works. False: no such session.
    func runTransaction(
        of attempt: RefreshAttempt, in id: Identifier<Session>
    ) async throws(ServiceError) -> Bool {
        let isFound = try await inStore(
            await store.changeSession(id) { change in
                let (session, eventCount) = (change.session, change.events.count)
                // The decision on a session that depends on a phone reads the rows of the phone as well.
                if session.phoneID != nil, session.ending == nil { return attempt.noteOtherRows(isEnding: false) }
                // `RefreshPolicy.decide` is the decision.
                attempt.settle(&change)
                guard change.endsCompanions(after: session) else { return }
                // The end is not written here, because the companions end in the same transaction.
                // Events of an earlier change in the same batch stay.
                change.session = session
                change.events.removeLast(change.events.count - eventCount)
                attempt.noteOtherRows(isEnding: true)
            } preparing: {
                sign(attempt)
            })
        // Tokens were granted to nearly all.
        if case .granted = attempt.verdict { return isFound }
        return attempt.needsOtherRows ? try await decideWithOtherRows(attempt, id) : isFound
    }

    /// Decides `attempt` again in a transaction that reads the session's phone, and ends other sessions with this one.
    @inline(never)
    private func decideWithOtherRows(
        _ attempt: RefreshAttempt, _ id: Identifier<Session>
    ) async throws(ServiceError) -> Bool {
        let (origin, isEnding) = (attempt.circumstances.origin, attempt.isEnding)
        return try await inStore(
            await store.updateSessionAndCompanions(id, isRepeatable: !isEnding, by: origin) { attempt.settle(&$0) }
                != nil)
    }

    /// Signs the tokens that were granted, unless other keys have to be read first.
    private func sign(_ attempt: RefreshAttempt) {
        guard case .granted(let entitlement) = attempt.verdict, !context.signingKeys.isBehind else { return }
        let now = attempt.circumstances.time.now
        attempt.grant = Result { () throws(ServiceError) in try signer.signedGrant(entitlement, at: now) }
    }

    /// Verifies the evidence of the user's presence that the request brings.
    @inline(never)
    func verifyEvidence(of attempt: RefreshAttempt, in id: Identifier<Session>) async throws(ServiceError) {
        try await presence.look(at: attempt, in: id)
    }

    /// Renews by a token that is not one of this server's: that of another system, or junk.
    @inline(never)
    private func exchange(_ attempt: RefreshAttempt, from origin: Origin) async throws(ServiceError) -> TokenGrant {
        attempt.begin(in: context, from: origin)
        guard try await foreignTokens.exchange(attempt) else { throw .refused(.malformed) }
        return try await tokens(of: attempt).get()
    }

    /// Does what follows a decision that gave no signed tokens.
    @inline(never)
    private func conclude(
        _ attempt: RefreshAttempt, in id: Identifier<Session>
    ) async throws(ServiceError) -> TokenGrant {
        let answer = await tokens(of: attempt)
        try await providerChecks.hasten(of: id, after: answer)
        if case .failure(.refused(.bindingMismatch)) = answer { try await recordMisuse(attempt, in: id) }
        return try answer.get()
    }

    /// The tokens that were granted, or the refusal.
    func tokens(of attempt: RefreshAttempt) async -> Result<TokenGrant, ServiceError> {
        switch attempt.verdict {
        case nil: preconditionFailure("the store has found the session and has not run the decision")
        case .failed(let error): return .failure(error)
        case .refused(let error, let userID):
            attempt.noteRefusal(of: userID)
            return .failure(error)
        case .granted(let entitlement):
            if let signed = attempt.grant { return signed }
            do throws(ServiceError) {
                return .success(try await signer.grant(entitlement, at: attempt.circumstances.time.now))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Records in the audit trail that a genuine refresh token was presented without the session's key. Nothing ends, because
    /// without the key the copy renews nothing, and the user need not log in again.
    private func recordMisuse(_ attempt: RefreshAttempt, in id: Identifier<Session>) async throws(ServiceError) {
        guard let record = try await inStore(await store.session(id)),
            let misuse = TokenMisuse(of: record.session, provenKey: attempt.provenKeyThumbprint)
        else { return }
        let (origin, now) = (attempt.circumstances.origin, attempt.circumstances.time.now)
        let interval = max(record.settings.sessions.rotationInterval, MisuseEventThrottle.intervalMin)
        guard context.misuses.claim(record.session, for: interval, at: now) else { return }
        let event = AuditEvent(
            .refreshTokenMisused, at: now, by: origin, session: record.session, reason: misuse.rawValue)
        do throws(ServiceError) {
            try await inStore(await store.append([event]))
        } catch {
            context.misuses.giveBack(record.session)
            throw error
        }
    }

    /// The refresh token that `text` is, or that the access token `text` holds.
    private func refreshToken(in text: String) async throws(ServiceError) -> RefreshToken? {
        if text.hasPrefix(RefreshTokenCoder.prefix) { return context.refreshTokens.decode(text) }
        return try await refreshToken(inAccessToken: text)
    }

    @inline(never)
    private func refreshToken(inAccessToken text: String) async throws(ServiceError) -> RefreshToken? {
        let inside = try await signer.claims(of: text, signer.accessTokens.read).map(\.refreshToken)
        return (inside ?? signer.accessTokens.refreshTokenUnderUnknownKey(text)).flatMap(context.refreshTokens.decode)
    }

    /// The session of the refresh token that `text` is, or holds, whether or not the session has ended.
    public func session(of text: String) async throws(ServiceError) -> Identifier<Session>? {
        try await refreshToken(in: text)?.sessionID
    }

    /// The session that a genuine token of either kind names.
    func session(named text: String) async throws(ServiceError) -> Identifier<Session>? {
        if text.hasPrefix(RefreshTokenCoder.prefix) { return context.refreshTokens.decode(text)?.sessionID }
        if let claims = try await signer.claims(of: text, signer.accessTokens.read) {
            return claims.sessionID.flatMap { Identifier<Session>($0) }
        }
        return try await session(of: text)
    }
}
