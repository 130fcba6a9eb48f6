internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// Logins with a phone in the console.
extension Endpoints {
    /// `GET /console/logins?user=&phase=&cursor=`: the logins with a phone, the newest first.
    func showConsoleLogins(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let query = try QueryParameters(call, known: ["user", "phase", "cursor"] + ConsoleRequest.ownParameters)
            let text = try query.text("user")
            let phase = try query.text("phase").flatMap { PhoneLogin.Phase(rawValue: $0) }
            let (view, cursor) = (view(stay), try query.sessionCursor())
            let found = try await services.administration.phoneLogins(
                ofUser: text, in: phase, after: cursor, limit: ConsoleView.rowsMax)
            guard let found else {
                return view.logins(.init(name: text ?? "", phase: phase, isUnknown: true), nil).response(.notFound)
            }
            let filter = ConsoleView.LoginFilter(
                user: found.user, name: text ?? "", phase: phase, isFirstPage: cursor == nil)
            return view.logins(filter, found.logins).response()
        }
    }

    /// `GET /console/logins/{login_id}`: a login with its phone, its session and its events.
    func showConsoleLogin(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleLoginPage(stay, nil).response() }
    }

    private func consoleLoginPage(
        _ stay: ConsoleRequest, _ notice: ConsoleNotice?
    ) async throws -> ConsolePage {
        let overview = try await services.administration.overview(
            ofPhoneLogin: try stay.call.loginID(), limit: ConsoleView.rowsMax)
        var page = view(stay).login(overview)
        page.notice = notice ?? page.notice
        return page
    }

    /// `POST /console/logins/{login_id}`: ends the login, and the session that came of it.
    func changeConsoleLogin(_ call: Call) async throws -> Response {
        try await consoleForm(
            call, on: .login, of: .consoleLogins.appending(call.parameter), needing: .support,
            checking: { _ = try $0.loginID() }, consoleLoginPage)
    }

    /// What `read` finds; nil instead of `notFound`.
    func known<Value>(_ read: () async throws(ServiceError) -> Value) async throws(ServiceError) -> Value? {
        do throws(ServiceError) { return try await read() } catch {
            if case .notFound = error { return nil }
            throw error
        }
    }
}
