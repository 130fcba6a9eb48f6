internal import WebAuthn

extension PageLoginService {
    /// How a user has authenticated in a browser.
    public enum Authentication: Sendable {
        /// By the password with which the user was read.
        case password(of: User)
        case passkey(PasskeyService.Proof)
        /// At an identity provider.
        case provider(ExternalIdentity)
        /// By a phone, which has approved the login.
        case phone(of: Identifier<User>)
        /// By a code or link that was sent to the mailbox.
        case email(VerificationProof)
        /// By the proof of a mailbox, which makes the user.
        case signUp(SignUp)
        /// By a login before, of which the browser has a session.
        case session(of: Identifier<User>)
    }
}

extension PageLoginService.Authentication {
    /// The authentication methods (RFC 8176); those of a session are in its row.
    func methods(at now: Instant) -> [String] {
        switch self {
        case .password: ["pwd"]
        case .passkey(let proof): proof.authenticationMethods
        case .provider(let identity): identity.sessionMethods(at: now)
        case .phone: [PhoneLogin.authenticationMethod]
        case .email: [VerificationProof.authenticationMethod]
        case .signUp(let signUp): signUp.methods
        case .session: []
        }
    }

    /// The method of the login; nil for a session, because `Session.authentication` compares its methods.
    var method: Client.LoginMethod? {
        switch self {
        case .password: .password
        case .passkey: .passkey
        case .provider(let identity): .provider(identity.key.provider)
        case .phone: .phone
        case .email: .email
        case .signUp(let signUp): signUp.method
        case .session: nil
        }
    }

    /// When the user has authenticated: at a provider that has a session of its own it can be earlier, if the provider says so.
    func time(at now: Instant) -> Instant {
        guard case .provider(let identity) = self, identity.hasAuthenticationTime else { return now }
        return min(now, identity.authenticatedAt ?? now)
    }

    /// The provider that has authenticated the user, for the session of the browser: it answers only requests of clients that take
    /// this provider. Nil without one.
    func confirmation(at now: Instant) -> ProviderConfirmation? {
        method?.provider.map { ProviderConfirmation(provider: $0, at: time(at: now)) }
    }

    /// Whether an identity provider has authenticated the user.
    var isByProvider: Bool { if case .provider = self { true } else { false } }

    /// The reason of the event `login_approved`: the way, unless it is the password. A provider that does not say when the user
    /// authenticated is named as such, because nobody can tell whether it has asked.
    var reason: String? {
        switch self {
        case .password, .session: nil
        case .passkey, .phone, .email: method?.rawValue
        case .signUp: "sign_up"
        case .provider(let identity):
            (method?.rawValue ?? "") + (identity.hasAuthenticationTime ? "" : " no_auth_time")
        }
    }

    /// The login as the store executes it. Throws if what proves it has become too old.
    func proof(by federation: FederationService, at now: Instant) throws(ServiceError) -> PageLoginProof {
        switch self {
        case .password(let user): return .user(user.id)
        case .session(let userID), .phone(let userID): return .user(userID)
        case .email(let proof): return .email(proof)
        case .signUp(let signUp): return signUp.proof
        case .passkey(let proof):
            guard now < proof.goodUntil else { throw .passkeyRefused(.wrongChallenge) }
            return .passkey(proof.login)
        case .provider(let identity):
            guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
            return .identity(federation.login(by: identity, at: now))
        }
    }

    /// The proof of presence that the authentication is in the session of the browser.
    func presence(at now: Instant) -> PresenceProof {
        switch self {
        case .password(let user): .password(hash: user.passwordHash)
        case .passkey: .passkey
        case .session, .phone, .email: .key
        case .signUp(let signUp): signUp.user.passwordHash.map { .password(hash: $0) } ?? .key
        case .provider: .identity(at: time(at: now))
        }
    }

    /// The error if the proof was used before.
    var replayError: ServiceError {
        switch self {
        case .passkey: .passkeyRefused(.wrongChallenge)
        case .email, .signUp: .verificationOver
        case .provider, .password, .session, .phone: .identityRefused(.replayed)
        }
    }

    /// The error if the store finds no user.
    var errorWithoutUser: ServiceError {
        switch self {
        case .password, .session, .phone: .invalidCredentials
        case .email, .signUp: .verificationOver
        case .passkey: .passkeyRefused(.wrongSignature)
        case .provider: .conflict(code: "username_taken", detail: "no username is left for a new user")
        }
    }
}

extension PageLoginCompletion {
    /// Keeps and records what the proof of the login says beside the user: a new user, a new identity, the passkey as it was used.
    mutating func note(
        _ authentication: PageLoginService.Authentication, _ proof: PageLoginProof, sessionID: Identifier<Session>,
        from origin: Origin, at now: Instant
    ) {
        if case .signUp(let signUp) = proof, arrival == .new { events += signUp.events(at: now, by: origin) }
        if case .identity(let login) = proof { events += login.events(of: arrival, user, by: origin) }
        if case .passkey(let proof) = authentication,
            let event = proof.note(in: &passkey, sessionID: sessionID, from: origin, at: now)
        {
            events.append(event)
        }
    }
}
