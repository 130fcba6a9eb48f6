public import Foundation

extension Sojourn {
    /// Signs a user in by name and password. A session of the same user on this device goes on with its keys.
    ///
    /// - Parameters:
    ///   - mode: how the app guards the session. `BIOMETRIC` asks the user for biometry, once, before anything is sent, unless it
    ///     has opened the session already.
    ///   - reason: what that prompt says.
    @discardableResult
    public func signIn(
        username: String, password: String, mode: AuthenticationMode = .no, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await signIn(.password(username: username, password: password), mode, reason)
    }

    /// Signs a user in by an ID token of an identity provider. A session of the same user on this device goes on with its keys.
    ///
    /// - Parameters:
    ///   - nonce: what the app sent to the provider for this token.
    ///   - providerRefreshToken: lets the server ask the provider about the user later.
    ///   - mode: how the app guards the session. `BIOMETRIC` asks the user for biometry, once, before anything is sent: a token
    ///     that was not sent because the user cancelled the prompt can still be used.
    ///   - reason: what that prompt says.
    @discardableResult
    public func signIn(
        idToken: String, provider: String, nonce: String? = nil, providerRefreshToken: String? = nil,
        mode: AuthenticationMode = .no, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await signIn(
            .idToken(idToken, provider: provider, nonce: nonce, providerRefreshToken: providerRefreshToken), mode,
            reason)
    }

    /// Takes over a session that the app's backend has begun, from the server's answer to it. The session must be of
    /// `deviceIdentity()`.
    @discardableResult
    public func adopt(tokenAnswer: Data) async throws(SojournError) -> Account {
        guard let answer = TokenAnswer(parsing: Array(tokenAnswer)) else {
            throw .misconfigured("not an answer with tokens")
        }
        let order = nextLogin()
        _ = try await prepareRecord()
        let key: (any DeviceKey)?
        do throws(KeyError) { key = try await keys.key(.device) } catch { throw SojournError(error) }
        let isSigned = answer.tokenType.lowercased() == "dpop" || answer.refreshToken == nil
        if isSigned, key == nil { throw .misconfigured("the session is bound to a key that this device does not have") }
        return try await commit(answer, keyThumbprint: isSigned ? key?.publicKey.thumbprint : nil, order)
    }

    /// What a backend needs to begin a session for this device: its ID, and the thumbprint of its key (`dpop_jkt`), which is made
    /// if there is none. The thumbprint is nil if sessions are not bound.
    public func deviceIdentity() async throws(SojournError) -> (deviceID: String, keyThumbprint: String?) {
        let record = try await prepareRecord().record
        return (record.deviceID, try await loginKey()?.publicKey.thumbprint)
    }

    // MARK: A login

    /// Which logins and sign-outs came before.
    struct LoginOrder {
        var number: Int
        var signOuts: Int
    }

    /// The place of a login that begins now.
    func nextLogin() -> LoginOrder {
        logins += 1
        return LoginOrder(number: logins, signOuts: signOuts)
    }

    func signIn(
        _ credentials: LoginRequest.Credentials, _ mode: AuthenticationMode, _ reason: String,
        cancelsDeletion: Bool = false, secondStepOf first: SecondFactorChallenge? = nil
    ) async throws(SojournError) -> Account {
        try await activating(mode, reason, secondStepOf: first) { opened throws(SojournError) in
            try await self.logIn(
                credentials, mode, by: opened, continuing: credentials.mayContinue ? try? await self.living() : nil,
                cancelsDeletion: cancelsDeletion)
        }
    }

