internal import JOSE
public import JSON

/// The evidence of the user's presence in a request.
public struct PresenceEvidence: Sendable {
    /// An assertion of the presence key (RFC 7523 section 3): `iss` the session, `sub` the user, `aud` the issuer, `exp` at
    /// most five minutes ahead, `jti` once.
    public var assertion: String?
    /// The password.
    public var password: String?
    /// The ID token of an identity of the user.
    public var identity: IdentityEvidence?
    /// The assertion of a passkey of the user: `AuthenticationResponseJSON` (WebAuthn Level 3 section 5.1).
    public var passkey: PasskeyEvidence?
    /// The code of an authenticator, beside the password or up to five minutes after it.
    public var code: String?

    /// Evidence; nothing by default.
    public init(
        assertion: String? = nil, password: String? = nil, identity: IdentityEvidence? = nil,
        passkey: PasskeyEvidence? = nil, code: String? = nil
    ) {
        self.code = code
        self.assertion = assertion
        self.password = password
        self.identity = identity
        self.passkey = passkey
    }

    /// Whether there is no evidence.
    public var isEmpty: Bool {
        assertion == nil && password == nil && identity == nil && passkey == nil && code == nil
    }
}

/// An assertion of a passkey that a request brings to prove the user's presence. An object, because few requests have one.
public final class PasskeyEvidence: Sendable {
    let credential: [String: JSONValue]

    /// The credential as evidence.
    public init(_ credential: [String: JSONValue]) { self.credential = credential }
}

/// An ID token that a request brings to prove the user's presence. An object, because few requests have one.
public final class IdentityEvidence: Sendable {
    /// The token.
    public let token: IdentityToken
    /// Verifies the token; nil: the server has no identity providers.
    public let verifier: (any IdentityVerifier)?

    /// The token as evidence.
    public init(_ token: IdentityToken, verifier: (any IdentityVerifier)?) {
        self.token = token
        self.verifier = verifier
    }
}

/// Verifies evidence of the user's presence (RFC 9470): assertions of presence keys, passwords, and ID tokens.
final class UserPresenceService: UseCase {
    let context: ServiceContext
    private let passwords: PasswordVerifier
    private let passkeys: PasskeyService

    init(_ context: ServiceContext, _ passwords: PasswordVerifier, _ passkeys: PasskeyService) {
        self.context = context
        self.passwords = passwords
        self.passkeys = passkeys
    }

