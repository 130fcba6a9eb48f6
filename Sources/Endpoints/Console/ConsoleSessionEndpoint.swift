internal import Console
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
        _ stay: ConsoleRequest, _ notice: ConsoleNotice?
    ) async throws -> ConsolePage {
        let overview = try await services.administration.overview(
            ofSession: try stay.call.sessionID(), limit: ConsoleView.rowsMax)
        var page = view(stay).session(overview)
        page.notice = notice ?? page.notice
        return page
    }

    /// `POST /console/sessions/{session_id}`: ends the session, or removes its PIN.
    func changeConsoleSession(_ call: Call) async throws -> Response {
        try await consoleForm(
            call, on: .session, of: .consoleSessions.appending(call.parameter), needing: .support,
            checking: { _ = try $0.sessionID() }, consoleSessionPage)
    }
}
