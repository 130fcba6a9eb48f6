internal import AdminActs
internal import Console
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
        try await consoleForm(
            call, on: .user, of: .consoleUsers.appending(call.parameter), needing: .support,
            checking: { guard Identifier<User>($0.parameter) != nil else { throw ServiceError.notFound("user") } },
            consoleUserPage)
    }

    /// `GET /console/new-user`: a form for a new user.
    func showConsoleNewUser(_ call: Call) async throws -> Response {
        try await console(call, needing: .owner) { stay in view(stay).newUser(nil).response() }
    }

    /// `POST /console/new-user`: makes a user.
    func createConsoleUser(_ call: Call) async throws -> Response {
        try await consoleForm(call, on: .newUser, of: .consoleNewUser, needing: .owner) { stay, notice in
            view(stay).newUser(notice)
        }
    }

    private func consoleUserPage(
        _ stay: ConsoleRequest, _ notice: ConsoleNotice?
    ) async throws -> ConsolePage {
        guard let id = Identifier<User>(stay.call.parameter) else { throw ServiceError.notFound("user") }
        let overview = try await services.administration.overview(
            ofUser: id, after: stay.query["cursor"].flatMap { SessionCursor($0) }, limit: ConsoleView.rowsMax,
            lookMax: placeEventsMax)
        return view(stay).user(overview, notice)
    }
}
