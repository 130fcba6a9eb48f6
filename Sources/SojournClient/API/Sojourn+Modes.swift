extension Sojourn {
    /// Changes how the app guards the tokens of this session.
    ///
    /// `BIOMETRIC` needs one prompt; its keys are made at the first time, and stay when the mode changes. A change that guards
    /// less needs the user's presence within the last five minutes: by the login, by biometry, or by `password`. While a login
    /// with biometry is under way, and until its key has signed for the first time, the change is refused as
    /// `activation_pending`.
    ///
    /// - Parameters:
    ///   - reason: what the prompt says, if there is one.
    ///   - password: also opens a session that biometry cannot open.
    public func switchMode(
        to mode: AuthenticationMode, reason: String = PresencePrompt.reason, password: String? = nil
    ) async throws(SojournError) {
        guard activations == 0 else {
            throw .refused(Refusal(status: 409, code: "activation_pending", detail: "a login is under way"))
        }
        var session = try await living()
        if !isOpen(session) {
            if let password {
                try await unlock(password: password)
            } else {
                try await unlock(reason: reason)
            }
            session = try await living()
        }
        guard session.mode != mode || (mode == .biometric && session.sealed == nil) else { return }
        if mode == .biometric {
            try await switchToBiometry(session, reason, password)
        } else {
            try await change(to: mode, session, openGate(of: session), isNew: false, password)
        }
    }

    private func switchToBiometry(
        _ session: StoredSession, _ reason: String, _ password: String?
    ) async throws(SojournError) {
        let (gate, isNew) = try await gateKeys(of: session, reason)
        do throws(SojournError) {
            try await change(to: .biometric, session, gate, isNew: isNew, password)
        } catch {
            if isNew { await discard(gate) } else if openGate(of: session) == nil { await gate.close() }
            throw error
        }
    }

    /// The keys of the session, opened by one prompt; new ones, if there are none, or if the enrolled biometry has changed.
    func gateKeys(
        of session: StoredSession, _ reason: String
    ) async throws(SojournError) -> (gate: OpenGate, isNew: Bool) {
        if let gate = openGate(of: session) { return (gate, false) }
        if let id = session.gateID {
            do throws(SojournError) {
                let gate = try await prompt { gate throws(PresenceError) in try await gate.unlock(id, reason: reason) }
                return (gate, false)
            } catch {
                // The gate has not asked the user in this case.
                guard case .presence(let failure) = error, failure.error.kind == .enrollmentChanged else { throw error }
                presenceFailures = 0
            }
        }
        return (try await prompt { gate throws(PresenceError) in try await gate.enroll(reason: reason) }, true)
    }

    /// Changes the mode at the server, and then in the record.
    private func change(
        to mode: AuthenticationMode, _ session: StoredSession, _ gate: OpenGate?, isNew: Bool, _ password: String?
    ) async throws(SojournError) {
        var assertion: String?
        if let gate {
            do throws(KeyError) { assertion = try await self.assertion(by: gate, for: session) } catch {
                throw SojournError(error)
            }
        }
        _ = try await call(
            .changeMode(
                mode, presenceKey: isNew ? gate?.presenceKey.publicKey : nil, assertion: assertion, password: password))
        let earlier = unlocked?.gate
        // Until the record is written the tokens are under the seal of this gate, or will be.
        unlocked = Unlocked(sessionID: session.sessionID, gate: gate, at: clock.uptime)
        do throws(StoreError) {
            try await update(sealedBy: gate) { record in
                guard record.session?.sessionID == session.sessionID, record.session?.isLocked == false else {
                    return false
                }
                record.session?.mode = mode
                if let gate { record.session?.gateID = gate.id }
                // The bytes follow when the record is written.
                record.session?.sealed = mode == .biometric ? [] : nil
                return true
            }
        } catch { throw SojournError(error) }
        if mode != .biometric { unlocked?.gate = nil }
        publishState()
        if mode != .biometric, let gate { await gate.close() }
        if let earlier, earlier.id != gate?.id { await earlier.close() }
        if isNew, let old = session.gateID { await self.gate?.discard(old) }
    }

    /// Deletes keys that no session has.
    func discard(_ opened: OpenGate) async {
        await opened.close()
        await gate?.discard(opened.id)
    }
}
