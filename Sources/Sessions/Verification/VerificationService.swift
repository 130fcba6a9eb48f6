internal import Cryptography

/// Proves mailboxes: asks for mails with a code and a link, and takes both.
public final class VerificationService: UseCase {
    let context: ServiceContext
    private let watch: PhoneLoginWatch
    let logins: PasswordLoginService

    init(_ context: ServiceContext, _ logins: PasswordLoginService, _ watch: PhoneLoginWatch) {
        self.context = context
        self.logins = logins
        self.watch = watch
    }

    private var rules: AccountRules { context.accountRules }

    // MARK: Mails

    /// Asks for a mail. The answer is the same for every mailbox: what is not so is in the mail.
    ///
    /// Throws `emailNotSupported`, `signUpClosed`, `loginMethodRefused`, and `overloaded` if there are too many verifications.
    public func ask(_ request: VerificationRequest, from origin: Origin) async throws(ServiceError)
        -> VerificationTicket
    {
        guard let address = Mailbox.deliverable(request.email) else { throw .emailNotSupported }
        let client = try await client(request.clientID)
        let takesSignUp = rules.takesSignUps(for: client) && rules.signUp.takes(address.key)
        switch request.purpose {
        case .signUp: if !takesSignUp { throw .signUpClosed }
        case .signIn: if let refusal = client?.refusal(of: .email) { throw refusal }
        case .reset, .email: break
        }
        let secret = request.asker == nil ? appSecret(of: request, address.key) : nil
        guard let asker = request.asker ?? secret.map(VerificationAsker.init(app:)) else { throw .emailNotSupported }
        return try await ask(
            inquiry(
                request.purpose, address, by: asker, of: request.clientID, in: request.language,
                place: request.knownSession.map { .session($0) } ?? request.knownDevice.map { .device($0) },
                takesSignUp: takesSignUp, facts: request.facts),
            secret: secret, from: origin)
    }

    /// The client with that id; nil for none.
    private func client(_ id: String?) async throws(ServiceError) -> Client? {
        guard let id else { return nil }
        guard let client = try await inStore(await store.client(id)) else { throw .invalidClient }
        return client
    }

    /// The secret of an app. It is derived from the `Idempotency-Key`, if there is one, so that a retry finds the verification.
    private func appSecret(of request: VerificationRequest, _ emailKey: String) -> [UInt8] {
        guard let key = request.idempotencyKey else { return context.random.bytes(32) }
        let parts = [request.purpose.rawValue, request.clientID ?? "", emailKey, key]
        return context.verificationSecrets.appSecret(of: parts)
    }

    /// A request as the store executes it.
    func inquiry(
        _ purpose: Verification.Purpose, _ address: Mailbox.Deliverable, by asker: VerificationAsker,
        of clientID: String?, in language: String, place: VerificationInquiry.KnownPlace? = nil,
        takesSignUp: Bool = false, facts: [String: String] = [:]
    ) -> VerificationInquiry {
        let (random, secrets) = (context.random, context.verificationSecrets)
        return VerificationInquiry(
            purpose: purpose, email: address.text, emailKey: address.key, mailbox: secrets.mailbox(address.key),
            clientID: clientID, asker: asker, language: language,
            ids: (Identifier(random: random), Identifier(random: random), Identifier(random: random)),
            keyID: secrets.keyID, place: place, takesSignUp: takesSignUp, facts: facts, now: context.clock.now)
    }

    /// Asks the store, and wakes the sender of mails.
    func ask(
        _ inquiry: VerificationInquiry, secret: [UInt8]? = nil, from origin: Origin
    ) async throws(ServiceError) -> VerificationTicket {
        guard let answer = try await inStore(await store.ask(inquiry, by: rules.verifications, from: origin)) else {
            throw .overloaded
        }
        context.mails?.wake()
        let id = answer.verification.id
        return VerificationTicket(
            handle: VerificationHandle(id: id, asker: inquiry.asker),
            token: secret.map { VerificationHandle.token(of: id, secret: $0) },
            expiresAt: answer.verification.codeUntil, resendAt: answer.resendAt)
    }

