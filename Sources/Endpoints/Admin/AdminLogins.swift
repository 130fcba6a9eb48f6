internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/logins?user=&phase=&cursor=&limit=`: the logins with a phone, newest first.
    func listPhoneLogins(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["user", "phase", "cursor", "limit"])
        var userID: Identifier<User>?
        if let text = try query.text("user") {
            guard let reference = UserReference(text) else { throw ServiceError.notFound("user") }
            userID = try await services.administration.user(reference).id
        }
        let page = try await services.phoneLogins.logins(
            ofUser: userID, in: try query.word("phase", as: PhoneLogin.Phase.self), after: try query.sessionCursor(),
            limit: try query.limit())
        return try .json(ListAnswer(try await answers(page.items, call), nextCursor: page.nextCursor))
    }

    /// `GET /admin/v1/logins/{login_id}`: one login with a phone.
    func showPhoneLogin(_ call: Call) async throws -> Response {
        let login = try await services.phoneLogins.login(try call.loginID())
        // A key of the scope `users` follows the invitations that it makes.
        guard call.adminScope != .users || login.kind == .enrolment else { throw ServiceError.notFound("login") }
        return try .json(try await answer(login, call))
    }

    /// `DELETE /admin/v1/logins/{login_id}`: ends the login, and the session that came of it. The call is idempotent.
    func endPhoneLogin(_ call: Call) async throws -> Response {
        try await services.phoneLogins.end(try call.loginID(), from: call.origin)
        return .noContent
    }
}

extension Route {
    static let listPhoneLogins = Route(
        .get, "/admin/v1/logins", on: .admin, .admin(.read) { try await $0.listPhoneLogins($1) },
        Operation(
            "list_logins", .sessions, "List logins with a phone",
            "The newest comes first.",
            parameters: ["user.logins", "phase", "cursor", "limit"],
            answers: [.json("PhoneLogins", "A page.")], errors: [.notFound]))

    static let showPhoneLogin = Route(
        .get, "/admin/v1/logins/{login_id}", on: .admin,
        .admin(.read, or: .users) { try await $0.showPhoneLogin($1) },
        Operation(
            "show_login", .sessions, "Show a login with a phone",
            "Logins are kept for 30 days.",
            answers: [.json("PhoneLogin", "The login.")]))

    static let endPhoneLogin = Route(
        .delete, "/admin/v1/logins/{login_id}", on: .admin, .admin(.support) { try await $0.endPhoneLogin($1) },
        Operation(
            "end_login", .sessions, "End a login with a phone",
            "Ends the session that came of it as well. A repeated call is no error.",
            answers: [.empty("The login is over.")]))
}
