internal import Cryptography
public import JSON

/// What a user chooses after the proof of a mailbox.
public struct SignUpRequest: Sendable {
    /// The proven verification.
    public var handle: VerificationHandle
    /// The username, if users choose theirs.
    public var username: String?
    /// The password; nil: a passkey.
    public var password: String?
    /// The registration of a passkey; nil: a password.
    public var passkey: [String: JSONValue]?
    /// The app, for its place among those that wait for a hash.
    public var clientID: String?

    /// A request by that proof.
    public init(_ handle: VerificationHandle) { self.handle = handle }
}

/// A checked sign-up: the user is made with the first session, in one transaction.
public struct SignUp: Sendable {
    /// The user.
    public let user: User
    /// The passkey and its challenge; nil: a password.
    let passkey: (passkey: Passkey, token: OneTimeToken)?
    /// The proof of the mailbox.
    let handle: VerificationHandle
    /// Whether an earlier attempt has made the user; the request has then shown the password or passkey of that user.
    let isRepeated: Bool

    /// The authentication methods (RFC 8176).
    var methods: [String] { passkey == nil ? ["pwd"] : ["swk", "user", "mfa"] }
    /// How the store finds the user, or makes it.
    var proof: PageLoginProof { isRepeated ? .user(user.id) : .signUp(self) }
    /// The method of the login.
    var method: Client.LoginMethod { passkey == nil ? .password : .passkey }

    /// The events of the new user.
    func events(at now: Instant, by origin: Origin) -> [AuditEvent] {
        [AuditEvent(.userCreated, at: now, by: origin, userID: user.id, reason: "sign_up")]
            + (passkey.map {
                [AuditEvent(.passkeyAdded, at: now, by: origin, userID: user.id, reason: $0.passkey.label)]
            }
                ?? [])
    }
}

/// Makes accounts by proofs of mailboxes. No account exists before the proof, so that none can be planted for a mailbox.
public final class SignUpService: UseCase {
    let context: ServiceContext
    private let logins: PasswordLoginService
    private let verifications: VerificationService
    private let accounts: AccountService
    private let passkeys: PasskeyService

    init(
        _ context: ServiceContext, _ logins: PasswordLoginService, _ verifications: VerificationService,
        _ accounts: AccountService, _ passkeys: PasskeyService
    ) {
        self.context = context
        self.logins = logins
        self.verifications = verifications
        self.accounts = accounts
        self.passkeys = passkeys
    }

    static let accountExists = ServiceError.conflict(
        code: "account_exists", detail: "the mailbox has an account already: log in")

    /// The options of a registration of a passkey for the new user.
    public func passkeyOptions(_ handle: VerificationHandle) async throws(ServiceError) -> JSONValue {
        let proof = try await verifications.proof(handle)
        let user = try newUser(by: proof.verification, named: nil, passwordHash: nil)
        return try passkeys.registrationOptions(of: user, for: handle.id)
    }

    /// Checks what the user has chosen, and hashes the password.
    ///
    /// Throws `verificationOver`, `invalid` for a password or a username, `passkeyRefused`, and a conflict with the code
    /// `account_exists` or `username_taken`, which the holder of the proof alone learns.
    public func prepare(_ request: SignUpRequest, from origin: Origin) async throws(ServiceError) -> SignUp {
        let found = try await verifications.verification(request.handle)
        let now = context.clock.now
        guard found.purpose == .signUp || (found.purpose == .signIn && found.userID == nil) else {
            throw .verificationOver
        }
        try check(request)
        if let made = try await madeUser(by: found) { return try await repeated(request, made, origin) }
        guard found.isUsable(at: now) else { throw .verificationOver }
        var user = try newUser(by: found, named: request.username, passwordHash: nil)
        if let password = request.password,
            let problem = context.passwordRules.problem(with: password, username: user.username)
        {
            throw .invalid(member: "password", detail: problem)
        }
        // Names are looked up before the password is hashed, because hashing is expensive; the transaction decides.
        if let refusal = try await refusal(of: user, by: found, at: now) { throw refusal }
        var passkey: (Passkey, OneTimeToken)?
        if let credential = request.passkey {
            passkey = try passkeys.verify(
                registration: credential, for: .signUp(found.id), of: user.id, name: nil)
        }
        if let password = request.password {
            let requester = PasswordHasher.Requester(origin, clientID: request.clientID, .secret(of: user.id))
            user.passwordHash = try await context.passwords.hash(password, for: requester)
        }
        if Task.isCancelled { throw .overloaded }
        return SignUp(user: user, passkey: passkey, handle: request.handle, isRepeated: false)
    }

    /// Makes the user and a session.
    public func logIn(
        _ request: SessionRequest, as signUp: SignUp, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        let start = try logins.starting(
            request, by: signUp.method, authenticationMethods: signUp.methods, from: origin, at: now)
        let outcome = try await inStore(
            await store.openSession(by: signUp.proof, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenGrant.Entitlement, ServiceError> in
                var attempt = opening
                let outcome = start(&attempt)
                if signUp.isRepeated {
                    // The session that the first attempt began goes on; another one would need a login.
                    return attempt.session == nil ? outcome : .failure(.verificationOver)
                }
                opening = attempt
                if opening.session != nil {
                    opening.events.insert(contentsOf: signUp.events(at: now, by: origin), at: 0)
                }
                return outcome
            })
        guard let outcome else { throw try await lateRefusal(of: signUp, at: now) }
        return try await logins.signer.grant(try outcome.get(), at: now)
    }

