internal import Cryptography

/// The identity provider's refresh token of a login, with which the provider can be asked again later.
struct ProviderGrant: Sendable {
    let provider: String
    let subject: String
    let clientID: String
    let refreshToken: String
    let terms: RecheckTerms
}

extension SessionRequest {
    /// The request with the provider's refresh token as it is kept. Nothing is kept where the provider is not asked again; a
    /// request without the token is refused where asking again is required.
    func keepingProviderToken(of identity: ExternalIdentity) throws(ServiceError) -> SessionRequest {
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

/// Asks identity providers whether they still confirm the users of running sessions, and records the outcome.
public final class ProviderCheckService: UseCase {
    /// The longest refresh token of a provider, in bytes.
    public static let providerTokenLengthMax = 8192
    /// Whether `text` can be a refresh token (RFC 6749 appendix A.17): visible ASCII and spaces, not too long.
    public static func isProviderToken(_ text: String) -> Bool {
        (1...providerTokenLengthMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The time for which a claimed check belongs to its node. It is longer than any answer of a provider takes.
    public static let recheckLease = Duration.seconds(60)

    let context: ServiceContext

    /// The provider checks of `context`.
    public init(_ context: ServiceContext) { self.context = context }

    /// The first check of a session that starts now.
    func firstCheck(_ grant: ProviderGrant, of id: Identifier<Session>, at now: Instant) -> ProviderCheck {
        ProviderCheck(
            sessionID: id, provider: grant.provider, subject: grant.subject, clientID: grant.clientID,
            sealedToken: context.providerTokens.seal(grant.refreshToken, for: id, grant.provider),
            dueAt: grant.terms.nextCheck(after: now, jitter: jitter))
    }

    /// Claims up to `limit` due checks of `provider` for `recheckLease`. A check is in doubt if the provider may have been
    /// asked in a time that the database has lost.
    public func claimDue(of provider: String, limit: Int) async throws(ServiceError) -> [ProviderCheck] {
        // The earliest time, because a jump of the clock must neither end a session nor put off a check (`ClockGuard`).
        let now = context.time.earliest
        let incarnation = context.databaseIncarnation
        if !incarnation.hasBegun {
            incarnation.see(try await inStore(await store.databaseLife()), at: context.clock.now)
        }
        var checks = try await inStore(
            await store.claimProviderChecks(
                of: provider, dueBy: now, until: now + Self.recheckLease, limit: limit))
        if checks.isEmpty { return [] }
        // Asked again, because the checks may come from a database that has just replaced the one before.
        incarnation.see(try await inStore(await store.databaseLife()), at: context.clock.now)
        for index in checks.indices where incarnation.mayHaveLost(checks[index].dueAt) {
            checks[index].isInDoubt = true
        }
        return checks
    }

    /// Makes the check of a session due now if a refresh waits for the provider's confirmation. It writes once until the
    /// provider was asked. A check that a node may have claimed is left to it.
    func hasten<Value>(
        of id: Identifier<Session>, after answer: Result<Value, ServiceError>
    ) async throws(ServiceError) {
        guard case .failure(.identityProviderUnavailable) = answer else { return }
        let now = context.time.earliest
        let isFarOff: @Sendable (ProviderCheck?) -> Bool = { check in
            check?.sealedToken != nil && check.map { $0.dueAt > now + Self.recheckLease } == true
        }
        guard isFarOff(try await inStore(await store.providerCheck(of: id))) else { return }
        _ = try await inStore(
            await store.updateProviderCheck(id) { change in
                if isFarOff(change.check) { change.check?.dueAt = now }
            })
    }

    /// Asks the provider about the session of a claimed check, and applies the answer. When it returns, the
    /// outcome is durable.
    public func recheck(
        _ check: ProviderCheck, _ terms: RecheckTerms, by asker: any ProviderAsker
    ) async throws(ServiceError) -> RecheckOutcome {
        let (now, jitter) = (context.time.earliest, jitter)
        let id = check.sessionID
        let record = try await inStore(await store.session(id))
        guard let record, policy.ending(of: record, at: now) == nil else {
            // The clock or a revocation of many sessions has ended the session without deleting its check.
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
        try await inStore(await store.updateProviderCheck(id, body) ?? .superseded)
    }

    private var jitter: Double { Double(context.random.bytes(1).first ?? 0) / 256 }
}
