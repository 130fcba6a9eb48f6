public import Foundation

extension Sojourn {
    /// Signs a user in on the server's login page (RFC 8252). A session of the same user on this device goes on with its keys.
    ///
    /// Whatever the page answers is checked: the redirect URI, `state` and `iss`. If they are wrong, the error is `refused` with the
    /// code `redirect_uri_mismatch`, `state_mismatch` or `iss_mismatch`; a user who refuses is `access_denied`, and one who closes
    /// the page `cancelled`. The stored session is the same as before in each of these cases.
    ///
    /// - Parameters:
    ///   - presenter: shows the page.
    ///   - page: where the page returns to, and what is asked of it.
    ///   - mode: how the app guards the session. `BIOMETRIC` asks the user for biometry, once, before the page opens.
    ///   - reason: what that prompt says.
    @discardableResult
    public func signIn(
        through presenter: any LoginPresenter, _ page: LoginPage, mode: AuthenticationMode = .no,
        reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await activating(mode, reason) { opened throws(SojournError) in
            let order = self.nextLogin()
            let (login, url) = try await self.beginLogin(page, mode)
            do throws(SojournError) {
                let callback = try await Self.present(url, page.redirectURI, presenter)
                let code = try AuthorizationAnswer(callback).code(for: login, of: try self.server())
                return try await self.exchange(code, of: login, mode, by: opened, order)
            } catch {
                // After a lost answer the same URL can be given to `signIn(callback:)` once more.
                if case .unreachable = error { throw error }
                await self.forget(login)
                throw error
            }
        }
    }

    /// Begins a login on the server's login page, for an app that opens the browser itself. Returns the URL to open. The answer
    /// goes to `signIn(callback:)`, which may be in another process of the app. A later login takes the place of this one.
    public func beginSignIn(
        _ page: LoginPage, mode: AuthenticationMode = .no
    ) async throws(SojournError) -> URL {
        try await beginLogin(page, mode).url
    }

    /// Ends the login that `beginSignIn` has begun, or that was under way when the app ended.
    ///
    /// A URL that does not answer that login is refused, and the login goes on waiting. After `unreachable` the call can be
    /// repeated with the same URL. Without a login that waits the error is `refused` with the code `no_login_pending`.
    ///
    /// - Parameters:
    ///   - callback: the URL with which the browser came back.
    ///   - reason: what the prompt of the mode `BIOMETRIC` says.
    @discardableResult
    public func signIn(
        callback: URL, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        let login = try await pendingLogin()
        let code: String
        let answer = try AuthorizationAnswer(callback)
        do throws(SojournError) { code = try answer.code(for: login, of: try server()) } catch {
            if case .refused(let refusal) = error, refusal.code == "access_denied" { await forget(login) }
            throw error
        }
        return try await signIn(code, of: login, login.mode, reason)
    }

    /// Ends the login that waits by its code alone, for an app that has checked `state` and `iss` of the answer itself. A code of
    /// another login is refused by the server, because the verifier of this one does not fit.
    ///
    /// - Parameters:
    ///   - mode: how the app guards the session; nil: as `beginSignIn` was told.
    ///   - reason: what the prompt of the mode `BIOMETRIC` says.
    @discardableResult
    public func signIn(
        authorizationCode: String, mode: AuthenticationMode? = nil, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        let login = try await pendingLogin()
        return try await signIn(authorizationCode, of: login, mode ?? login.mode, reason)
    }

    // MARK: Steps

    private func signIn(
        _ code: String, of login: PendingLogin, _ mode: AuthenticationMode, _ reason: String
    ) async throws(SojournError) -> Account {
        try await activating(mode, reason) { opened throws(SojournError) in
            let order = self.nextLogin()
            do throws(SojournError) { return try await self.exchange(code, of: login, mode, by: opened, order) } catch {
                // The server knows the code no more, or it was the code of another login.
                if case .refused = error { await self.forget(login) }
                throw error
            }
        }
    }

    /// Stores what the answer is checked with, and makes the URL.
    private func beginLogin(
        _ page: LoginPage, _ mode: AuthenticationMode
    ) async throws(SojournError) -> (login: PendingLogin, url: URL) {
        let server = try server()
        guard page.redirectURI.scheme != nil else { throw .misconfigured("the redirect URI must be absolute") }
        let login = PendingLogin(
            state: Base64URL.encode(random(16)), nonce: Base64URL.encode(random(16)),
            verifier: Base64URL.encode(random(32)), redirectURI: page.redirectURI.absoluteString, mode: mode)
        _ = try await prepareRecord()
        let key = configuration.renewal == .boundRefreshToken ? try await loginKey() : nil
        let url = try AuthorizationURL.url(
            of: login, page, at: server, configuration, keyThumbprint: key?.publicKey.thumbprint)
        try await changePending { record in
            record.pendingLogin = login
            return true
        }
        return (login, url)
    }

    private static func present(
        _ url: URL, _ redirectURI: URL, _ presenter: any LoginPresenter
    ) async throws(SojournError) -> URL {
        do throws(LoginPresentationError) {
            return try await presenter.present(url, redirectURI: redirectURI)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .failed(let detail): throw .misconfigured(detail)
            }
        }
    }

    private func pendingLogin() async throws(SojournError) -> PendingLogin {
        guard let login = try await load()?.record.pendingLogin else {
            throw .refused(Refusal(status: 0, code: "no_login_pending"))
        }
        return login
    }

    /// Exchanges the code for a session, and stores it.
    private func exchange(
        _ code: String, of login: PendingLogin, _ mode: AuthenticationMode, by opened: OpenGate?, _ order: LoginOrder
    ) async throws(SojournError) -> Account {
        let record = try await prepareRecord().record
        let key = try await loginKey()
        var request = CodeRequest(code, of: login, mode: mode, deviceID: record.deviceID)
        request.sessionID = record.session.flatMap { $0.ending == nil ? $0.sessionID : nil }
        request.deviceKey = configuration.renewal == .deviceKey ? key?.publicKey : nil
        request.presenceKey = mode == .biometric ? opened?.presenceKey.publicKey : nil
        let message = try request.message(to: try server(), configuration)
        var answer = try await answer(to: message, provenBy: configuration.renewal == .boundRefreshToken ? key : nil)
        if configuration.renewal == .deviceKey { answer.refreshToken = nil }
        let thumbprint = key?.publicKey.thumbprint
        guard answer.idTokenNonce == nil || answer.idTokenNonce == login.nonce else {
            // Nobody uses this session: the server is told to end it.
            let session = StoredSession(answer, keyThumbprint: thumbprint)
            try await changePending { record in
                record.owe(session)
                return true
            }
            payDebtsInBackground()
            throw .refused(Refusal(status: 0, code: "nonce_mismatch"))
        }
        return try await commit(answer, keyThumbprint: thumbprint, by: opened, order)
    }

    /// Removes `login` from the record. If that fails, the next login replaces it.
    private func forget(_ login: PendingLogin) async {
        try? await changePending { record in
            guard record.pendingLogin == login else { return false }
            record.pendingLogin = nil
            return true
        }
    }

    private func changePending(_ change: (inout SessionRecord) -> Bool) async throws(SojournError) {
        do throws(StoreError) { try await update(change) } catch { throw SojournError(error) }
    }
}
