internal import JOSE
internal import JSON

// The last act of an enrolment: the first password or presence key, the account, and the session of the phone.
extension PhoneLoginService {
    /// What the user gives at the end of an enrolment.
    public struct EnrolmentFactor: Sendable {
        /// The username, if the invitation leaves it to the user.
        public var username: String?
        /// The password: that of the account, or the first one of a new account.
        public var password: String?
        /// An assertion of the presence key in the request: `iss` the login, `sub` the user, `login` the login.
        public var assertion: String?

        /// A factor.
        public init(username: String? = nil, password: String? = nil, assertion: String? = nil) {
            (self.username, self.password, self.assertion) = (username, password, assertion)
        }
    }

    /// Completes the enrolment: makes the account, if it is new, and starts the session, in one transaction. A retry with the same
    /// `Idempotency-Key` gets the tokens again for some minutes.
    public func enrol(
        _ id: Identifier<Session>, secret: String, _ factor: EnrolmentFactor, _ request: SessionRequest,
        from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        let login = try await enrolment(id, secret: secret)
        guard let invitation = login.request.invitation, request.device.id == login.claim?.deviceID else {
            throw .invalid(member: "device.id", detail: "must be that with which the invitation was claimed")
        }
        let key = request.idempotencyKey.map { Self.short(.proveFactor(PhoneFactor(isValid: true)), id, $0) }
        let isRetry = login.answered.contains { $0.key == key }
        let isAwaited = !isRetry && login.state == .proving
        let proof =
            isAwaited ? try await prove(factor, for: login, invitation, request, from: origin) : EnrolmentProof()
        if Task.isCancelled { throw .overloaded }
        let completion = EnrolmentInput(
            proof: proof, request: request, key: key, phone: enrolling(login, secret), ownAudience: context.ownAudience,
            policy: context.policy, rules: context.loginRules, origin: origin, now: now)
        let outcome = try await inStore(
            await store.enrol(id, account: proof.account, deviceID: request.device.id, by: origin) { collection in
                collection.enrol(completion)
            })
        guard let outcome else { throw .invalidToken(nil) }
        watch.wake([.login(id), .user(invitation.userID)])
        return try await signer.grant(try outcome.get(), at: now)
    }

    /// Whether the second factor of the enrolment is the first one of its account, or has to be that which the account has.
    public func setsFactor(_ login: PhoneLogin) async throws(ServiceError) -> Bool {
        guard let invitation = login.request.invitation, !invitation.isNew else { return true }
        let user = try await inStore(await store.user(.id(invitation.userID)))
        return user?.passwordHash == nil
    }

    /// Verifies the factor. A new account is made of it; an account with a password is opened by that alone, because an
    /// invitation that a stranger has found must not open it.
    private func prove(
        _ factor: EnrolmentFactor, for login: PhoneLogin, _ invitation: Invitation, _ request: SessionRequest,
        from origin: Origin
    ) async throws(ServiceError) -> EnrolmentProof {
        var proof = EnrolmentProof(isValid: true)
        if factor.assertion != nil || request.presenceKey != nil {
            let isSigned = try await isSigned(factor.assertion, by: request.presenceKey, for: login, invitation)
            (proof.isValid, proof.methods) = (isSigned, ["user"])
        }
        if invitation.isNew {
            let requester = PasswordHasher.Requester(origin, clientID: request.clientID)
            proof.account = try await account(
                factor, invitation, hasKey: request.presenceKey != nil, sentBy: requester)
            if factor.password != nil { proof.methods = ["pwd"] }
            return proof
        }
        if factor.username != nil { throw .invalid(member: "username", detail: "is for a new account") }
        let user = try await inStore(await store.user(.id(invitation.userID)))
        guard let user else { throw .notFound("user") }
        if user.passwordHash == nil {
            if factor.password != nil { throw .invalid(member: "password", detail: "is not for this account") }
            if request.presenceKey == nil { throw .invalid(member: "presence_key", detail: "is missing") }
            return proof
        }
        guard let password = factor.password else { throw .invalid(member: "password", detail: "is missing") }
        do throws(ServiceError) {
            let attempt = PasswordAttempt(
                account: .known(user.id), password: password, deviceID: request.device.id,
                clientID: request.clientID)
            let known = try await passwords.user(attempt, from: origin)
            (proof.presence, proof.methods) = (.password(hash: known.passwordHash), ["pwd"])
        } catch .invalidCredentials { proof.isValid = false }
        return proof
    }

