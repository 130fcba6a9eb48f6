internal import JOSE

/// Resumes sessions by device keys: a device that registered a key at its login presents an assertion signed by it (RFC 7523)
/// instead of a refresh token. The checks and limits are those of a refresh.
public final class DeviceKeyService: UseCase {
    /// The maximum lifetime of an assertion, for which the store remembers used ones. A device can sign a new one at any time.
    public static let assertionLifetimeMax = Duration.seconds(300)
    /// How far the clock of a device may be ahead.
    static let deviceLead = Duration.seconds(15)

    let context: ServiceContext
    private let refresh: RefreshService
    private let providerChecks: ProviderCheckService

    init(
        _ context: ServiceContext, _ refresh: RefreshService, _ providerChecks: ProviderCheckService
    ) {
        self.context = context
        self.refresh = refresh
        self.providerChecks = providerChecks
    }

    /// Resumes the session that the assertion of `attempt` names. When it throws, `attempt` holds session and user of an
    /// assertion that the session's key has signed.
    ///
    /// - Parameter admit: admits the resumption of a session, before its transaction.
    public func resume(
        _ attempt: RefreshAttempt, from origin: Origin,
        admitting admit: (Identifier<Session>) throws(ServiceError) -> Void = { _ in }
    ) async throws(ServiceError) -> TokenGrant {
        let id = try await session(of: attempt, from: origin)
        attempt.begin(of: id, in: context, from: origin)
        try admit(id)
        if !attempt.evidence.isEmpty { try await refresh.verifyEvidence(of: attempt, in: id) }
        guard try await refresh.runTransaction(of: attempt, in: id) else { throw .refused(.unknownSession) }
        let answer = await refresh.tokens(of: attempt)
        try await providerChecks.hasten(of: id, after: answer)
        return try answer.get()
    }

    /// The session whose key has signed the assertion for this server, just now, and once. No transaction is needed, because
    /// the key of a session never changes.
    private func session(
        of attempt: RefreshAttempt, from origin: Origin
    ) async throws(ServiceError) -> Identifier<Session> {
        let now = context.time.now
        guard let assertion = try? KeyAssertion(attempt.token), let id = Identifier<Session>(assertion.issuer),
            assertion.audience.contains(context.issuer), assertion.isTimely(at: now, lead: Self.deviceLead)
        else { throw .refused(.invalidAssertion) }
        guard let record = try await inStore(await store.wholeSession(id)) else {
            throw .refused(.unknownSession)
        }
        guard let key = record.session.deviceKey.flatMap(DeviceKey.init(text:)),
            assertion.subject == record.session.userID.description,
            (try? assertion.verify(with: key.key)) != nil
        else { throw try await refusal(on: record, from: origin) }
        // A page of another origin, and a proof that lacks its nonce, do not use the assertion up.
        try attempt.page?.admit(in: record)
        if record.session.keyThumbprint != nil { try attempt.proof?.check(record.client?.dpop ?? .optional) }
        // Otherwise the assertion is used up whatever the outcome, because the device can sign the next one by itself.
        let token = OneTimeToken(
            .deviceAssertion, of: id.description, id: assertion.id,
            goodUntil: Instant(secondsSinceEpoch: assertion.expiry), at: now)
        let isFresh = try await inStore(await store.use(token))
        guard isFresh else {
            attempt.noteRefusal(of: record.session.userID, in: id)
            throw try await refusal(on: record, from: origin)
        }
        return id
    }

    /// The refusal of an assertion that proves nothing: the end of the session, if it has ended, because no assertion helps a
    /// device then. The end is no secret from a holder of the session's id.
    private func refusal(on record: SessionRecord, from origin: Origin) async throws(ServiceError) -> ServiceError {
        let ending = try await recordedEnding(of: record, from: origin, at: context.time)
        return .refused(ending.map { .ended($0.reason) } ?? .invalidAssertion)
    }
}

extension KeyAssertion {
    /// Whether the assertion is valid at `now`, and not for too long, by a clock that is ahead by `lead` at most.
    func isTimely(at now: Instant, lead: Duration) -> Bool {
        let expiry = Instant(secondsSinceEpoch: expiry)
        let start = Instant(secondsSinceEpoch: notBefore ?? .min)
        return now < expiry && expiry <= now + DeviceKeyService.assertionLifetimeMax + lead && start <= now + lead
    }
}
