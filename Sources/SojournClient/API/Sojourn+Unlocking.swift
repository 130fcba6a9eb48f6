extension Sojourn {
    /// Asks the user for biometry, once, and opens the session: the gate, then the sealed tokens, then the network.
    ///
    /// The renewal that follows shows the server that the user was present. It is not waited for longer than `renewalWait` unless
    /// the server has asked for the user. A session that is open, and of which the server asks nothing, is left alone.
    ///
    /// If the user cancels the prompt, or the gate fails, nothing is sent and nothing changes.
    ///
    /// - Parameter reason: what the prompt says.
    public func unlock(reason: String = PresencePrompt.reason) async throws(SojournError) {
        let task =
            unlocking
            ?? Task { () -> Result<Void, SojournError> in
                let result: Result<Void, SojournError>
                do throws(SojournError) { result = .success(try await self.openByBiometry(reason)) } catch {
                    result = .failure(error)
                }
                self.unlocking = nil
                return result
            }
        // Callers that come while a prompt is shown share it.
        unlocking = task
        try await task.value.get()
    }

    /// Opens the session by the password, and answers what the server asks of the user. The session goes on with its keys.
    ///
    /// If biometry cannot open it, because it is locked or was enrolled anew, the mode becomes `PASSWORD`. `switchMode` leads back
    /// without a new enrollment, as long as the keys exist.
    @discardableResult public func unlock(password: String) async throws(SojournError) -> Account {
        let session = try await living()
        guard let name = session.account.username else {
            throw .presenceRequired(PresenceRequirement(ways: ["id_token"], maxAge: nil))
        }
        return try await logInAgain(.password(username: name, password: password), session)
    }

    /// Opens the session by a new ID token of the user's identity provider, as `unlock(password:)` does.
    @discardableResult public func unlock(
        idToken: String, provider: String, nonce: String? = nil
    ) async throws(SojournError) -> Account {
        try await logInAgain(
            .idToken(idToken, provider: provider, nonce: nonce, providerRefreshToken: nil), try await living())
    }

    /// Asks for the device's PIN, pattern or password, after too many failed attempts at biometry. Afterwards `unlock(reason:)`
    /// works again.
    public func confirmDeviceCredential(
        title: String = PresencePrompt.lockedTitle, text: String = PresencePrompt.lockedText
    ) async throws(SojournError) {
        let gate = try await gateForPrompt()
        let availability = await gate.availability()
        do throws(PresenceError) {
            guard availability.hasDeviceCredential else { throw PresenceError(noCredentialOn: gate.platform) }
            try await gate.confirmWithDeviceCredential(title: title, text: text)
        } catch { throw failure(error, availability) }
        presenceFailures = 0
    }

    // MARK: The gate

    /// The session, if the server has not ended it.
    func living() async throws(SojournError) -> StoredSession {
        guard let session = try await current()?.record.session else { throw .notSignedIn }
        if let ending = session.ending { throw .ended(ending.reason) }
        return session
    }

    private func openByBiometry(_ reason: String) async throws(SojournError) {
        let session = try await living()
        if isOpen(session), presence == nil { return }
        guard session.mode == .biometric, let id = session.gateID else {
            throw .presenceRequired(presence?.requirement ?? ways(toOpen: session))
        }
        let opened = try await prompt { gate throws(PresenceError) in try await gate.unlock(id, reason: reason) }
        let earlier = unlocked
        unlocked = Unlocked(sessionID: session.sessionID, gate: opened, at: clock.uptime)
        let loaded = try await load()
        await earlier?.gate?.close()
        guard let now = loaded?.record.session, now.sessionID == session.sessionID else {
            await lock()
            throw .cancelled
        }
        guard !now.isLocked else {
            await lock()
            throw .store(.corrupted("the sealing key does not open the tokens"))
        }
        if configuration.mayRenew { try await renewWithPresence() }
    }

    /// Shows one prompt, as soon as the app can. Nothing is remembered of earlier ones but how many failed in a row.
    func prompt(
        _ ask: (any PresenceGate) async throws(PresenceError) -> OpenGate
    ) async throws(SojournError) -> OpenGate {
        let gate = try await gateForPrompt()
        let availability = await gate.availability()
        do throws(PresenceError) {
            if let obstacle = availability.obstacle { throw obstacle }
            let opened = try await ask(gate)
            presenceFailures = 0
            return opened
        } catch {
            // What the prompt has changed counts for the advice.
            throw failure(error, await gate.availability())
        }
    }

    private func gateForPrompt() async throws(SojournError) -> any PresenceGate {
        guard let gate else { throw .misconfigured("biometry needs a PresenceGate") }
        guard await configuration.readyForUser() else { throw .cancelled }
        return gate
    }

    private func failure(_ error: PresenceError, _ availability: GateAvailability) -> SojournError {
        // An interruption is no failed attempt.
        if error.kind != .cancelled { presenceFailures += 1 }
        let advice =
            configuration.presenceAdvice?(error, presenceFailures)
            ?? error.kind.advice(
                after: presenceFailures, limit: configuration.presenceFailuresMax,
                hasDeviceCredential: availability.hasDeviceCredential)
        log("presence: code \(error.code) of \(error.platform.rawValue)")
        return .presence(PresenceFailure(error, advice))
    }

    /// An assertion of the presence key for `session`.
    func assertion(by gate: OpenGate, for session: StoredSession) async throws(KeyError) -> String? {
        guard let id = session.sessionID, let server = try? server() else { return nil }
        return try await AssertionMaker(key: gate.presenceKey, random: random).assertion(
            issuer: id, subject: session.account.userID, audience: server.base, issuedAt: now, lifetime: 120)
    }

    /// Renews, and shows the server that the user is present.
    private func renewWithPresence() async throws(SojournError) {
        for _ in 0..<4 {
            // A renewal under way does not say that the user is present.
            while let version = flights.keys.first { _ = await outcome(of: version, within: nil) }
            guard let loaded = try await load(), let session = loaded.record.session else { throw .notSignedIn }
            let isDemanded = presence != nil
            let limit = session.isUsable(at: now) && !isDemanded ? configuration.renewalWait : nil
            guard let outcome = await outcome(of: flight(of: loaded.version, isUserPresent: true), within: limit)
            else { return }
            switch outcome {
            case .renewed: return
            case .overtaken: continue
            case .notSignedIn: throw .notSignedIn
            case .ended(let reason): throw .ended(reason)
            case .kept(.unreachable) where !isDemanded: return
            case .kept(let verdict): throw SojournError(verdict) ?? .unreachable(Unreachable("no verdict"))
            case .store(let error): throw SojournError(error)
            case .key(let error): throw SojournError(error)
            }
        }
        throw .unreachable(Unreachable("the record changes all the time"))
    }
}

extension PresenceError {
    /// The device has no PIN, pattern or password.
    fileprivate init(noCredentialOn platform: BiometryPlatform) {
        self.init(platform, code: platform == .apple ? 5 : 14)
    }
}