    /// Gives an anonymous user the proven mailbox, a name and a password. The user keeps the id and the session.
    public func name(
        _ current: AuthenticatedSession, as signUp: SignUp, from origin: Origin
    ) async throws(ServiceError) -> User {
        guard signUp.passkey == nil, let hash = signUp.user.passwordHash else {
            throw .invalid(member: "passkey", detail: "is not for an anonymous user: register it afterwards")
        }
        let (now, handle, session) = (context.clock.now, signUp.handle, current.session)
        return try await accounts.update(
            .id(current.user.id), by: .session(session.id), at: now, reading: UserChangeRows(verification: handle.id)
        ) { change in
            guard change.user.isAnonymous else {
                return .failure(.conflict(code: "not_anonymous", detail: "the user has a name already"))
            }
            guard var used = change.verification, handle.asked(for: used), used.isUsable(at: now),
                let email = used.email
            else { return .failure(.verificationOver) }
            used.endedAt = now
            change.verification = used
            change.source = .proof
            change.user.username = signUp.user.username
            change.user.passwordHash = hash
            change.user.isAnonymous = false
            change.user.profile.email = email
            change.user.profile.isEmailVerified = true
            change.events.append(AuditEvent(.userNamed, at: now, by: origin, session: session, reason: "sign_up"))
            return .success(change.user)
        }.outcome
    }

    // MARK: Checks

    private func check(_ request: SignUpRequest) throws(ServiceError) {
        guard (request.password == nil) != (request.passkey == nil) else {
            throw .invalid(member: "password", detail: "or passkey must be there, and not both")
        }
        switch (context.accountRules.usernames, request.username) {
        case (.mailbox, nil): break
        case (.mailbox, _?): throw .invalid(member: "username", detail: "is not chosen here: the mailbox is the name")
        case (.chosen, nil): throw .invalid(member: "username", detail: "is missing")
        case (.chosen, let name?): if let problem = Administration.problem(withChosenUsername: name) { throw problem }
        }
    }

    /// The user that the proof makes.
    private func newUser(
        by verification: Verification, named name: String?, passwordHash: String?
    ) throws(ServiceError) -> User {
        guard let email = verification.email, let id = context.verificationSecrets.newUserID(of: verification) else {
            throw .verificationOver
        }
        if name == nil, Text.problem(withUsername: email) != nil { throw .emailNotSupported }
        var profile = User.Profile(email: email)
        profile.isEmailVerified = true
        return User(
            id: id, username: Text.preparedUsername(name ?? email), profile: profile, passwordHash: passwordHash,
            createdAt: context.clock.now)
    }

    /// The user that an earlier attempt has made by the proof; nil if there is none.
    private func madeUser(by verification: Verification) async throws(ServiceError) -> User? {
        guard verification.provenAt != nil, verification.endedAt != nil,
            let id = context.verificationSecrets.newUserID(of: verification)
        else { return nil }
        return try await inStore(await store.user(.id(id)))
    }

    /// A sign-up again after a lost answer: the password or the passkey must be that of the user.
    private func repeated(
        _ request: SignUpRequest, _ user: User, _ origin: Origin
    ) async throws(ServiceError) -> SignUp {
        if let credential = request.passkey {
            let shown = try passkeys.verify(
                registration: credential, for: .signUp(request.handle.id), of: user.id, name: nil)
            let known = try await inStore(await store.passkey(shown.0.id))
            guard known?.userID == user.id, known?.publicKey == shown.0.publicKey else { throw .verificationOver }
            return SignUp(user: user, passkey: shown, handle: request.handle, isRepeated: true)
        }
        guard let password = request.password, user.passwordHash != nil else { throw .verificationOver }
        let requester = PasswordHasher.Requester(origin, clientID: request.clientID, .secret(of: user.id))
        guard try await context.passwords.verify(password, against: user.passwordHash, for: requester) else {
            throw .verificationOver
        }
        return SignUp(user: user, passkey: nil, handle: request.handle, isRepeated: true)
    }

    /// Why the user cannot be made; nil if it can. A username that is taken is counted.
    private func refusal(
        of user: User, by verification: Verification, at now: Instant
    ) async throws(ServiceError) -> ServiceError? {
        let key = verification.email.flatMap(Text.emailKey) ?? ""
        let found = try await inStore(await store.users(named: user.username, orOwning: key))
        if found.contains(where: { $0.profile.provenKey == key }) { return Self.accountExists }
        guard let namesake = found.first else { return nil }
        if Text.emailKey(namesake.username) == key { return Self.accountExists }
        let isCounted = try await inStore(
            await store.updateVerification(verification.id, at: now) { change -> Bool in
                guard change.verification.isUsable(at: now) else { return false }
                change.verification.countTakenName(at: now)
                return true
            })
        return isCounted == true ? AccountService.usernameTaken : ServiceError.verificationOver
    }

    /// Why the transaction has made no user.
    private func lateRefusal(of signUp: SignUp, at now: Instant) async throws(ServiceError) -> ServiceError {
        let found = try await verifications.verification(signUp.handle)
        return try await refusal(of: signUp.user, by: found, at: now) ?? .verificationOver
    }
}

extension Store {
    /// The users with that username or that verified address.
    fileprivate func users(named username: String, orOwning emailKey: String) async throws(StoreError) -> [User] {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.users(named: Text.key(username), orAddress: emailKey, limit: 2).value()
        }
    }
}
