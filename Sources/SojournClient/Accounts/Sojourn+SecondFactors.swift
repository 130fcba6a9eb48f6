// Second factors: authenticator apps (RFC 6238) and recovery codes.
extension Sojourn {
    /// Begins to add an authenticator app. The app shows `uri` as a picture or a link, and `secret` beside it, and confirms with
    /// the first code.
    ///
    /// The user must have proved to be present in the last five minutes, with a second factor if there is one: otherwise the error
    /// is `presenceRequired`. The user needs a verified mailbox or a passkey, so that no factor locks out the owner of a mailbox.
    public func addAuthenticator(name: String) async throws(SojournError) -> NewAuthenticator {
        try newAuthenticator(in: try await insist(on: .change(.addAuthenticator(name: name))))
    }

    /// Adds an authenticator app to a login of a user without one.
    func addAuthenticator(
        name: String, to login: SecondFactorLogin
    ) async throws(SojournError) -> NewAuthenticator {
        guard let token = login.challenge.token else {
            throw .refused(Refusal(status: 0, code: "second_factor_missing"))
        }
        let record = try await prepareRecord().record
        let members: [String: JSONValue] = [
            "login_token": .string(token), "client_id": .string(configuration.clientID), "name": .string(name),
            "device": .object(["id": .string(record.deviceID)]),
        ]
        let message = try server().request("POST", "/v1/login/totp", members)
        return try newAuthenticator(in: try await answer(until: message), login)
    }

    private func newAuthenticator(
        in answer: HTTPAnswer, _ login: SecondFactorLogin? = nil
    ) throws(SojournError) -> NewAuthenticator {
        guard let members = JSONValue(parsing: answer.body)?.members, let id = members.text("id"),
            let secret = members.text("secret"), let uri = members.text("uri")
        else { throw Self.notAnAnswer(answer) }
        return NewAuthenticator(id: id, secret: secret, uri: uri, login: login, sojourn: self)
    }

    func confirmAuthenticator(_ id: String, code: String) async throws(SojournError) -> [String] {
        do throws(SojournError) {
            return Self.recoveryCodes(in: try await insist(on: .change(.confirmAuthenticator(id, code: code))))
        } catch {
            // The answer to an earlier try may have been lost: then the code was used, and the recovery codes were not seen.
            guard case .refused = error, let factors = try? await secondFactors(),
                factors.authenticators.contains(where: { $0.id == id })
            else { throw error }
            return factors.authenticators.count == 1 ? try await makeRecoveryCodes() : []
        }
    }

    /// The second factors of the user.
    public func secondFactors() async throws(SojournError) -> SecondFactors {
        let answer = try await call(.change(.secondFactors))
        guard let members = JSONValue(parsing: answer.body)?.members, let items = members["items"]?.elements else {
            throw Self.notAnAnswer(answer)
        }
        return SecondFactors(
            authenticators: items.compactMap(Authenticator.init),
            recoveryCodesLeft: Int(clamping: members.integer("recovery_codes_left") ?? 0),
            isBlocked: members["blocked"]?.bool ?? false)
    }

    /// Removes an authenticator app of the user. A second factor must have been shown in the last five minutes.
    public func removeAuthenticator(_ id: Authenticator.ID) async throws(SojournError) {
        _ = try await call(.change(.removeAuthenticator(id)))
    }

    /// Makes new recovery codes, which are shown once. The old ones count no more. The user must have shown a second factor in the
    /// last five minutes.
    public func makeRecoveryCodes() async throws(SojournError) -> [String] {
        let answer = try await insist(on: .change(.makeRecoveryCodes))
        let codes = Self.recoveryCodes(in: answer)
        guard !codes.isEmpty else { throw Self.notAnAnswer(answer) }
        return codes
    }

    /// Proves by password, by the code of an authenticator app, or by both that the user is present. Both within five minutes are
    /// what changes of the account ask for (`mfa`), once the user has a second factor.
    public func showPresence(password: String? = nil, code: String? = nil) async throws(SojournError) {
        _ = try await call(.change(.showPresence(password: password, code: code)))
        await notePresence()
    }

    static func notAnAnswer(_ answer: HTTPAnswer) -> SojournError {
        .unreachable(Unreachable("not an answer of the server", status: answer.status))
    }

    private static func recoveryCodes(in answer: HTTPAnswer) -> [String] {
        (JSONValue(parsing: answer.body)?.members?["recovery_codes"]?.elements ?? []).compactMap(\.text)
    }

    // MARK: Logins in two steps

    /// Ends a login by the code of its second factor.
    func finish(
        _ login: SecondFactorLogin, by code: String, _ reason: String
    ) async throws(SojournError) -> Account {
        let credentials: LoginRequest.Credentials =
            login.challenge.token.map { .secondStep($0, code: code) } ?? .both(login.first, code: code)
        guard let id = login.unlocks else {
            return try await signIn(
                credentials, login.mode, reason, cancelsDeletion: login.cancelsDeletion, secondStepOf: login.challenge)
        }
        let session = try await living()
        // Another session has taken its place meanwhile.
        guard session.sessionID == id else { throw .cancelled }
        return try await logInAgain(credentials, session)
    }

    /// Ends a login by a passkey, which takes the place of both factors.
    func finish(
        _ login: SecondFactorLogin, by authenticator: any PasskeyAuthenticator, _ reason: String
    ) async throws(SojournError) -> Account {
        try await signIn(
            by: authenticator, login.mode, reason, cancelsDeletion: login.cancelsDeletion,
            secondStepOf: login.challenge)
    }
}

extension Authenticator {
    package init?(_ value: JSONValue) {
        guard let members = value.members, let id = members.text("id") else { return nil }
        self.init(
            id: id, name: members.text("name") ?? "", createdAt: members.integer("created_at") ?? 0,
            lastUsedAt: members.integer("last_used_at"))
    }
}
