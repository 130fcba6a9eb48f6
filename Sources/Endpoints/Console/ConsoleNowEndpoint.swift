internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What happens at present.
extension Endpoints {
    /// `GET /console/now?live=1`: figures of this node, and the newest events of all.
    func showConsoleNow(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let events = try await services.administration.events(before: nil, limit: 1000)
            let isLive = stay.query["live"] == "1"
            return ConsoleView(stay, self)
                .now(metrics.history.last(60), running: metrics.history.running, events, isLive: isLive).response()
        }
    }
}