    /// Verifies the evidence of `attempt`, and records in it what the evidence proves.
    ///
    /// Evidence beside a token that would be refused with any evidence is ignored: a token that has ended, was replaced or
    /// lacks its key allows no attempt at the password, and uses up none of the session's attempts.
    func look(at attempt: RefreshAttempt, in id: Identifier<Session>) async throws(ServiceError) {
        let circumstances = attempt.circumstances
        let time = circumstances.time
        guard let record = try await inStore(await store.wholeSession(id)),
            policy.accepts(attempt, withUserOf: record, at: time), let user = record.user
        else { return }
        try attempt.page?.admit(in: record)
        // The proof is used before a password attempt or an assertion is used up. The decision that follows accepts a proof
        // that this request has used.
        try attempt.useProof(
            isBound: record.session.keyThumbprint != nil, for: record.client?.dpop ?? .optional)
        do throws(ServiceError) {
            let ageMax = policy.presenceRequirement(on: record)?.ageMax ?? PresenceRequirement.ageMaxOfChanges
            attempt.presence = try await presence(
                provedBy: attempt.evidence, of: user, in: record.session, youngerThan: ageMax,
                from: circumstances.origin, at: time.now)
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
    ///
    /// - Parameter ageMax: the age from which an authentication at an identity provider proves nothing.
    func presence(
        provedBy evidence: PresenceEvidence, of user: User, in session: Session, youngerThan ageMax: Duration,
        from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> PresenceProof? {
        if let password = evidence.password {
            try await passwords.verify(password, of: user, in: session, from: origin)
            guard let code = evidence.code, try await use(code, of: user, from: origin, at: now) else {
                return .password(hash: user.passwordHash)
            }
            return .passwordAndCode(hash: user.passwordHash)
        }
        if let code = evidence.code {
            // Alone it is one factor: it needs a password or an ID token of the last five minutes.
            guard let at = session.firstFactorAt, now - at < PresenceRequirement.ageMaxOfChanges else { return nil }
            return try await use(code, of: user, from: origin, at: now)
                ? .code : nil
        }
        if let identity = evidence.identity {
            return try await presence(provedBy: identity, of: user, in: session, ageMax, from: origin, at: now)
        }
        if let passkey = evidence.passkey {
            try await passkeys.showPresence(passkey.credential, of: user, in: session, from: origin)
            return .passkey
        }
        guard let text = evidence.assertion, let key = session.presence.key.flatMap(DeviceKey.init(text:)) else {
            return nil
        }
        return try await accepts(text, of: key, in: session, at: now) ? .key : nil
    }

    /// Checks the code of an authenticator, and uses it up. A recovery code proves no presence. False for a used code: it is no
    /// error, because a request that is repeated after a lost answer brings one.
    private func use(
        _ code: String, of user: User, from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> Bool {
        // A client that was answered 503 meanwhile must not find its code spent.
        if Task.isCancelled { throw .overloaded }
        let code = context.secondFactorCode(code)
        let check = try await inStore(
            await store.changeFactors(of: user.id) { factors -> Result<Bool, ServiceError> in
                guard factors.hasAuthenticator else { return .failure(.secondFactorMissing) }
                if RecoveryCodeText(code.text) != nil {
                    return .failure(.secondFactor(.wrongCode(clockDiffers: false)))
                }
                switch factors.check(code, from: origin, at: now) {
                case .refused(let error): return .failure(error)
                case .spent: return .success(false)
                case .totp, .recoveryCode: return .success(true)
                }
            })
        guard let check else { throw .invalidCredentials }
        return try check.get()
    }

    /// What an ID token proves: that the user authenticated at the provider, and when. The token must be of an identity of this
    /// user, and must say when the user authenticated. An authentication that is too long ago proves nothing and is no error,
    /// and leaves the token unused. A used token proves nothing and is no error, as with assertions.
    private func presence(
        provedBy evidence: IdentityEvidence, of user: User, in session: Session, _ ageMax: Duration,
        from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> PresenceProof? {
        do throws(ServiceError) {
            guard let verifier = evidence.verifier else { throw .identityRefused(.unknownProvider) }
            let identity = try await verifier.verify(evidence.token)
            guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
            let known = try await inStore(await store.identity(identity.key))
            guard known?.userID == user.id else { throw .identityRefused(.anotherUser) }
            guard let time = identity.authenticatedAt else { throw .identityRefused(.noAuthenticationTime) }
            let at = min(time, now)
            guard PresenceRequirement(ageMax: ageMax, ways: []).isMet(byProofOf: at, at: now) else { return nil }
            // A client that was answered 503 meanwhile tries again, and must not find its token spent.
            if Task.isCancelled { throw .overloaded }
            let token = identity.oneTimeToken(at: now)
            let isFresh = try await inStore(await store.use(token))
            return isFresh ? .identity(at: at) : nil
        } catch {
            if case .identityRefused(let reason) = error, reason != .malformed, reason != .unknownProvider {
                try await recordFailedLogin(of: user.id, in: session, "id_token_\(reason.rawValue)", from: origin)
            }
            throw error
        }
    }

    /// Whether `key` has signed the assertion for this session and this server, just now, and once.
    func accepts(
        _ text: String, of key: DeviceKey, in session: Session, at now: Instant
    ) async throws(ServiceError) -> Bool {
        try await accepts(text, of: key, in: session.id, of: session.userID, at: now)
    }

    /// Whether `key` has signed the assertion for the session with that id, which may not have started, and its user.
    func accepts(
        _ text: String, of key: DeviceKey, in sessionID: Identifier<Session>, of userID: Identifier<User>,
        at now: Instant
    ) async throws(ServiceError) -> Bool {
        guard let assertion = try? KeyAssertion(text), assertion.issuer == sessionID.description,
            assertion.subject == userID.description, assertion.audience.contains(context.issuer),
            assertion.isTimely(at: now, lead: DeviceKeyService.deviceLead),
            (try? assertion.verify(with: key.key)) != nil
        else { return false }
        let token = OneTimeToken(
            .presenceAssertion, of: sessionID.description, id: assertion.id,
            goodUntil: Instant(secondsSinceEpoch: assertion.expiry), at: now)
        return try await inStore(await store.use(token))
    }
}
