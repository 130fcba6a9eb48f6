internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What is sent to other programs, in the console.
extension Endpoints {
    /// `GET /console/deliveries`: the webhooks, the receivers of logout tokens and the streams of security events, with what waits
    /// for them.
    func showConsoleDeliveries(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleDeliveriesPage(stay).response() }
    }

    private func consoleDeliveriesPage(
        _ stay: ConsoleStay, _ notice: (look: ConsoleLook, text: ConsoleText)? = nil
    ) async throws -> ConsolePage {
        ConsoleView(stay, self).deliveries(try await deliveries(), notice)
    }

    /// What waits, by receiver.
    func deliveries() async throws -> ConsoleView.Deliveries {
        ConsoleView.Deliveries(
            webhooks: try await services.administration.webhookDeliveries(),
            receivers: try await services.administration.logoutReceivers(),
            streams: try await services.eventStreams.all())
    }

    /// `POST /console/deliveries`: sets the status of a stream, lets it carry a verification event, tests a webhook, or lets this
    /// node try what has failed again, without waiting any longer.
    func changeConsoleDeliveries(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleDeliveries, needing: .support) { stay, form in
            let act = form["act"].flatMap(ConsoleView.StreamAct.init(rawValue:))
            let isTest = form["act"] == "webhook-test"
            if let act, !stay.may(act.scope) {
                return ConsoleView(stay, self).refusal(act.scope).response(.forbidden)
            }
            let made =
                act?.call(on: form["client"] ?? "", because: form.value("reason"))
                ?? (isTest ? ConsoleView.testCall(form["webhook"] ?? "") : ConsoleView.retry)
            switch try await attempt(made, for: stay) {
            case .success(let answer) where isTest:
                return try await consoleDeliveriesPage(stay, ConsoleView.result(of: answer)).response()
            case .success: return Self.redirect(to: stay.path(.consoleDeliveries, saying: act?.word ?? "retried"))
            case .failure(let refusal):
                let notice: (ConsoleLook, ConsoleText) = (.bad, "\(sentence: refusal.sentence)")
                return try await consoleDeliveriesPage(stay, notice).response(.unprocessable)
            }
        }
    }
}