    /// Notes the client of that verification. Throws `originNotAllowed` if it does not allow the page.
    public func admit(_ page: CallingPage, by handle: VerificationHandle) async throws(ServiceError) {
        guard let found = try await inStore(await store.verification(handle.id)), handle.asked(for: found),
            let client = try await client(found.clientID)
        else { return }
        try page.admit(client)
    }

    /// Sends the same code again, unless the last mail is too young. The answer is the same for every mailbox.
    public func resend(
        _ handle: VerificationHandle, from origin: Origin
    ) async throws(ServiceError) -> VerificationTicket {
        let found = try await verification(handle)
        let (now, policy) = (context.clock.now, rules.verifications)
        guard found.state(at: now) == .open, now < found.codeUntil else { throw .verificationOver }
        let mailID = Identifier<QueuedMail>(random: context.random)
        let kind = found.kindOfMail
        let outcome = try await inStore(
            await store.updateVerification(handle.id, at: now) { change -> Result<Instant, ServiceError> in
                guard change.verification.state(at: now) == .open else { return .failure(.verificationOver) }
                var open: Verification? = change.verification
                let isKnown = change.verification.isOfKnown
                let decision = policy.request(&open, &change.budget, isKnown: isKnown, at: now)
                guard case .goesOn(let isMailed) = decision, let open else { return .failure(.verificationOver) }
                change.verification = open
                change.mail = QueuedMail(
                    id: mailID, kind: isMailed ? kind : .none, userID: open.userID, verificationID: open.id,
                    language: open.language, createdAt: now, expiresAt: open.codeUntil, dueAt: now)
                return .success(policy.nextMail(of: open, change.budget, at: now))
            })
        let resendAt = try outcome?.get() ?? now
        context.mails?.wake()
        return VerificationTicket(handle: handle, token: nil, expiresAt: found.codeUntil, resendAt: resendAt)
    }

    // MARK: Proofs

    /// Takes a typed code. Throws `invalidCode`, `verificationOver`, `notFound` for a verification of another asker, and
    /// `tooManyRequests` after too many wrong codes for the mailbox. A code that has proven the mailbox does so again.
    public func prove(
        _ handle: VerificationHandle, code: String, from origin: Origin
    ) async throws(ServiceError) -> VerificationProof {
        let found = try await verification(handle)
        let (now, policy) = (context.clock.now, rules.verifications)
        let isRight = context.verificationSecrets.isCode(code, of: found)
        let proof = try await change(handle, at: now) { change -> Result<Verification, ServiceError> in
            let decision = policy.check(&change.verification, &change.budget, isRight: isRight, at: now)
            if case .wrong = decision { change.events.append(change.verification.failure(at: now, by: origin)) }
            return change.verification.result(of: decision)
        }
        watch.wake([.verification(handle.id)])
        return VerificationProof(verification: proof, handle: handle)
    }

    /// What the link of a mail is in the browser of `asker`. Nothing changes.
    public func link(
        _ token: String, by asker: VerificationAsker?
    ) async throws(ServiceError) -> VerificationLink {
        guard let id = context.verificationSecrets.verification(named: token, by: .prove),
            let found = try await inStore(await store.verification(id))
        else { return .over }
        let now = context.clock.now
        guard found.endedAt == nil, now < found.linkUntil else {
            return found.endedAt != nil && found.provenAt == nil && now < found.linkUntil ? .replaced : .over
        }
        let handle = asker.map { VerificationHandle(id: id, asker: $0) }
        if let handle, handle.asked(for: found) { return .own(handle, found) }
        return .elsewhere(found)
    }

    /// Proves a mailbox by the link of a mail, in the browser that has asked. Throws `notFound` in another one, and
    /// `verificationOver`.
    public func prove(
        link token: String, by asker: VerificationAsker, from origin: Origin
    ) async throws(ServiceError) -> VerificationProof {
        guard let id = context.verificationSecrets.verification(named: token, by: .prove) else {
            throw .verificationOver
        }
        let handle = VerificationHandle(id: id, asker: asker)
        _ = try await verification(handle)
        let now = context.clock.now
        let proof = try await change(handle, at: now) { change -> Result<Verification, ServiceError> in
            let decision = VerificationPolicy.follow(&change.verification, isOwn: true, at: now)
            return change.verification.result(of: decision)
        }
        watch.wake([.verification(id)])
        return VerificationProof(verification: proof, handle: handle)
    }

