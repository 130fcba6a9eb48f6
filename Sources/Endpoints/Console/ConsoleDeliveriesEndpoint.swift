internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What is sent to other programs, in the console.
extension Endpoints {
    /// `GET /console/deliveries`: the webhooks, the receivers of logout tokens and the streams of security events, with what waits
    /// for them.
    func showConsoleDeliveries(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleDeliveriesPage(stay, nil).response() }
    }

    private func consoleDeliveriesPage(
        _ stay: ConsoleRequest, _ notice: ConsoleNotice?
    ) async throws -> ConsolePage {
        view(stay).deliveries(try await services.administration.deliveries(), notice)
    }

    /// `POST /console/deliveries`: sets the status of a stream, lets it carry a verification event, tests a webhook, or lets this
    /// node try what has failed again, without waiting any longer.
    func changeConsoleDeliveries(_ call: Call) async throws -> Response {
        try await consoleForm(call, on: .deliveries, of: .consoleDeliveries, needing: .support, consoleDeliveriesPage)
    }
}
