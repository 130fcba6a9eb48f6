import Foundation

extension Sojourn {
    /// Signs in without a user: the server makes an anonymous one, and `nameAccount` gives it a name later. The client needs
    /// `anonymous_users`.
    ///
    /// If an anonymous user is signed in already, the account is returned and nothing is sent. Another user's session is replaced,
    /// as by any login. The session is the only way to an anonymous user: no login finds the user after a sign-out.
    ///
    /// - Parameters:
    ///   - mode: how the app guards the session.
    ///   - reason: what the prompt of the mode `BIOMETRIC` says.
    @discardableResult
    public func signInAnonymously(
        mode: AuthenticationMode = .no, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        // What hinders the read hinders the login too, unless a login mends it.
        if let session = try? await current()?.record.session, session.ending == nil, session.account.isAnonymous {
            return session.account
        }
        do throws(SojournError) { return try await signIn(.anonymous, mode, reason) } catch {
            guard case .refused(let refusal) = error, refusal.code == "idempotency_key_used" else { throw error }
            // The answer to an earlier attempt was lost too long ago: that user is lost, and a new key makes a new one.
            let secret = random(32)
            do throws(StoreError) {
                try await update { record in
                    record.retrySecret = secret
                    return true
                }
            } catch { throw SojournError(error) }
            return try await signIn(.anonymous, mode, reason)
        }
    }

    /// Gives the anonymous user a username and a password. The session goes on, and the user keeps the ID.
    ///
    /// Throws `refused` with the code `username_taken`, `not_anonymous`, or `invalid_request` for a password against the rules.
    @discardableResult
    public func nameAccount(username: String, password: String) async throws(SojournError) -> Account {
        try await nameAccount(by: .name(username: username, password: password))
    }

    /// Links the anonymous user to an identity of an identity provider. The session goes on, and the user keeps the ID.
    ///
    /// Throws `refused` with the code `identity_taken` if the identity leads to another user, and `not_anonymous`.
    ///
    /// - Parameter nonce: what the app sent to the provider for this token.
    @discardableResult
    public func nameAccount(
        idToken: String, provider: String, nonce: String? = nil
    ) async throws(SojournError) -> Account {
        try await nameAccount(by: .nameByIDToken(idToken, provider: provider, nonce: nonce))
    }

    /// Sends the naming until an answer comes. The server answers a request that it has fulfilled in the same way again. The next
    /// call renews the access token, which still says that the user is anonymous.
    func nameAccount(by call: AccountCall) async throws(SojournError) -> Account {
        try await store(profile: try await keyed(call), renewing: true)
    }

    /// Makes a call until an answer comes, with an `Idempotency-Key` that is the same for the same call in this session, also
    /// after a new start of the app.
    func keyed(_ call: AccountCall) async throws(SojournError) -> HTTPAnswer {
        guard let record = try await current()?.record, record.session != nil else { throw .notSignedIn }
        var message = try call.message(to: try server())
        let said = Array("\(message.method) \(message.url.path) ".utf8) + (call.isNewEachTime ? random(16) : [])
        message.fields.append(
            HTTPMessageField(
                "Idempotency-Key", IdempotencyKey.ofCall(said + message.body, secret: record.retrySecret)))
        var wasLost = false
        return try await answer(until: message, of: call, wasLost: &wasLost)
    }

    /// Stores the profile of an answer.
    ///
    /// - Parameter isRenewing: whether the next call renews the access token, because it says something else of the user.
    func store(
        profile answer: HTTPAnswer, renewing isRenewing: Bool = false
    ) async throws(SojournError) -> Account {
        guard let members = JSONValue(parsing: answer.body)?.members, let userID = members.text("user_id") else {
            throw Self.notAnAnswer(answer)
        }
        let due = now - 1
        do throws(StoreError) {
            try await update { record in
                guard var session = record.session, session.account.userID == userID, session.user != members else {
                    return false
                }
                session.user = members
                if isRenewing { session.refreshAfter = min(session.refreshAfter ?? due, due) }
                record.session = session
                return true
            }
        } catch { throw SojournError(error) }
        publishState()
        return Account(members: members)
    }
}