    /// Logs in by `logIn`. In the mode `BIOMETRIC` the user is asked first, and what the prompt opened is the session's gate: the
    /// one that it has, if there is a session that the login can continue. What was opened for the first step of a login is there
    /// for the second one.
    func activating(
        _ mode: AuthenticationMode, _ reason: String, secondStepOf first: SecondFactorChallenge? = nil,
        _ logIn: (OpenGate?) async throws(SojournError) -> Account
    ) async throws(SojournError) -> Account {
        guard mode == .biometric else { return try await logIn(nil) }
        activations += 1
        defer { activations -= 1 }
        let session = try? await living()
        let (opened, isNew): (OpenGate, Bool)
        let held = heldGate
        heldGate = nil
        if let held, held.step != first { held.isNew ? await discard(held.gate) : await held.gate.close() }
        if let held, held.step == first {
            (opened, isNew) = (held.gate, held.isNew)
        } else if let session {
            (opened, isNew) = try await gateKeys(of: session, reason)
        } else {
            let enrolled = try await prompt { gate throws(PresenceError) in try await gate.enroll(reason: reason) }
            (opened, isNew) = (enrolled, true)
        }
        let account: Account
        do throws(SojournError) { account = try await logIn(opened) } catch {
            var step = first
            if case .secondFactorRequired(let second) = error { step = second.challenge }
            if let step {
                heldGate = (step, opened, isNew)
                throw error
            }
            if isNew { await discard(opened) } else if openGate(of: session)?.id != opened.id { await opened.close() }
            throw error
        }
        // The first signature ends the activation. If it does not arrive, that of the next unlock does.
        if let session = cache?.record?.record.session, openGate(of: session)?.id == opened.id,
            let assertion = try? await assertion(by: opened, for: session)
        {
            _ = try? await call(.showPresence(assertion: assertion))
        }
        return account
    }

    /// Logs the user of a session in again. The server continues the session, with its keys, or begins another one if it has
    /// ended.
    func logInAgain(
        _ credentials: LoginRequest.Credentials, _ session: StoredSession
    ) async throws(SojournError) -> Account {
        let opened = openGate(of: session)
        // Without the sealing key new tokens can only be stored in another mode.
        let mode = session.sealed != nil && opened == nil ? .password : session.mode
        do throws(SojournError) { return try await logIn(credentials, mode, by: opened, continuing: session) } catch {
            guard case .secondFactorRequired(var second) = error else { throw error }
            second.unlocks = session.sessionID
            throw .secondFactorRequired(second)
        }
    }

    func logIn(
        _ credentials: LoginRequest.Credentials, _ mode: AuthenticationMode, by opened: OpenGate? = nil,
        continuing session: StoredSession? = nil, cancelsDeletion: Bool = false
    ) async throws(SojournError) -> Account {
        let order = nextLogin()
        // The device ID, the secret of the Idempotency-Key and the key are stored before the login, so that a login whose answer
        // was lost is continued by the next try, even after a new start of the app.
        let record = try await prepareRecord().record
        let key = try await loginKey()
        var login = LoginRequest(
            credentials, mode: mode, deviceID: record.deviceID,
            deviceKey: configuration.renewal == .deviceKey ? key?.publicKey : nil)
        login.presenceKey = mode == .biometric ? opened?.presenceKey.publicKey : nil
        login.sessionID = session?.sessionID
        login.cancelsDeletion = cancelsDeletion
        let message = try login.message(to: try server(), configuration, retrySecret: record.retrySecret)
        var answer: TokenAnswer
        do throws(SojournError) {
            answer = try await self.answer(
                to: message, provenBy: configuration.renewal == .boundRefreshToken ? key : nil)
        } catch {
            guard case .secondFactorRequired(var second) = error else { throw error }
            (second.mode, second.cancelsDeletion, second.first) = (mode, cancelsDeletion, credentials.first)
            throw .secondFactorRequired(second)
        }
        if configuration.renewal == .deviceKey { answer.refreshToken = nil }
        return try await commit(answer, keyThumbprint: key?.publicKey.thumbprint, by: opened, order)
    }

    /// The key to which the next session is bound, made if there is none; nil if sessions are not bound.
    func loginKey() async throws(SojournError) -> (any DeviceKey)? {
        guard configuration.renewal != .refreshToken else { return nil }
        do throws(KeyError) { return try await keys.makeKey(.device) } catch { throw SojournError(error) }
    }

    /// The stored record; written, if there is none or none that can be read. An unreadable one is set aside and kept.
    func prepareRecord() async throws(SojournError) -> LoadedRecord {
        do throws(StoreError) {
            if isSigningOut { try await settleSignOut() }
            for _ in 0..<16 {
                var expected: RecordVersion?
                do throws(StoreError) {
                    if let loaded = try await loadStored() {
                        if configuration.deviceID ?? loaded.record.deviceID == loaded.record.deviceID { return loaded }
                        expected = loaded.version
                    }
                } catch {
                    guard case .corrupted = error else { throw error }
                    try await store.setAside()
                    // What cannot be set aside, because the store can read it, is written over.
                    expected = try await store.load()?.version
                }
                let fresh = SessionRecord(
                    deviceID: configuration.deviceID ?? Base64URL.encode(random(16)), retrySecret: random(32))
                _ = try await store.replace(expected, with: fresh.json)
            }
            throw .failed(0, "the record changes all the time")
        } catch {
            throw SojournError(error)
        }
    }

