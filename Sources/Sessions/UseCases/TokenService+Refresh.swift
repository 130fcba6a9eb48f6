internal import Cryptography

/// A refresh as the wire brought it.
public struct RefreshRequest: Hashable, Sendable {
    /// The refresh token; for a client that keeps one string, the rolling token that holds it.
    public var token: String
    /// The client; nil where the call knows no clients, which is enough for public ones.
    public var clientID: String?
    /// Whether that client has proved itself; if not, its word is enough for public ones.
    public var isClientAuthenticated: Bool
    /// The device that the request names, if it names one.
    public var deviceID: String?
    /// The `Idempotency-Key`, if the request has one: chosen and stored by the client before it sends.
    public var idempotencyKey: String?
    /// A narrower scope for the rolling token (RFC 6749 section 6); nil: all that was granted.
    public var scope: Scope?
    /// The APIs that the rolling token is for (RFC 8707 section 2.2); none: those that the login asked for, or else
    /// the server's own audience.
    public var resources: [String] = []
    /// The good proof of possession of a key that the request holds, if it does.
    public var proof: ProofOfPossession?
    /// What the request brings to show that the user is there.
    public var evidence = PresenceEvidence()

    /// A refresh with `token`.
    public init(
        token: String, clientID: String?, isClientAuthenticated: Bool = true, deviceID: String? = nil,
        idempotencyKey: String? = nil, scope: Scope? = nil, proof: ProofOfPossession? = nil
    ) {
        self.token = token
        self.clientID = clientID
        self.isClientAuthenticated = isClientAuthenticated
        self.deviceID = deviceID
        self.idempotencyKey = idempotencyKey
        self.scope = scope
        self.proof = proof
    }
}

extension TokenService {
    /// Renews a rolling token: the heart. Reads the token, lets the store decide in a transaction, signs while the disk works.
    ///
    /// Returns the tokens and the row of the table that gave them. When it returns, the outcome is durable.
    ///
    /// - Parameter refusing: is told whose session it is before a good token of it is refused: no stranger can bring that about.
    public func refresh(
        _ request: RefreshRequest, from origin: Origin, refusing: (Identifier<User>) -> Void = { _ in }
    ) async throws(ServiceError) -> (TokenGrant, RefreshDecision) {
        let token = try await refreshToken(in: request.token)
        let attempt = attempt(request, serial: token?.serial ?? 0, from: origin)
        guard let token else { return try await exchange(request.token, attempt, refusing: refusing) }
        if !request.evidence.isEmpty { try await look(at: request.evidence, beside: attempt, in: token.sessionID) }
        guard try await decide(attempt, in: token.sessionID) else { throw .refused(.unknownSession) }
        if let granted = attempt.granted { return granted }
        return try await conclude(attempt, in: token.sessionID, refusing: refusing)
    }

    // An awaited function keeps its variables in memory of its own, taken and given back at each call, those of what was inlined
    // into it included. So what few refreshes need stands in functions that are not.

    /// What `request` presents and asks for.
    @inline(never)
    private func attempt(_ request: RefreshRequest, serial: UInt64, from origin: Origin) -> RefreshAttempt {
        var presentation = RefreshPresentation(
            serial: serial, clientID: request.clientID, isClientAuthenticated: request.isClientAuthenticated,
            deviceID: request.deviceID, requestKey: request.idempotencyKey.map(Self.shortHash),
            provenKeyThumbprint: request.proof?.keyThumbprint)
        presentation.proof = request.proof
        let wanted = RequestedToken(scope: request.scope, resources: context.demand(for: request.resources))
        return RefreshAttempt(presentation, wanted, under: policy, from: origin, at: context.time)
    }

    /// Notes what `evidence` shows of the user's presence.
    @inline(never)
    func look(
        at evidence: PresenceEvidence, beside attempt: RefreshAttempt, in id: Identifier<Session>
    ) async throws(ServiceError) {
        attempt.presentation.presence = try await presence(
            shownBy: evidence, beside: attempt.presentation, in: id, from: attempt.origin, at: attempt.time)
    }

    /// Decides in a transaction on a session, and signs what that gives while the disk works. False: no such session.
    func decide(_ attempt: RefreshAttempt, in id: Identifier<Session>) async throws(ServiceError) -> Bool {
        try await inStore { () async throws(StoreError) in
            try await store.changeSession(id) { change in
                attempt.decide(&change)
            } preparing: {
                sign(attempt)
            }
        }
    }

    /// Signs what was decided, unless other keys have to be read first.
    private func sign(_ attempt: RefreshAttempt) {
        guard case .issued(_, let issue) = attempt.outcome, !context.signingKeys.isBehind else { return }
        attempt.grant = Result { () throws(ServiceError) in try signedGrant(issue, at: attempt.time.now) }
    }

    /// A refresh with a token that is not one of ours.
    @inline(never)
    private func exchange(
        _ text: String, _ attempt: RefreshAttempt, refusing: (Identifier<User>) -> Void
    ) async throws(ServiceError) -> (TokenGrant, RefreshDecision) {
        attempt.outcome = try await exchangeForeignToken(
            text, attempt.presentation, attempt.wanted, from: attempt.origin, at: attempt.time)
        if attempt.outcome == nil { throw .refused(.malformed) }
        return try await tokens(for: attempt, refusing: refusing).get()
    }

