// Logins by the proof of a mailbox: of the user that has it, or of one that the proof makes.

extension VerificationProof {
    /// The authentication method of a session that a code or link has begun. RFC 8176 has no word for it.
    static let authenticationMethod = "email"
}

extension VerificationService {
    /// How long a session of a new browser or device is on probation that a code or link has begun.
    static let probation = Duration.seconds(86_400)

    /// Starts a session by a proven mailbox. Throws `verificationOver`, and a conflict with the code `account_missing` if no user has
    /// the mailbox, so that a sign-up can follow.
    public func logIn(
        _ request: SessionRequest, as proof: VerificationProof, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        guard proof.verification.purpose == .signIn else { throw .verificationOver }
        guard proof.verification.userID != nil else {
            throw .conflict(code: "account_missing", detail: "the mailbox has no account: finish the sign-up")
        }
        let now = context.clock.now
        let start = try logins.starting(
            request, by: .email, authenticationMethods: [VerificationProof.authenticationMethod], from: origin, at: now)
        let outcome = try await inStore(
            await store.openSession(
                by: .email(proof), clientID: request.clientID, deviceID: request.device.id, start))
        guard let outcome else { throw .verificationOver }
        return try await logins.signer.grant(try outcome.get(), at: now)
    }
}

extension Store {
    /// Lets `decide` start a session by the proof of a mailbox, and uses the proof up with it. Nil if the proof is used or too old,
    /// or if the user cannot be made; nothing was written then.
    func openSession<Outcome: Sendable>(
        by proof: PageLoginProof, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: proof.queue)) { (transaction) throws(TransactionError) in
            guard var found = try transaction.find(proof) else { return nil }
            let place = Installation(userID: found.user.id, clientID: clientID, deviceID: deviceID)
            let previous = transaction.livingSessionForUpdate(at: place)
            let isKnown = transaction.hasTombstone(
                of: found.user.id, onDevice: deviceID, before: transaction.now, lookMax: SessionStartRows.tombstonesMax)
            found.previous = try previous.value()
            found.isPlaceKnown = try isKnown.value()
            return try transaction.open(found, clientID: clientID, decide)
        }
    }
}

extension StoreTransaction {
    /// The login of the user that has the mailbox. Nil if the proof cannot be used.
    func find(_ proof: VerificationProof) throws(TransactionError) -> SessionStartRows? {
        guard let userID = proof.verification.userID else { return nil }
        let (user, catalogue) = (userForUpdate(.id(userID)), catalogue())
        let known = verificationForUpdate(proof.handle.id)
        guard let user = try user.value(), let verification = try known.value(),
            verification.purpose == .signIn, proof.handle.asked(for: verification), verification.isUsable(at: now),
            let key = verification.email.flatMap(Text.emailKey), user.profile.provenKey == key
        else { return nil }
        return SessionStartRows(
            user: user, arrival: .known, verification: verification, previous: nil, catalogue: try catalogue.value())
    }

    /// The login of the user that the proof of a mailbox makes. Nil if the proof cannot be used, or if another user has the name
    /// or the mailbox.
    func find(_ signUp: SignUp) throws(TransactionError) -> SessionStartRows? {
        let user = signUp.user
        let key = user.profile.provenKey
        addToScope(user.id)
        let (same, others) = (
            userForUpdate(.id(user.id)), users(named: Text.key(user.username), orAddress: key, limit: 1)
        )
        let (known, catalogue) = (verificationForUpdate(signUp.handle.id), catalogue())
        guard try same.value() == nil, try others.value().isEmpty, let verification = try known.value(),
            signUp.handle.asked(for: verification), verification.isUsable(at: now),
            verification.email.flatMap(Text.emailKey) == key
        else { return nil }
        return SessionStartRows(
            user: user, arrival: .new, verification: verification, newPasskey: signUp.passkey,
            sources: UserSources(of: user, from: .proof), previous: nil, catalogue: try catalogue.value())
    }

    /// Uses up the proof of a mailbox that a login has brought, and adds the passkey of a new user.
    func useVerification(of login: SessionStartRows) throws(TransactionError) {
        guard var used = login.verification else { return }
        used.endedAt = now
        update(used)
        guard let (passkey, token) = login.newPasskey else { return }
        for answer in [insert(token), insert(passkey)] {
            guard try answer.value() else { throw .overtaken }
        }
    }
}
