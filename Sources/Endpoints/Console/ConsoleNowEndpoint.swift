internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What happens at present.
extension Endpoints {
    /// `GET /console/now?live=1`: figures of this node, and the newest events of all.
    func showConsoleNow(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let events = try await services.administration.events(before: nil, limit: ConsoleView.eventsMax)
            return ConsoleView(stay, self)
                .now(metrics.history.last(60), running: metrics.history.running, events, isLive: stay.call.isOfLivePage)
                .response()
        }
    }
}

extension Call {
    /// Whether the page of the answer loads itself again and again. Such a request does not count as use, because it would keep an
    /// abandoned browser signed in.
    var isOfLivePage: Bool {
        request.target.path == PagePath.consoleNow.text
            && AuthorizationParameters((try? request.queryItems()) ?? [])["live"] == "1"
    }
}
