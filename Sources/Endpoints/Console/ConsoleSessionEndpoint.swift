internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page of a session in the console.
extension Endpoints {
    /// `GET /console/sessions/{session_id}`: the session with its tokens, its lifetimes and its events.
    func showConsoleSession(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleSessionPage(stay, nil).response() }
    }

    private func consoleSessionPage(
        _ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) async throws -> ConsolePage {
        let overview = try await services.administration.overview(
            ofSession: try stay.call.sessionID(), limit: ConsoleView.rowsMax)
        var page = ConsoleView(stay, self).session(overview)
        page.notice = notice ?? page.notice
        return page
    }

    /// `POST /console/sessions/{session_id}`: ends the session, or removes its PIN.
    func changeConsoleSession(_ call: Call) async throws -> Response {
        let page = PagePath.consoleSessions.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .support) { stay, form in
            let id = try call.sessionID()
            let act = form["act"].flatMap(SessionAct.init(rawValue:))
            let making: CallMaking = { _ in (act ?? .end).call(on: id) }
            return try await make(
                SentAct(
                    page: page, making: act == nil ? nil : making, word: { _ in act?.word ?? "again" },
                    show: consoleSessionPage), form, for: stay)
        }
    }
}

/// What an admin may do with a session.
enum SessionAct: String, Sendable {
    case end
    case removePIN = "remove-pin"

    /// The word that the page says when it is done.
    var word: String {
        switch self {
        case .end: "ended"
        case .removePIN: "pin-removed"
        }
    }

    func call(on id: Identifier<Session>) -> ConsoleCall {
        switch self {
        case .end: ConsoleCall(method: .delete, path: "/sessions/\(id)")
        case .removePIN: ConsoleCall(method: .delete, path: "/sessions/\(id)/pin")
        }
    }
}
