internal import JOSE

/// An access token that was checked against the store, and the session that it belongs to.
public struct AuthenticatedSession: Hashable, Sendable {
    /// The session, its user, client and settings, as they stand.
    public let record: SessionRecord
    /// The user of the session.
    public let user: User
    /// The scope of the token, without what its client can no longer have.
    public let scope: Scope
    /// The `aud` of the token, without what its client can no longer have.
    public let audience: [String]
    /// When the token was issued.
    public let issuedAt: Instant
    /// When the token expires.
    public let expiresAt: Instant

    /// The session.
    public var session: Session { record.session }
}

/// How an access token was presented. A token that is bound to a key is valid only with a proof of that key, and an unbound
/// token only without one (RFC 9449 sections 7.1 and 7.2).
public enum TokenUse: Hashable, Sendable {
    /// By itself (RFC 6750).
    case bearer
    /// With a valid proof of a key, made for this very token.
    case proven(ProofOfPossession)
    /// In an introspection, which gives no access.
    case inquiry

    /// Whether a token that is bound to the key with this thumbprint, or to none, may be used so.
    public func fits(_ keyThumbprint: String?) -> Bool {
        switch self {
        case .bearer: keyThumbprint == nil
        case .proven(let proof): keyThumbprint == proof.keyThumbprint
        case .inquiry: true
        }
    }

    /// Uses up the proof, right before the request has its effect, for a client with that requirement.
    public func use(for requirement: Client.ProofRequirement) throws(ServiceError) {
        guard case .proven(let proof) = self else { return }
        try proof.use(for: requirement)
    }
}

/// The present state of a token (RFC 7662 section 2.2).
public enum Introspection: Hashable, Sendable {
    /// Invalid, or not issued by this server, or not to be disclosed to the caller.
    case inactive
    /// An access token of a session.
    case accessToken(AuthenticatedSession)
    /// An access token that a client got for itself.
    case clientToken(ClientToken)
    /// A refresh token that would be accepted.
    case refreshToken(SessionRecord, expiresAt: Instant)
}

/// The present state of an access token that a client got for itself.
public struct ClientToken: Hashable, Sendable {
    /// The client.
    public let clientID: String
    /// The scope of the token, without what its client can no longer have.
    public let scope: Scope
    /// The `aud` of the token, without what its client can no longer have.
    public let audience: [String]
    /// When the token was issued.
    public let issuedAt: Instant
    /// When the token expires.
    public let expiresAt: Instant
    /// The key that it is bound to, if it is.
    public let keyThumbprint: String?
    /// The client's requirement of proofs.
    public let proofRequirement: Client.ProofRequirement
}

/// Checks access tokens against the store, and introspects tokens of every kind.
public final class AccessTokenVerifier: UseCase {
    let context: ServiceContext
    let signer: TokenSigner

    init(_ context: ServiceContext, _ signer: TokenSigner) {
        self.context = context
        self.signer = signer
    }

    /// The session of an access token. It is always read from the store, so that the end of a session, and a disabling of
    /// logins with immediate effect, take effect at once.
    ///
    /// - Parameter required: the scope token that the access token needs; nil: none. It is checked before the user's presence,
    ///   because a proof of presence would not help a token without it.
    public func authenticate(
        _ token: String, as use: TokenUse = .bearer, for requirement: AudienceRequirement = .own,
        scope required: String? = nil, requiresPresence: Bool = true, from origin: Origin
    ) async throws(ServiceError) -> AuthenticatedSession {
        let time = context.time
        let now = time.now
        let reading = context.signingKeys.readingNumber
        guard let claims = try await signer.claims(of: token, signer.accessTokens.verify),
            let id = claims.sessionID.flatMap({ Identifier<Session>($0) })
        else { throw .invalidToken(nil) }
        guard claims.isTimely(at: now) else { throw .invalidToken(nil) }
        // The audience is checked before the store is read, because a token for another API must not cost a read.
        guard requirement.isMet(by: claims.audience.all, own: context.audience) else { throw .invalidToken(nil) }
        guard use.fits(claims.confirmation?.jkt) else { throw .invalidToken(.bindingMismatch) }
        guard let record = try await inStore(await store.wholeSession(id)) else {
            throw .invalidToken(.unknownSession)
        }
        guard try await signer.stands(token, since: reading) else { throw .invalidToken(nil) }
        if let ending = try await recordedEnding(of: record, from: origin, at: time) {
            throw .invalidToken(.ended(ending.reason))
        }
        let audience = context.standing(claims.audience.all, of: record.client)
        guard requirement.isMet(by: audience, own: context.audience) else { throw .invalidToken(nil) }
        guard let user = record.user else { throw .invalidToken(.ended(.userDeleted)) }
        if user.rejectsAccessTokens, let refusal = user.loginRefusal { throw .invalidToken(refusal) }
        let scope = claims.standingScope(of: record.client)
        if let required, !scope.contains(required) { throw .scopeMissing(required) }
        if requiresPresence, let presence = policy.presenceRequirement(on: record),
            !presence.isMet(by: record.session, at: now)
        {
            throw .insufficientUserAuthentication(presence)
        }
        try use.use(for: record.client?.dpop ?? .optional)
        return AuthenticatedSession(
            record: record, user: user, scope: scope, audience: audience,
            issuedAt: Instant(secondsSinceEpoch: claims.issuedAt), expiresAt: Instant(secondsSinceEpoch: claims.expiry))
    }

