extension LoginSession {
    /// What an enrolment has beside a login.
    struct Enrolment: Sendable {
        /// The secret with which the phone goes on; nil before the claim.
        var token: String?
        /// The last act that was sent, until its tokens are stored.
        var lastCall: LoginSessionCall?
        /// What the last act was made of.
        var proof: EnrolmentProof?
        /// Whether an answer to the last act is awaited.
        var isUnderWay = false
    }

    /// What the user gives at the end of an enrolment.
    enum EnrolmentFactor: Sendable {
        case password(String, username: String?)
        case biometry(reason: String, username: String?)
    }

    /// The last act: the factor, then the network, then the store.
    func enrol(by factor: EnrolmentFactor) async throws(SojournError) {
        guard isOfInvitation else { throw .refused(Refusal(status: 0, code: "not_awaited")) }
        let act = LoginSessionMachine.Act.prove(attempt: machine.attempts + 1)
        try begin(act)
        let (id, userID) = (known?.id ?? "", known?.accountID ?? "")
        let given = try await obtain(for: act) { () async throws(SojournError) in
            try await account.enrolmentProof(factor, login: id, user: userID)
        }
        let call = LoginSessionCall.enrol(id, given.members)
        (enrolment.lastCall, enrolment.proof) = (call, given)
        enrolment.isUnderWay = true
        let task = Task { await self.carryOut(act, call) }
        let conclusion = await task.value
        enrolment.isUnderWay = false
        if case .refused = conclusion.outcome {
            (enrolment.lastCall, enrolment.proof) = (nil, nil)
            if let opened = given.opened { await account.discard(opened) }
        }
        try conclusion.get()
    }

    /// Stores the tokens. What cannot be stored counts as no answer, so that the same request gets them again.
    func enrolled(_ answer: HTTPAnswer) async -> Reply {
        let cause = Unreachable("not an answer of the server", status: answer.status)
        guard let tokens = TokenAnswer(parsing: answer.body), let proof = enrolment.proof else {
            return Reply(answer: .none, error: .unreachable(cause))
        }
        do throws(SojournError) { try await account.store(tokens, of: proof) } catch {
            return Reply(answer: .none, error: error)
        }
        (enrolment.lastCall, enrolment.proof) = (nil, nil)
        return Reply(answer: .accepted(LoginStatus(.done, history: .loggedInOneShot)))
    }
}

/// What the last act of an enrolment is made of.
struct EnrolmentProof: Sendable {
    var members: [String: JSONValue]
    /// The gate that the prompt has opened; nil: the factor is a password.
    var opened: OpenGate?
    /// The key to which the session is bound.
    var keyThumbprint: String?
    var order: Sojourn.LoginOrder
}

extension Sojourn {
    /// Makes a call of a phone that enrols: it has the secret of the enrolment in place of an access token.
    func perform(
        _ call: LoginSessionCall, of enrolment: LoginSession.Enrolment, attempt: Int
    ) async throws(SojournError) -> HTTPAnswer {
        var plain = try call.enrolmentMessage(to: try server())
        if call.isAct {
            let secret = try await prepareRecord().record.retrySecret
            // The last act is told by its body alone, so that it can be repeated later.
            let number = if case .enrol = call { UInt64(0) } else { UInt64(attempt) }
            let key = IdempotencyKey.ofAct(plain, attempt: number, secret: secret)
            plain.fields.append(HTTPMessageField("Idempotency-Key", key))
        }
        if let token = enrolment.token { plain.fields.append(HTTPMessageField("Authorization", "Bearer \(token)")) }
        var isSignedAgain = false
        while true {
            var message = plain
            if case .enrol = call, configuration.renewal == .boundRefreshToken, let key = try await loginKey() {
                do throws(KeyError) {
                    let proof = try await proof(by: key, message.method, message.url, accessToken: nil)
                    message.fields.append(HTTPMessageField("DPoP", proof))
                } catch { throw SojournError(error) }
            }
            let answer: HTTPAnswer
            do throws(TransportFailure) { answer = try await exchange(message, within: configuration.patience) } catch {
                if error == .cancelled || Task.isCancelled { throw .cancelled }
                throw .unreachable(Unreachable(error))
            }
            if isSignedAgain || Verdict<TokenAnswer>(of: answer) != .signAgain { return answer }
            isSignedAgain = true
        }
    }

    /// The body of the last act. Biometry is asked for first, and its new key signs the login.
    func enrolmentProof(
        _ factor: LoginSession.EnrolmentFactor, login id: String, user userID: String
    ) async throws(SojournError) -> EnrolmentProof {
        let (order, audience) = (nextLogin(), try server().base)
        let deviceID = try await prepareRecord().record.deviceID
        let key = try await loginKey()
        var login = LoginRequest(
            .anonymous, mode: .no, deviceID: deviceID,
            deviceKey: configuration.renewal == .deviceKey ? key?.publicKey : nil)
        var (opened, assertion): (OpenGate?, String?)
        if case .biometry(let reason, _) = factor {
            let gate = try await prompt { gate throws(PresenceError) in try await gate.enroll(reason: reason) }
            (login.mode, login.presenceKey) = (.biometric, gate.presenceKey.publicKey)
            opened = gate
            do throws(KeyError) {
                assertion = try await AssertionMaker(key: gate.presenceKey, random: random).assertion(
                    issuer: id, subject: userID, audience: audience, issuedAt: now, lifetime: 120,
                    login: AssertionMaker.Login(id: id, number: nil))
            } catch {
                await discard(gate)
                throw SojournError(error)
            }
        }
        var members = login.sharedMembers(configuration)
        members.set("user_assertion", assertion)
        switch factor {
        case .password(let password, let username):
            members.set("password", password)
            members.set("username", username)
        case .biometry(_, let username): members.set("username", username)
        }
        return EnrolmentProof(
            members: members, opened: opened, keyThumbprint: key?.publicKey.thumbprint, order: order)
    }

    /// Stores the account of an enrolment, as that of a login.
    func store(_ answer: TokenAnswer, of proof: EnrolmentProof) async throws(SojournError) {
        var answer = answer
        if configuration.renewal == .deviceKey { answer.refreshToken = nil }
        _ = try await commit(answer, keyThumbprint: proof.keyThumbprint, by: proof.opened, proof.order)
        // The first signature ends the activation. If it does not arrive, that of the next unlock does.
        if let opened = proof.opened, let session = cache?.record?.record.session,
            let assertion = try? await assertion(by: opened, for: session)
        {
            _ = try? await call(.showPresence(assertion: assertion))
        }
    }
}
