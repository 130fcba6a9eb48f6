// New accounts, logins by a code, and forgotten passwords: what a user without a session does with a proven mailbox.
extension Sojourn {
    /// Begins a sign-up: the server sends a code to the mailbox. No account exists before the code was shown and `finishSignUp`
    /// was called.
    ///
    /// A mailbox that has an account gets a mail that says so; the answer is the same. Calling again for the same mailbox goes on
    /// with the code that was sent.
    public func signUp(email: String) async throws(SojournError) -> Verification {
        try await ask(.signUp, email: email)
    }

    /// Makes the account of the mailbox that `confirm(code:)` has proven, with a password, and signs the user in. User, mailbox and
    /// session begin in one step, and a lost answer is fetched by the next try, also after a new start of the app.
    ///
    /// A signed-in anonymous user becomes the user of the account, and keeps ID and session; with a password only.
    ///
    /// Throws `refused` with the code `account_exists` if the mailbox has got an account meanwhile, `username_taken`,
    /// `invalid_request` for a password against the rules, `verification_over` when the time is over, and
    /// `no_verification_pending` before the code was confirmed.
    ///
    /// - Parameters:
    ///   - username: where the server lets users choose one; nil: the mailbox.
    ///   - mode: how the app guards the session.
    ///   - reason: what the prompt of the mode `BIOMETRIC` says.
    @discardableResult
    public func finishSignUp(
        password: String, username: String? = nil, mode: AuthenticationMode = .no,
        reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        let (purpose, proof) = try await proven(.signUp, .signIn)
        let signUp = SignUpProof(token: proof.token, username: username, secret: .password(password))
        do throws(SojournError) {
            // An anonymous user keeps the session.
            guard let session = try? await current()?.record.session, session.ending == nil,
                session.account.isAnonymous
            else { return try await signIn(.signUp(signUp), mode, reason) }
            let account = try await nameAccount(by: .change(.nameBySignUp(signUp)))
            await forget(purpose, proof.id)
            return account
        } catch {
            await noteEnd(error, of: purpose, proof.id)
            throw error
        }
    }

    /// Makes the account of the proven mailbox with a passkey in place of a password.
    @discardableResult
    public func finishSignUp(
        passkey authenticator: any PasskeyAuthenticator, username: String? = nil, mode: AuthenticationMode = .no,
        reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        let (purpose, proof) = try await proven(.signUp, .signIn)
        do throws(SojournError) {
            let message = try VerificationRequest.passkeyOptions(proof.token).message(to: try server())
            let request = try PasskeyOptions(try await answer(until: message)).registrationRequest
            let registration: PasskeyRegistration
            do throws(PasskeyError) { registration = try await authenticator.registration(for: request) } catch {
                throw SojournError(error)
            }
            let signUp = SignUpProof(token: proof.token, username: username, secret: .passkey(registration.json))
            return try await signIn(.signUp(signUp), mode, reason)
        } catch {
            await noteEnd(error, of: purpose, proof.id)
            throw error
        }
    }

    /// Begins a login by a code that the server sends to the mailbox, if the client has the login method `email`. The answer is the
    /// same for a mailbox without an account.
    public func signIn(emailCodeFor email: String) async throws(SojournError) -> Verification {
        try await ask(.signIn, email: email)
    }

    /// Ends the login by a code, of which `signIn(emailCodeFor:)` has sent the mail. A user with a second factor is asked for it too
    /// (`secondFactorRequired`). A mailbox without an account is `refused` with the code `account_missing`; where the server lets
    /// people sign up, `finishSignUp` makes the account then, without another mail.
    @discardableResult
    public func signIn(
        code: String, mode: AuthenticationMode = .no, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        let (stored, answer) = try await pending(.signIn)
        do throws(SojournError) {
            return try await signIn(.mailedCode(answer.token, code: code), mode, reason)
        } catch {
            if error.code == "account_missing" { try await noteProof(of: stored) }
            await noteEnd(error, of: .signIn, answer.id)
            throw error
        }
    }

    /// Begins the reset of a forgotten password: the server sends a link and a code. After `confirm(code:)` the app calls
    /// `resetPassword`. A mailbox without an account gets no mail, and the answer is the same.
    public func requestPasswordReset(email: String) async throws(SojournError) -> Verification {
        try await ask(.reset, email: email)
    }

    /// Sets the password of the user of the mailbox that `confirm(code:)` has proven. All sessions of the user end, that of this device
    /// too, and the user logs in with the new password; a second factor is asked for as before.
    ///
    /// Throws `refused` with the code `invalid_request` and the member `new_password` for a password against the rules, and
    /// `verification_over` when the time is over.
    public func resetPassword(to password: String) async throws(SojournError) {
        let proof = try await proven(.reset).answer
        let message = try VerificationRequest.resetPassword(proof.token, password).message(to: try server())
        var wasLost = false
        do throws(SojournError) { _ = try await answer(until: message, wasLost: &wasLost) } catch {
            // The proof was good a moment ago: a try without an answer has used it.
            if error.isSpentReset, !wasLost {
                await forget(.reset, proof.id)
                throw .refused(Refusal(status: 400, code: "verification_over"))
            }
            guard error.isSpentReset else { throw error }
        }
        await forget(.reset, proof.id)
        // The session of this device has ended if it was the same user's: a renewal finds out.
        if let token = cache?.record?.record.session?.token { reject(token) }
    }
}

extension SojournError {
    /// The word of a refusal.
    var code: String? { if case .refused(let refusal) = self { refusal.code } else { nil } }

    /// Whether a reset was refused for its proof, and not for the password.
    fileprivate var isSpentReset: Bool {
        if case .refused(let refusal) = self { refusal.member == "reset_token" } else { false }
    }
}