    /// The client of an access token that it got for itself, which must be meant for this server (RFC 6749 section 4.4) and have
    /// one of `scopes`.
    public func authenticateClient(
        _ token: String, as use: TokenUse = .bearer, scopes: [String]
    ) async throws(ServiceError) -> ClientToken {
        let reading = context.signingKeys.readingNumber
        guard let claims = try await signer.claims(of: token, signer.accessTokens.verify), claims.sessionID == nil,
            AudienceRequirement.own.isMet(by: claims.audience.all, own: context.audience)
        else { throw .invalidToken(nil) }
        guard use.fits(claims.confirmation?.jkt) else { throw .invalidToken(.bindingMismatch) }
        guard case .clientToken(let client) = try await introspect(clientToken: claims),
            try await signer.stands(token, since: reading)
        else { throw .invalidToken(nil) }
        guard client.scope.tokens.contains(where: scopes.contains) else { throw .scopeMissing(scopes.first ?? "") }
        try use.use(for: client.proofRequirement)
        return client
    }

    /// The present state of `token`. `inactive` gives no reason.
    public func introspect(_ token: String, from origin: Origin) async throws(ServiceError) -> Introspection {
        if token.hasPrefix(RefreshTokenCoder.prefix) { return try await introspectRefreshToken(token) }
        let reading = context.signingKeys.readingNumber
        if let claims = try await signer.claims(of: token, signer.accessTokens.verify), claims.sessionID == nil {
            let answer = try await introspect(clientToken: claims)
            return try await signer.stands(token, since: reading) ? answer : .inactive
        }
        do throws(ServiceError) {
            return .accessToken(
                try await authenticate(token, as: .inquiry, for: .any, requiresPresence: false, from: origin))
        } catch {
            guard case .invalidToken = error else { throw error }
            return .inactive
        }
    }

    /// The state of a token that a client got for itself, always read from the store, so that its end takes effect at once.
    func introspect(clientToken claims: AccessToken) async throws(ServiceError) -> Introspection {
        let now = context.clock.now
        guard claims.isTimely(at: now), let epoch = claims.epoch else { return .inactive }
        let use = claims.useAsRevoked(at: now)
        let (catalogue, isRevoked) = try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in
                let (catalogue, isRevoked) = (reader.catalogue(), reader.isUsed(use))
                return (try catalogue.value(), try isRevoked.value())
            })
        guard !isRevoked, let client = catalogue.clients[claims.clientID], client.getsOwnTokens,
            epoch >= catalogue.settings.tokenEpoch(of: client)
        else { return .inactive }
        let audience = context.standing(claims.audience.all, of: client)
        guard !audience.isEmpty else { return .inactive }
        return .clientToken(
            ClientToken(
                clientID: claims.clientID, scope: claims.standingScope(of: client), audience: audience,
                issuedAt: Instant(secondsSinceEpoch: claims.issuedAt),
                expiresAt: Instant(secondsSinceEpoch: claims.expiry), keyThumbprint: claims.confirmation?.jkt,
                proofRequirement: client.dpop))
    }

    /// A refresh token is active if the decision would grant a refresh. It is decided on a copy, so that nothing is spent.
    private func introspectRefreshToken(_ token: String) async throws(ServiceError) -> Introspection {
        let time = context.time
        guard let token = context.refreshTokens.decode(token),
            let record = try await inStore(await store.wholeSession(token.sessionID))
        else { return .inactive }
        guard let client = record.client, client.staysLoggedIn, client.grantTypes.contains(.refreshToken) else {
            return .inactive
        }
        var session = record.session
        let attempt = RefreshAttempt(
            serial: token.serial, clientID: session.clientID, provenKeyThumbprint: session.keyThumbprint,
            deviceReport: session.device.report)
        let decision = policy.renew(
            attempt, &session, user: record.user, client: record.client, settings: record.settings, now: time.now,
            earliest: time.earliest)
        if decision == .undecided { throw .store(.clockInDoubt) }
        // A session that requires the user's presence first is still active.
        if case .refused(let reason) = decision, reason != .insufficientUserAuthentication { return .inactive }
        let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: record.user)
        return .refreshToken(
            record, expiresAt: min(lifetimes.idleEnd(of: record.session), lifetimes.finalEnd(of: record.session)))
    }
}

extension SessionRecord {
    /// The scope of the session's tokens, without what its client can no longer have.
    public var standingScope: Scope { client?.standing(session.scope) ?? .empty }
}

extension AccessToken {
    /// The scope of the token, without what its client can no longer have.
    fileprivate func standingScope(of client: Client?) -> Scope {
        client?.standing(Scope(scope ?? "") ?? .empty) ?? .empty
    }
}
