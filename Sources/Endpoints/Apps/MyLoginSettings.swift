internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /v1/me/login-settings`: the state of the user's own switch. It takes the access token, or HTTP Basic with the
    /// password while no token works.
    func loginSettings(_ call: Call, _ session: AuthenticatedSession?) async throws -> Response {
        let (userID, _) = try await accountOwner(call, session, nil)
        return try .json(LoginSettingsAnswer(try await services.accounts.user(userID)))
    }

    /// `PUT /v1/me/login-settings`: the user's own switch. It accepts an access token, HTTP Basic with the password, or an ID
    /// token in the body, so that users with or without a password can enable logins again while no access token is valid.
    func changeLoginSettings(_ call: Call, _ session: AuthenticatedSession?) async throws -> Response {
        let members = try Members(
            call, known: ["logins_disabled", "effective", "revoke_sessions"] + Members.idTokenNames)
        guard let isDisabled = try members.bool("logins_disabled") else {
            throw members.refused("logins_disabled", "is missing")
        }
        let effective = try members.word("effective", as: User.LoginDisabling.Effective.self) ?? .immediate
        let revokesSessions = try members.bool("revoke_sessions") ?? false
        let (userID, proof) = try await accountOwner(call, session, try members.identityToken())
        let (user, ended) = try await services.accounts.setLogins(
            of: userID, shownBy: proof, disabled: isDisabled, effective: effective, revokesSessions: revokesSessions,
            providers: identityVerifier?.providerNames ?? [], from: call.origin)
        return try .json(LoginSettingsAnswer(user, revoked: revokesSessions ? ended : nil))
    }

    /// The user of the account that the call may change, and the proof of ownership.
    private func accountOwner(
        _ call: Call, _ session: AuthenticatedSession?, _ token: IdentityToken?
    ) async throws -> (Identifier<User>, AccountProof) {
        if let token {
            guard try call.authorization() == nil else {
                throw RequestProblem.invalid("id_token", "must not come beside the field Authorization")
            }
            guard let identityVerifier else { throw ServiceError.identityRefused(.unknownProvider) }
            let userID = try await rateLimiter.identity(in: call) { () async throws(ServiceError) in
                try await services.accounts.verifiedUser(by: token, of: identityVerifier, from: call.origin)
            }
            return (userID, .identity)
        }
        if let session { return (session.user.id, .session(session.session.id)) }
        guard case .basic(let credentials)? = try call.authorization() else { throw RequestProblem.unauthenticated }
        let user = try await rateLimiter.password(in: call) { () async throws(ServiceError) in
            try await services.accounts.verifiedUser(
                username: credentials.userID, password: credentials.password, from: call.origin)
        }
        return (user.id, .password(hash: user.passwordHash))
    }
}

/// The state of the user's own switch as JSON.
struct LoginSettingsAnswer: Encodable {
    let loginsDisabled: Bool
    let effective: String?
    let since: Int64?
    /// The number of ended sessions, if the request asked to end them.
    let revoked: Int?

    init(_ user: User, revoked: Int? = nil) {
        loginsDisabled = user.disabledByUser != nil
        effective = user.disabledByUser?.effective.rawValue
        since = user.disabledByUser?.since.secondsSinceEpoch
        self.revoked = revoked
    }

    enum CodingKeys: String, CodingKey {
        case loginsDisabled = "logins_disabled"
        case effective, since, revoked
    }
}

extension Route {
    static let loginSettings = Route(
        .get, "/v1/me/login-settings", challenge: .bearerOrBasic, onProbation: false,
        .owner { try await $0.loginSettings($1, $2) },
        Operation(
            "my_login_settings", .me, "Show my switch for logins",
            """
            The state of the user's own switch. The call takes an access token, or HTTP Basic with name and \
            password while no token works.
            """,
            answers: [.json("LoginSettings", "The switch.")],
            errors: [.originNotAllowed, .passwordOrTokenUnauthorized, .tooManyRequests]))

    static let changeLoginSettings = Route(
        .put, "/v1/me/login-settings", challenge: .bearerOrBasic, onProbation: false,
        .owner { try await $0.changeLoginSettings($1, $2) },
        Operation(
            "change_my_login_settings", .me, "Switch my logins off or on",
            """
            The user's own switch. The call takes an access token, HTTP Basic with name and password, or an ID \
            token in the body, because no token works while logins are off. A user with neither a password nor \
            an identity of a configured provider cannot switch logins off at once, because nothing could switch \
            them on again. With `revoke_sessions` it ends all sessions in the same step.
            """,
            takes: .json("LoginSettingsChange"), security: [.bearer, .dpop, .password, .nothing],
            answers: [.json("LoginSettings", "The switch.")],
            errors: [
                .loginSettingsUnauthorized, .loginSettingsForbidden, .notFound, .passwordMissing, .tooManyRequests,
            ]))
}
