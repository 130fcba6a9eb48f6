internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The page of a user in the console.
extension Endpoints {
    /// `GET /console/users/{user}?cursor=`: the user with sessions, passkeys, identities and events.
    func showConsoleUser(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleUserPage(stay, nil).response() }
    }

    /// `POST /console/users/{user}`: does what the form's `act` says.
    func changeConsoleUser(_ call: Call) async throws -> Response {
        let page = PagePath.consoleUsers.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .support) { stay, form in
            guard let id = Identifier<User>(call.parameter) else { throw ServiceError.notFound("user") }
            let act = form["act"].flatMap(UserAct.init(rawValue:))
            var making: CallMaking?
            if let act { making = { values throws(ConsoleRefusal) in try act.call(on: id, values) } }
            return try await make(
                SentAct(
                    page: act == .delete ? .consoleUsers : page,
                    making: making,
                    word: { act?.word($0) ?? "again" }, show: consoleUserPage,
                    own: { answer in act == .reset ? self.resetLink(answer) : nil }),
                form, for: stay)
        }
    }

    /// `GET /console/new-user`: a form for a new user.
    func showConsoleNewUser(_ call: Call) async throws -> Response {
        try await console(call, needing: .owner) { stay in ConsoleView(stay, self).newUser(nil).response() }
    }

    /// `POST /console/new-user`: makes a user.
    func createConsoleUser(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleNewUser, needing: .owner) { stay, form in
            let view = ConsoleView(stay, self)
            let act = SentAct(
                page: .consoleNewUser, making: ConsoleView.creation, word: { _ in "user-created" },
                landing: { answer in PagePath.consoleUsers.appending(answer["user_id"]?.string ?? "") },
                show: { _, notice in view.newUser(notice) })
            return try await make(act, form, for: stay)
        }
    }

    /// The sentence with the link for a new password, which is shown once.
    private func resetLink(_ answer: [String: JSONValue]) -> (look: ConsoleLook, text: ConsoleText)? {
        guard let link = answer["link"]?.string, let end = answer["expires_at"]?.integer else { return nil }
        return ConsoleView.resetLink(link, Instant(secondsSinceEpoch: end))
    }

    private func consoleUserPage(
        _ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) async throws -> ConsolePage {
        guard let id = Identifier<User>(stay.call.parameter) else { throw ServiceError.notFound("user") }
        let overview = try await services.administration.overview(
            ofUser: id, after: stay.query["cursor"].flatMap { SessionCursor($0) }, limit: ConsoleView.rowsMax,
            lookMax: placeEventsMax)
        return ConsoleView(stay, self).user(overview, notice)
    }
}
