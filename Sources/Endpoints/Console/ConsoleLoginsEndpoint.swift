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
            let view = ConsoleView(stay, self)
            var user: User?
            if let text {
                user = try await self.user(named: text)
                if user == nil {
                    return view.logins(.init(name: text, phase: phase, isUnknown: true), nil).response(.notFound)
                }
            }
            let cursor = try query.sessionCursor()
            let page = try await services.phoneLogins.logins(
                ofUser: user?.id, in: phase, after: cursor, limit: ConsoleView.rowsMax)
            let filter = ConsoleView.LoginFilter(
                user: user, name: text ?? "", phase: phase, isFirstPage: cursor == nil)
            return view.logins(filter, page).response()
        }
    }

    /// `GET /console/logins/{login_id}`: a login with its phone, its session and its events.
    func showConsoleLogin(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleLoginPage(stay, nil).response() }
    }

    private func consoleLoginPage(
        _ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) async throws -> ConsolePage {
        let login = try await services.phoneLogins.login(try stay.call.loginID())
        let administration = services.administration
        let events = try await administration.events(
            after: 0, limit: ConsoleView.rowsMax, sessionID: login.id)
        let session = try await known { () async throws(ServiceError) in
            try await administration.session(login.id)
        }
        let facts = ConsoleView.PhoneLoginOverview(
            login: login, client: try await services.phoneLogins.client(login.clientID), session: session,
            phone: try await phone(of: login), names: try await userNames(of: events, and: login),
            events: events.reversed())
        var page = ConsoleView(stay, self).login(facts)
        page.notice = notice ?? page.notice
        return page
    }

    /// `POST /console/logins/{login_id}`: ends the login, and the session that came of it.
    func changeConsoleLogin(_ call: Call) async throws -> Response {
        let page = PagePath.consoleLogins.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .support) { stay, form in
            let id = try call.loginID()
            let end: CallMaking = { _ in ConsoleView.end(ofLogin: id) }
            return try await make(
                SentAct(
                    page: page, making: form["act"] == "end" ? end : nil,
                    word: { _ in "login-over" }, show: consoleLoginPage), form, for: stay)
        }
    }

    /// The names of the users of a login and of its events.
    private func userNames(
        of events: [RecordedEvent], and login: PhoneLogin
    ) async throws(ServiceError) -> ConsoleView.UserNames {
        let ids = events.compactMap(\.event.userID) + [login.userID, login.claim?.userID].compactMap(\.self)
        return try await services.administration.usernames(of: Set(ids))
    }

    /// The session of the phone that has claimed a login; nil: none has, or it is forgotten.
    private func phone(of login: PhoneLogin) async throws(ServiceError) -> SessionRecord? {
        guard let id = login.claim?.sessionID else { return nil }
        let administration = services.administration
        return try await known { () async throws(ServiceError) in try await administration.session(id) }
    }

    /// The user with that id, username or address; nil if there is none.
    private func user(named text: String) async throws(ServiceError) -> User? {
        let administration = services.administration
        if let id = Identifier<User>(text),
            let user = try await known({ () async throws(ServiceError) in try await administration.user(.id(id)) })
        {
            return user
        }
        return try await administration.user(called: text)
    }

    /// What `read` finds; nil instead of `notFound`.
    func known<Value>(_ read: () async throws(ServiceError) -> Value) async throws(ServiceError) -> Value? {
        do throws(ServiceError) { return try await read() } catch {
            if case .notFound = error { return nil }
            throw error
        }
    }
}
