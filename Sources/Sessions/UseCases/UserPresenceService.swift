internal import JOSE

/// The evidence of the user's presence in a request.
public struct PresenceEvidence: Hashable, Sendable {
    /// An assertion of the presence key (RFC 7523 section 3): `iss` the session, `sub` the user, `aud` the issuer, `exp` at
    /// most five minutes ahead, `jti` once.
    public var assertion: String?
    /// The password.
    public var password: String?

    /// Evidence; nothing by default.
    public init(assertion: String? = nil, password: String? = nil) {
        self.assertion = assertion
        self.password = password
    }

    /// Whether there is no evidence.
    public var isEmpty: Bool { assertion == nil && password == nil }
}

/// Verifies evidence of the user's presence (RFC 9470): assertions of presence keys, and passwords.
final class UserPresenceService: UseCase {
    let context: ServiceContext
    private let passwords: PasswordVerifier

    init(_ context: ServiceContext, _ passwords: PasswordVerifier) {
        self.context = context
        self.passwords = passwords
    }

    /// Verifies the evidence of `attempt`, and records in it what the evidence proves.
    ///
    /// Evidence beside a token that would be refused with any evidence is ignored: a token that has ended, was replaced or
    /// lacks its key allows no attempt at the password, and uses up none of the session's attempts.
    func look(at attempt: RefreshAttempt, in id: Identifier<Session>) async throws(ServiceError) {
        let circumstances = attempt.circumstances
        let time = circumstances.time
        guard let record = try await inStore({ () async throws(StoreError) in try await store.session(id) }),
            policy.accepts(attempt, withUserOf: record, at: time), let user = record.user
        else { return }
        // The proof is used before a password attempt or an assertion is used up. The decision that follows accepts a proof
        // that this request has used.
        try attempt.useProof(on: record.session)
        do throws(ServiceError) {
            attempt.presence = try await presence(
                provedBy: attempt.evidence, of: user, in: record.session, from: circumstances.origin, at: time.now)
            // A client that was answered 503 meanwhile tries again, and must not find its token spent.
            if Task.isCancelled { throw .overloaded }
        } catch .invalidCredentials {
            // The token is valid, so that a mistyped password must not end the session: the user is asked again.
            throw .wrongPassword(policy.requirement(afterWrongPasswordIn: record))
        }
    }

    /// The proof of presence that `evidence` gives for the session; nil if it gives none. The password proves more than the
    /// key. An assertion that is not accepted proves nothing and is no error, because a request that is repeated after a lost
    /// answer brings a used one.
    func presence(
        provedBy evidence: PresenceEvidence, of user: User, in session: Session, from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> PresenceProof? {
        if let password = evidence.password {
            try await passwords.verify(password, of: user, in: session, from: origin)
            return .password(hash: user.passwordHash)
        }
        guard let text = evidence.assertion, let key = session.presence.key.flatMap(DeviceKey.init(text:)) else {
            return nil
        }
        return try await accepts(text, of: key, in: session, at: now) ? .key : nil
    }

    /// Whether `key` has signed the assertion for this session and this server, just now, and once.
    func accepts(
        _ text: String, of key: DeviceKey, in session: Session, at now: Instant
    ) async throws(ServiceError) -> Bool {
        guard let assertion = try? KeyAssertion(text), assertion.issuer == session.id.description,
            assertion.subject == session.userID.description, assertion.audience.contains(context.issuer),
            assertion.isTimely(at: now, lead: DeviceKeyService.deviceLead),
            (try? assertion.verify(with: key.key)) != nil
        else { return false }
        let token = OneTimeToken(
            .presenceAssertion, of: session.id.description, id: assertion.id,
            goodUntil: Instant(secondsSinceEpoch: assertion.expiry), at: now)
        return try await inStore { () async throws(StoreError) in try await store.use(token) }
    }
}