    /// The proof of a mailbox that is proven, for the act that it allows. Throws `verificationOver` without one.
    public func proof(_ handle: VerificationHandle) async throws(ServiceError) -> VerificationProof {
        let found = try await verification(handle)
        guard found.isUsable(at: context.clock.now) else { throw .verificationOver }
        return VerificationProof(verification: found, handle: handle)
    }

    /// The state of a verification, at once unless it is open, else when it changes, at most after `wait`.
    public func state(
        of handle: VerificationHandle, waiting wait: Duration
    ) async throws(ServiceError) -> VerificationState {
        try await watch.next(.verification(handle.id), patience: wait) { () async throws(ServiceError) in
            let state = try await verification(handle).state(at: context.clock.now)
            return (state, isNew: state != .open)
        }
    }

    /// The verification, if the asker of the handle has asked for it. Throws `notFound` otherwise.
    func verification(_ handle: VerificationHandle) async throws(ServiceError) -> Verification {
        guard let found = try await inStore(await store.verification(handle.id)), handle.asked(for: found) else {
            throw .notFound("verification")
        }
        return found
    }

    /// Changes a verification of the asker of the handle. Throws the error of `edit`, after the write of what it has counted.
    private func change<Value: Sendable>(
        _ handle: VerificationHandle, at now: Instant,
        _ edit: @escaping @Sendable (inout VerificationChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        let outcome = try await inStore(await store.updateVerification(handle.id, at: now, edit))
        guard let outcome else { throw .notFound("verification") }
        return try outcome.get()
    }

    // MARK: Cancelling

    /// The verification that the link of a mail would end; nil if it is over, or unknown. Nothing changes.
    public func cancellation(by token: String) async throws(ServiceError) -> Verification? {
        guard let id = context.verificationSecrets.verification(named: token, by: .cancel),
            let found = try await inStore(await store.verification(id)), found.isCancellable(at: context.clock.now)
        else { return nil }
        return found
    }

    /// Ends a verification, because its mailbox says that another person has asked for it. The mailbox then gets no mail for an
    /// hour, unless a change of an address ends: its link was mailed to the former mailbox, which speaks for no other one. Throws
    /// `verificationOver`.
    public func cancel(_ token: String, from origin: Origin) async throws(ServiceError) {
        guard let found = try await cancellation(by: token) else { throw .verificationOver }
        let now = context.clock.now
        let outcome = try await inStore(
            await store.updateVerification(found.id, at: now) { change -> Bool in
                guard change.verification.isCancellable(at: now) else { return false }
                change.verification.endedAt = now
                if change.verification.purpose != .email { change.budget.rest(at: now) }
                change.events.append(
                    change.verification.failure(at: now, by: origin, reason: "cancelled"))
                return true
            })
        watch.wake([.verification(found.id)])
        if outcome != true { throw .verificationOver }
    }
}

extension Verification {
    /// Whether the link *cancel* of a mail can end it at `now`.
    fileprivate func isCancellable(at now: Instant) -> Bool { endedAt == nil && now < usableUntil }

    /// The verification as the proof that a decision allows, or the error.
    fileprivate func result(of decision: VerificationDecision) -> Result<Verification, ServiceError> {
        switch decision {
        case .proven: .success(self)
        case .wrong(let left): .failure(.invalidCode(attemptsLeft: left))
        case .over: .failure(.verificationOver)
        case .tooMany(let wait): .failure(.tooManyRequests(retryAfter: wait))
        }
    }

    /// The event of a wrong code, or of another end without a proof.
    fileprivate func failure(at now: Instant, by origin: Origin, reason: String? = nil) -> AuditEvent {
        AuditEvent(
            .verificationFailed, at: now, by: origin, userID: userID, sessionID: purpose == .email ? sessionID : nil,
            clientID: clientID, reason: reason ?? purpose.rawValue)
    }

    /// The text of another mail of this verification.
    fileprivate var kindOfMail: QueuedMail.Kind {
        if email == nil { return .none }
        switch purpose {
        case .signUp: return .signUp
        case .signIn: return userID == nil ? .signUp : .signIn
        case .reset: return .reset
        case .email: return .emailNew
        }
    }
}