    /// Does what follows a decision that did not give signed tokens.
    @inline(never)
    private func conclude(
        _ attempt: RefreshAttempt, in id: Identifier<Session>, refusing: (Identifier<User>) -> Void
    ) async throws(ServiceError) -> (TokenGrant, RefreshDecision) {
        let answer = await tokens(for: attempt, refusing: refusing)
        try await hastenProviderCheck(of: id, after: answer)
        if case .failure(.refused(.bindingMismatch)) = answer {
            try await tellMisuse(
                of: id, provenKey: attempt.presentation.provenKeyThumbprint, from: attempt.origin,
                at: attempt.time.now)
        }
        return try answer.get()
    }

    /// What a decision gives to the client.
    func tokens(
        for attempt: RefreshAttempt, refusing: (Identifier<User>) -> Void
    ) async -> Result<(TokenGrant, RefreshDecision), ServiceError> {
        switch attempt.outcome {
        case nil: preconditionFailure("a store that has found the session has not had it decided on")
        case .failed(let error): return .failure(error)
        case .refused(let error, let userID):
            refusing(userID)
            return .failure(error)
        case .issued(let decision, let issue):
            if let signed = attempt.grant { return signed.map { ($0, decision) } }
            do throws(ServiceError) {
                return .success((try await grant(issue, at: attempt.time.now), decision))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The refresh token that `text` is, or holds: clients that keep one string present their rolling token.
    func refreshToken(in text: String) async throws(ServiceError) -> RefreshToken? {
        if text.hasPrefix(RefreshTokenCoder.prefix) { return context.refreshTokens.decode(text) }
        return try await refreshToken(inRollingToken: text)
    }

    @inline(never)
    private func refreshToken(inRollingToken text: String) async throws(ServiceError) -> RefreshToken? {
        let inside = try await claims(of: text, accessTokenIssuer.read).map(\.refreshToken)
        return (inside ?? accessTokenIssuer.refreshTokenUnderUnknownKey(text)).flatMap(context.refreshTokens.decode)
    }

    /// The session whose refresh token `text` is, or holds, whether or not it lives.
    public func refreshedSession(in text: String) async throws(ServiceError) -> Identifier<Session>? {
        try await refreshToken(in: text)?.sessionID
    }

    /// Eight bytes of SHA-256: enough to tell the keys of one device's retries apart, and nothing to learn from.
    static func shortHash(_ idempotencyKey: String) -> UInt64 {
        sha256(Array(idempotencyKey.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Runs `body`, turning what the store cannot do into the domain's error.
    func inStore<Value: Sendable>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(ServiceError) -> Value {
        do throws(StoreError) { return try await body() } catch { throw .store(error) }
    }
}

extension RefreshPolicy {
    /// The transaction of a refresh: the decision, and the audit events that go with it.
    func refresh(
        _ presentation: RefreshPresentation, _ wanted: RequestedToken, _ change: inout SessionChange,
        from origin: Origin,
        at time: ClockGuard.Reading
    ) -> RefreshOutcome {
        let now = time.now
        var session = change.session
        let decision = decide(
            presentation, &session, user: change.user, client: change.client, settings: change.settings, now: now,
            earliest: time.earliest)
        if decision == .undecided { return .failed(.store(.clockInDoubt)) }
        if decision == .unconfirmed { return .failed(.identityProviderUnavailable) }
        if case .refused(let reason) = decision {
            change.keep(session, endedBy: origin, at: now)
            if reason == .userAbsent, let demand = presenceDemand(on: change.record) {
                return .refused(.userAbsent(demand), session.userID)
            }
            return .refused(.refused(reason), session.userID)
        }
        // What else stands in the way leaves the session as it was: the token is not spent.
        guard let user = change.user, let client = change.client else { return .failed(.refused(.unknownSession)) }
        if presentation.presence?.refusal(for: user) != nil {
            return .refused(.wrongPassword(demand(afterWrongPasswordIn: change.record)), user.id)
        }
        guard client.grantTypes.contains(presentation.isOfDeviceKey ? .jwtBearer : .refreshToken) else {
            return .refused(.grantClosed(reauthenticate: client.helpsToLogIn(insteadOf: session)), user.id)
        }
        let scope = wanted.scope ?? session.scope
        guard session.scope.contains(scope) else { return .refused(.invalidScope, user.id) }
        let audience: [String]
        do throws(ServiceError) {
            audience = try wanted.resources.audience(for: client, granted: session.resources)
        } catch { return .refused(error, user.id) }
        do throws(ServiceError) { try presentation.useProof(on: session) } catch { return .failed(error) }
        if decision == .restored {
            change.events.append(
                AuditEvent(.sessionRestored, at: now, by: origin, session: session, reason: "newer_than_stored"))
        }
        change.session = session
        return .issued(
            decision,
            TokenIssue(
                session: session, user: user, client: client, settings: change.settings,
                scope: client.standing(scope), audience: audience))
    }
}

extension RefreshPresentation {
    /// Uses up the proof of the session's key, which the decision has asked for. Beside a session of no key it says nothing.
    func useProof(on session: Session) throws(ServiceError) {
        if session.keyThumbprint != nil { try proof?.use() }
    }
}

extension Client {
    /// Whether a login gives what `session` does not, of which one way to go on is closed: not where its own key opens the other
    /// one, nor where both are closed, because no login succeeds then.
    fileprivate func helpsToLogIn(insteadOf session: Session) -> Bool {
        if grantTypes.contains(.refreshToken) { return true }
        return grantTypes.contains(.jwtBearer) && session.deviceKey == nil
    }
}

extension SessionChange {
    /// Takes over `session`, and tells the audit trail if it has ended just now.
    mutating func keep(_ session: Session, endedBy origin: Origin, at now: Instant) {
        if let ending = session.ending, self.session.ending == nil {
            events.append(.ended(session, ending.reason, at: now, by: origin))
        }
        self.session = session
    }
}
