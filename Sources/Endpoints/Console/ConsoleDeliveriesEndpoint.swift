internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions
internal import Telemetry

/// What is sent to other programs, in the console.
extension Endpoints {
    /// `GET /console/deliveries`: the webhooks and the receivers of logout tokens, with what waits for them.
    func showConsoleDeliveries(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let webhooks = try await services.administration.webhookDeliveries()
            let receivers = try await services.administration.logoutReceivers()
            return ConsoleView(stay, self).deliveries(webhooks, receivers).response()
        }
    }

    /// `POST /console/deliveries`: lets this node try what has failed again, without waiting any longer.
    func retryConsoleDeliveries(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleDeliveries, needing: .support) { stay, _ in
            context.deliveries.retry()
            logger.notice("an admin lets deliveries be tried again", ["actor": .string(stay.call.actor)])
            return Self.redirect(to: stay.path(.consoleDeliveries, saying: "retried"))
        }
    }
}
