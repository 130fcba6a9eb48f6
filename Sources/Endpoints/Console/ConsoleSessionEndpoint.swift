internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page of a session in the console.
extension Endpoints {
    /// `GET /console/sessions/{session_id}`: the session with its tokens, its lifetimes and its events.
    func showConsoleSession(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let administration = services.administration
            let record = try await administration.session(try call.sessionID())
            let check =
                record.session.confirmation == nil
                ? nil : try await administration.providerCheck(of: record.session.id)
            let pin = try await administration.pin(of: record.session.id)
            let events = try await administration.events(
                after: 0, limit: ConsoleView.rowsMax, sessionID: record.session.id)
            let history = try await services.accounts.history(of: record.session.userID, limit: ConsoleView.rowsMax)
            let logins = services.loginSessions
            let id = record.session.id
            let family = ConsoleView.Family(
                phone: try await administration.sessions([record.session.phoneID].compactMap(\.self)).first,
                login: try await known { () async throws(ServiceError) in try await logins.login(id) },
                children: try await administration.sessions(try await logins.children(of: id)))
            return ConsoleView(stay, self)
                .session(record, check, pin, family, events: events.reversed(), history: history).response()
        }
    }

    /// `POST /console/sessions/{session_id}`: ends the session, or removes its PIN.
    func changeConsoleSession(_ call: Call) async throws -> Response {
        let page = PagePath.consoleSessions.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .support) { stay, form in
            let (administration, id) = (services.administration, try call.sessionID())
            switch form["act"] {
            case "end":
                try await administration.endSession(id, by: stay.origin)
                return Self.redirect(to: stay.path(page, saying: "ended"))
            case "remove-pin":
                try await administration.removePIN(of: id, by: stay.origin)
                return Self.redirect(to: stay.path(page, saying: "pin-removed"))
            default: return Self.redirect(to: stay.path(page, saying: "again"))
            }
        }
    }
}