    /// Sends a login until an answer comes, three times at most. Each try has the same `Idempotency-Key`.
    func answer(
        to message: HTTPMessage, provenBy key: (any DeviceKey)?
    ) async throws(SojournError) -> TokenAnswer {
        var (attempts, isSignedAgain) = (0, false)
        while true {
            let verdict = try await verdict(on: message, provenBy: key)
            if attempts == 0, verdict.mayBeOfAnotherServer, let text = await missingServer() {
                throw .misconfigured(text)
            }
            switch verdict {
            case .granted(let answer): return answer
            case .signAgain where !isSignedAgain: isSignedAgain = true
            case .signAgain:
                if let issuer = await otherIssuer() { throw .misconfigured(try Self.wrongServer(issuer, server())) }
                throw SojournError(verdict) ?? .cancelled
            case .unreachable(let cause)
            where attempts < 2 && (cause.retryAfter ?? 0) <= RetrySchedule.retryAfterWithinRenewalMax:
                attempts += 1
                let wait = RetrySchedule.wait(
                    attempt: attempts, retryAfter: cause.retryAfter, random: randomNumber())
                do { try await clock.sleep(for: wait) } catch { throw .cancelled }
            case .secondFactorRequired(let challenge):
                throw .secondFactorRequired(SecondFactorLogin(challenge, of: self))
            // A login has no session that could have ended.
            case .ended(let reason): throw .refused(Refusal(status: 401, code: reason.rawValue))
            default: throw SojournError(verdict) ?? .cancelled
            }
        }
    }

    private func verdict(
        on message: HTTPMessage, provenBy key: (any DeviceKey)?
    ) async throws(SojournError) -> Verdict<TokenAnswer> {
        var message = message
        if let key {
            do throws(KeyError) {
                let proof = try await proof(by: key, message.method, message.url, accessToken: nil)
                message.fields.append(HTTPMessageField("DPoP", proof))
            } catch { throw SojournError(error) }
        }
        do throws(TransportFailure) {
            return Verdict(of: try await exchange(message, within: configuration.patience))
        } catch {
            if error == .cancelled || Task.isCancelled { throw .cancelled }
            return .unreachable(Unreachable(error))
        }
    }

    /// Stores the session of a login, whatever is stored: it is what the user did last.
    func commit(
        _ answer: TokenAnswer, keyThumbprint: String?, by opened: OpenGate? = nil, _ order: LoginOrder
    ) async throws(SojournError) -> Account {
        var session = StoredSession(answer, keyThumbprint: keyThumbprint)
        if let opened, session.mode == .biometric {
            // The bytes follow when the record is written.
            (session.gateID, session.sealed) = (opened.id, [])
        }
        let earlier = unlocked
        var abandoned: String?
        let isSuperseded = order.signOuts != signOuts || order.number < lastLoginCommitted
        let loaded: LoadedRecord?
        do throws(StoreError) {
            if isSuperseded {
                // The user has signed out meanwhile: this session goes as well. That of an earlier login is replaced by the server.
                if order.signOuts != signOuts {
                    try await update { record in
                        record.owe(session); return true
                    }
                }
                loaded = nil
            } else {
                let secret = random(32)
                lastLoginCommitted = order.number
                unlocked = Unlocked(
                    sessionID: session.sessionID, gate: session.sealed == nil ? nil : opened, at: clock.uptime)
                loaded = try await update(sealedBy: opened) { record in
                    abandoned = nil
                    if let previous = record.session?.gateID, session.gateID != previous {
                        if record.session?.sessionID == session.sessionID {
                            session.gateID = session.gateID ?? previous
                        } else {
                            abandoned = previous
                        }
                    }
                    record.deviceID = answer.deviceID ?? record.deviceID
                    record.begin(session, retrySecret: secret)
                    return true
                }
            }
        } catch {
            unlocked = earlier
            throw SojournError(error)
        }
        if let abandoned { await gate?.discard(abandoned) }
        if let old = earlier?.gate, old.id != unlocked?.gate?.id { await old.close() }
        await configuration.clearProviderCookies?()
        if loaded?.record.debts.isEmpty == false || isSuperseded { payDebtsInBackground() }
        guard loaded != nil else { throw .cancelled }
        (reachability, presence, rejected, heldError) = (.current, nil, nil, nil)
        retries.noteAnswer()
        publishState()
        return session.account
    }
}
