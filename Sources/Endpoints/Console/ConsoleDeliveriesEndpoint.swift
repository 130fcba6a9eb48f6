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
        _ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) async throws -> ConsolePage {
        ConsoleView(stay, self).deliveries(try await services.administration.deliveries(), notice)
    }

    /// `POST /console/deliveries`: sets the status of a stream, lets it carry a verification event, tests a webhook, or lets this
    /// node try what has failed again, without waiting any longer.
    func changeConsoleDeliveries(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleDeliveries, needing: .support) { stay, form in
            let act = form["act"].flatMap(ConsoleView.StreamAct.init(rawValue:))
            let (isTest, isRetry) = (form["act"] == "webhook-test", form["act"] == "retry")
            let (client, webhook) = (form["client"] ?? "", form["webhook"] ?? "")
            let making: CallMaking = { values in
                act?.call(on: client, because: values["reason"])
                    ?? (isTest ? ConsoleView.testCall(webhook) : ConsoleView.retry)
            }
            return try await make(
                SentAct(
                    page: .consoleDeliveries, making: act != nil || isTest || isRetry ? making : nil,
                    word: { _ in act?.word ?? "retried" }, show: consoleDeliveriesPage,
                    own: { answer in isTest ? ConsoleView.result(of: answer) : nil }), form, for: stay)
        }
    }
}
