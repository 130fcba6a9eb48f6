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
    public func resume(_ attempt: RefreshAttempt, from origin: Origin) async throws(ServiceError) -> TokenGrant {
        let id = try await session(of: attempt, at: context.time.now)
        attempt.begin(of: id, in: context, from: origin)
        if !attempt.evidence.isEmpty { try await refresh.verifyEvidence(of: attempt, in: id) }
        guard try await refresh.runTransaction(of: attempt, in: id) else { throw .refused(.unknownSession) }
        let answer = await refresh.tokens(of: attempt)
        try await providerChecks.hasten(of: id, after: answer)
        return try answer.get()
    }

    /// The session whose key has signed the assertion for this server, just now, and once. No transaction is needed, because
    /// the key of a session never changes.
    private func session(of attempt: RefreshAttempt, at now: Instant) async throws(ServiceError) -> Identifier<Session>
    {
        guard let assertion = try? KeyAssertion(attempt.token), let id = Identifier<Session>(assertion.issuer),
            assertion.audience.contains(context.issuer), assertion.isTimely(at: now, lead: Self.deviceLead)
        else { throw .refused(.invalidAssertion) }
        guard let record = try await inStore({ () async throws(StoreError) in try await store.wholeSession(id) }) else {
            throw .refused(.unknownSession)
        }
        guard let key = record.session.deviceKey.flatMap(DeviceKey.init(text:)),
            assertion.subject == record.session.userID.description,
            (try? assertion.verify(with: key.key)) != nil
        else { throw .refused(.invalidAssertion) }
        // The assertion is used up whatever the outcome, because the device can sign the next one by itself.
        let token = OneTimeToken(
            .deviceAssertion, of: id.description, id: assertion.id,
            goodUntil: Instant(secondsSinceEpoch: assertion.expiry), at: now)
        let isFresh = try await inStore { () async throws(StoreError) in try await store.use(token) }
        guard isFresh else {
            attempt.noteRefusal(of: record.session.userID, in: id)
            throw .refused(.invalidAssertion)
        }
        return id
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
