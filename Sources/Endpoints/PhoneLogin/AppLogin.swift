internal import HTTP
internal import Pages
internal import Sessions

extension Endpoints {
    /// `POST /v1/me/app-login`: a web session for the phone's own app, in two calls. `{client_id}` opens the login; then
    /// `{login_id}` with the members of a second factor answers a nonce, which is good once and for thirty seconds.
    func logInInApp(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["client_id", "login_id", "pin", "passkey"] + Members.evidenceNames)
        let key = try call.idempotencyKey()
        guard let text = try members.string("login_id") else {
            guard let clientID = try members.identifier("client_id") else {
                throw members.refused("client_id", "is missing, or login_id")
            }
            let login = try await services.phoneLogins.openInApp(
                clientID: clientID, by: session, key: key, from: call.origin)
            return try .json(AppLoginAnswer(login: try await answer(login, call)))
        }
        guard let id = Identifier<Session>(text) else { throw ServiceError.notFound("login") }
        let login = try await prove(try secondFactor(members), number: nil, on: id, call, session, key: key)
        var answer = AppLoginAnswer(login: try await answer(login, call))
        guard let nonce = services.phoneLogins.webNonce(of: login) else { throw ServiceError.login(.notAwaited) }
        answer.webNonce = nonce
        let client = try await services.pageLogin.client(login.clientID)
        answer.url = client?.appLoginPage == nil ? nil : url(.loginApp) + "#" + nonce
        answer.expiresIn = services.phoneLogins.webNonceLifetime(of: login).wholeSeconds
        return try .json(answer)
    }
}

/// A login in the phone's own app, with the nonce once it is approved.
private struct AppLoginAnswer: Encodable {
    let login: PhoneLoginAnswer
    var webNonce: String?
    var url: String?
    var expiresIn: Int64?

    enum CodingKeys: String, CodingKey {
        case login
        case webNonce = "web_nonce"
        case url
        case expiresIn = "expires_in"
    }
}

extension Route {
    static let logInInApp = Route(
        .post, "/v1/me/app-login", onProbation: false, .user(.account) { try await $0.logInInApp($1, $2) },
        Operation(
            "log_in_in_app", .logins, "Open a web session for the app",
            """
            In two calls: `client_id` opens the login, and `login_id` with a second factor answers the nonce. A \
            second factor is always needed. The nonce goes to the token endpoint as `device_code`, once.
            """,
            takes: .json("AppLogin"), parameters: ["Idempotency-Key"],
            answers: [.json("AppLoginAnswer", "The login, and the nonce once it is approved.")],
            errors: [.loginForbidden, .notFound, .loginConflict, .tooManyRequests]))
}