    /// Whether the new presence key has signed an assertion that names the login.
    private func isSigned(
        _ text: String?, by key: DeviceKey?, for login: PhoneLogin, _ invitation: Invitation
    ) async throws(ServiceError) -> Bool {
        guard let key else { throw .invalid(member: "presence_key", detail: "is missing beside user_assertion") }
        guard let text else { throw .invalid(member: "user_assertion", detail: "is missing beside presence_key") }
        let claims = (try? JWT.parse(text))?.unverifiedClaims
        guard claims?["login"]?.string == login.id.description else { return false }
        return try await presence.accepts(text, of: key, in: login.id, of: invitation.userID, at: context.clock.now)
    }

    /// The new account.
    private func account(
        _ factor: EnrolmentFactor, _ invitation: Invitation, hasKey: Bool, sentBy requester: PasswordHasher.Requester
    ) async throws(ServiceError) -> User {
        if invitation.username != nil, factor.username != nil {
            throw .invalid(member: "username", detail: "is that of the invitation")
        }
        guard let username = invitation.username ?? factor.username else {
            throw .invalid(member: "username", detail: "is missing")
        }
        let problem =
            invitation.username == nil
            ? Administration.problem(withChosenUsername: username) : Administration.problem(withUsername: username)
        if let problem { throw problem }
        guard factor.password != nil || hasKey else {
            throw .invalid(member: "password", detail: "is missing, or presence_key with user_assertion")
        }
        if let password = factor.password,
            let problem = context.passwordRules.problem(with: password, username: username)
        {
            throw .invalid(member: "password", detail: problem)
        }
        // The name is looked up before the password is hashed, because hashing is expensive; the transaction decides.
        try await checkIsFree(username)
        var hash: String?
        if let password = factor.password { hash = try await context.passwords.hash(password, for: requester) }
        return User(
            id: invitation.userID, username: Text.preparedUsername(username), profile: invitation.profile,
            passwordHash: hash, createdAt: context.clock.now)
    }
}

/// What the factor of an enrolment has proved.
struct EnrolmentProof: Sendable {
    var isValid = false
    /// The account that the enrolment makes; nil: it exists.
    var account: User?
    /// The password that was verified; nil: none was.
    var presence: PresenceProof?
    /// How the user has authenticated (RFC 8176).
    var methods: [String] = []
}

/// What the last act of an enrolment takes, beside the rows.
struct EnrolmentInput: Sendable {
    let proof: EnrolmentProof
    let request: SessionRequest
    /// The short hash of the `Idempotency-Key`.
    let key: UInt64?
    let phone: Phone?
    let ownAudience: [String]
    let policy: RefreshPolicy
    let rules: PhoneLoginRules
    let origin: Origin
    let now: Instant
}

extension PhoneLoginStart {
    /// Starts the session of the phone, or repeats it for a retry.
    mutating func enrol(_ completion: EnrolmentInput) -> Result<TokenGrant.Entitlement, ServiceError> {
        let (login, proof) = (change.login, completion.proof)
        guard let client = change.client, client.epoch <= login.request.epoch,
            login.request.epoch >= change.settings.revokedBefore?.epoch ?? login.request.epoch
        else { return .failure(.invalidToken(nil)) }
        let before = change
        var attempt = PhoneLoginAttempt(
            .proveFactor(PhoneFactor(isValid: proof.isValid)), key: completion.key, phone: completion.phone)
        if let opening, proof.presence?.refusal(for: opening.user) != nil {
            attempt.act = .proveFactor(PhoneFactor(isValid: false))
        }
        let reply = change.act(
            attempt, by: completion.policy, completion.rules, from: completion.origin, at: completion.now
        ).reply
        if case .refused(let refusal) = reply { return .failure(.login(refusal)) }
        if let started = change.started, let opening {
            return repeated(
                started, completion.request, for: client, opening.user, ownAudience: completion.ownAudience)
        }
        let outcome = start(completion)
        // Nothing has come of it: the user may choose another name, or an admin may let the user log in again.
        if case .failure = outcome { change = before }
        return outcome
    }

    private mutating func start(
        _ completion: EnrolmentInput
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        if isNameTaken { return .failure(AccountService.usernameTaken) }
        guard var opening else { return .failure(.notFound("user")) }
        var request = completion.request
        (request.idempotencyKey, request.continuedSession, request.grantType) = (nil, nil, change.login.kind.grantType)
        if opening.arrival == .new {
            opening.events.append(
                AuditEvent(
                    .userCreated, at: completion.now, by: completion.origin, userID: opening.user.id,
                    reason: "invitation"))
        }
        let resources = ResourceRequirement(resources: [], ownAudience: completion.ownAudience)
        let outcome = opening.start(
            request, for: resources, by: completion.policy, id: change.login.id, by: .invitation,
            authenticationMethods: completion.proof.methods, from: completion.origin, now: completion.now)
        if case .failure = outcome { opening.events.removeAll { $0.kind == .userCreated } }
        self.opening = opening
        return outcome
    }
}
