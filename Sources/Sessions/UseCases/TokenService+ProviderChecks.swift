internal import Cryptography

/// What a login brings along, so that its provider can be asked again later.
struct ProviderGrant: Sendable {
    let provider: String
    let subject: String
    let clientID: String
    let refreshToken: String
    let terms: RecheckTerms
}

extension LoginRequest {
    /// The request with what is kept of the provider's refresh token that it brings. Nothing is, where the provider is not asked
    /// again; without the token it is refused, where the provider has to be.
    func keepingProviderToken(of identity: ExternalIdentity) throws(ServiceError) -> LoginRequest {
        guard let terms = identity.recheck else { return self }
        guard let providerRefreshToken else {
            if !terms.isRequired { return self }
            throw .invalid(member: "provider_refresh_token", detail: "is missing: this provider is asked again later")
        }
        var request = self
        request.providerGrant = ProviderGrant(
            provider: identity.key.provider, subject: identity.key.subject, clientID: identity.clientID,
            refreshToken: providerRefreshToken, terms: terms)
        return request
    }
}

extension TokenService {
    /// The longest refresh token of a provider that is taken, in bytes.
    public static let providerTokenLengthMax = 8192
    /// Whether that can be a refresh token (RFC 6749 appendix A.17): visible ASCII and spaces, not too long.
    public static func isProviderToken(_ text: String) -> Bool {
        (1...providerTokenLengthMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// How long a node has a check for itself: longer than any answer takes.
    public static let recheckLease = Duration.seconds(60)

    /// The first check of a session that begins now.
    func providerCheck(_ grant: ProviderGrant, of id: Identifier<Session>, at now: Instant) -> ProviderCheck {
        ProviderCheck(
            sessionID: id, provider: grant.provider, subject: grant.subject, clientID: grant.clientID,
            sealedToken: context.providerTokens.seal(grant.refreshToken, for: id, grant.provider),
            dueAt: grant.terms.nextCheck(after: now, jitter: jitter))
    }

    /// Takes on up to `limit` checks of `provider` that are due, for as long as `recheckLease`. One of which nobody can know whether
    /// it was asked about in a time that the database has lost is in doubt.
    public func dueProviderChecks(of provider: String, limit: Int) async throws(ServiceError) -> [ProviderCheck] {
        // While the clock is in doubt nothing ends, and nothing is put off, by a time that may never have come (`ClockGuard`).
        let now = context.time.earliest
        let watch = context.databaseIncarnation
        return try await inStore { () async throws(StoreError) in
            if !watch.hasBegun { watch.see(try await store.databaseLife(), at: context.clock.now) }
            var checks = try await store.claimProviderChecks(
                of: provider, dueBy: now, until: now + Self.recheckLease, limit: limit)
            if checks.isEmpty { return [] }
            // Afterwards: the checks may come from a database that has just taken the place of the one before.
            watch.see(try await store.databaseLife(), at: context.clock.now)
            for index in checks.indices where watch.mayHaveLost(checks[index].dueAt) { checks[index].isInDoubt = true }
            return checks
        }
    }

    /// Has the provider of a session asked soon, where somebody waits for its word. Until it was, nothing more is written. What a
    /// node may be asking about at this moment is left to it.
    func hastenProviderCheck<Value>(
        of id: Identifier<Session>, after answer: Result<Value, ServiceError>
    ) async throws(ServiceError) {
        guard case .failure(.identityProviderUnavailable) = answer else { return }
        let now = context.time.earliest
        let isFarOff: @Sendable (ProviderCheck?) -> Bool = { check in
            check?.sealedToken != nil && check.map { $0.dueAt > now + Self.recheckLease } == true
        }
        try await inStore { () async throws(StoreError) in
            guard isFarOff(try await store.providerCheck(of: id)) else { return }
            _ = try await store.updateProviderCheck(id) { change in
                if isFarOff(change.check) { change.check?.dueAt = now }
            }
        }
    }

    /// Asks about the session of a check that this node has taken on, and does what follows. When it returns, that is durable.
    public func recheck(
        _ check: ProviderCheck, _ terms: RecheckTerms, by asker: any ProviderAsker
    ) async throws(ServiceError) -> RecheckOutcome {
        let (now, jitter) = (context.time.earliest, jitter)
        let id = check.sessionID
        let record = try await inStore { () async throws(StoreError) in try await store.session(id) }
        guard let record, policy.ending(of: record, at: now) == nil else {
            // Ended by the clock, or with many others: nothing has taken its check away yet.
            return try await change(id) { change in
                change.check = nil
                return .superseded
            }
        }
        guard let token = context.providerTokens.open(check) else {
            return try await change(id) { $0.settleUnopened(check, terms, at: now, jitter: jitter) }
        }
        let answer = await asker.ask(
            ProviderQuestion(
                provider: check.provider, subject: check.subject, clientID: check.clientID, refreshToken: token))
        let isOld = check.sealedToken.map(context.providerTokens.isOld) ?? false
        let sealed = (answer.newToken ?? (isOld ? token : nil)).map {
            context.providerTokens.seal($0, for: id, check.provider)
        }
        return try await change(id) { change in
            change.settle(answer, of: check, sealed: sealed, terms, at: now, jitter: jitter)
        }
    }

    private func change(
        _ id: Identifier<Session>, _ body: @escaping @Sendable (inout ProviderCheckChange) -> RecheckOutcome
    ) async throws(ServiceError) -> RecheckOutcome {
        try await inStore { () async throws(StoreError) in
            try await store.updateProviderCheck(id, body) ?? .superseded
        }
    }

    private var jitter: Double { Double(context.random.bytes(1).first ?? 0) / 256 }
}
