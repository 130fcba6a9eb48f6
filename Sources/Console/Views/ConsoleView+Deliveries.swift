internal import AdminActs
internal import HTTP
internal import JSON
public import Pages
public import Sessions

extension ConsoleView {
    /// The webhooks, the receivers of logout tokens, and the streams of security events.
    public func deliveries(
        _ deliveries: DeliveriesOverview, _ notice: ConsoleNotice? = nil
    ) -> ConsolePage {
        let (webhooks, receivers) = (deliveries.webhooks, deliveries.receivers)
        var blocks: [ConsoleBlock] = []
        if deliveries.isFailing {
            let retry = form(
                RetryDeliveries.self, on: ActSubject(""), .consoleDeliveries, label: "Try again now",
                question: "Try everything that has failed at this node again, without waiting any longer?",
                button: "Try again now")
            blocks.append(.acts([retry].compactMap(\.self)))
        }
        blocks += [
            .section(
                "Webhooks",
                [
                    .table(
                        ConsoleTable(
                            "Webhooks", columns: ["Name", "Waiting", "Since", "State"],
                            rows: webhooks.map { webhook in
                                [
                                    "\(webhook.name)", waiting(webhook.waiting, WebhookDelivery.waitingMax),
                                    webhook.waitingSince.map { time($0) } ?? "",
                                    state(webhook.failingSince, webhook.name),
                                ]
                            }, empty: "No webhook is configured, or none was ever looked after.")),
                    .acts(webhooks.compactMap { test(of: $0.name) }),
                ]),
            .section(
                "Logout tokens",
                [
                    .text(
                        "Each end of a session is told to the client's receiver (OpenID Connect Back-Channel Logout)."),
                    .table(
                        ConsoleTable(
                            "Receivers of logout tokens",
                            columns: ["App", "Receiver", "Ends that wait", "Since", "State"],
                            rows: receivers.map { receiver in
                                [
                                    "\(link: PagePath.consoleClients.appending(receiver.clientID), receiver.clientID)",
                                    "\(code: receiver.uri)",
                                    waiting(receiver.waiting, LogoutReceiver.waitingMax),
                                    receiver.waitingSince.map { time($0) } ?? "",
                                    state(receiver.failingSince, DeliveryProgress.name(ofLogoutsTo: receiver.clientID)),
                                ]
                            }, empty: "No client has a receiver.")),
                ]),
            .section("Security events", streams(deliveries.streams)),
        ]
        if let overview = deliveries.mails { blocks.append(mails(overview)) }
        return page(
            .deliveries, "Deliveries",
            lead: "What the server tells other programs. What fails is tried again, at longer and longer intervals.",
            notice: notice, blocks)
    }

    private func test(of name: String) -> ActForm? {
        form(
            TestWebhook.self, on: ActSubject(name), .consoleDeliveries, label: "Test \(name)",
            question: "Send a signed test message to \(name: name)? It comes before all events that wait, and once.",
            fields: [.hidden("webhook", name)], button: "Test \(name)")
    }

    /// What came of a test message, by the answer of the call.
    static func result(of answer: [String: JSONValue]) -> ConsoleNotice {
        let name = answer["webhook"]?.string ?? ""
        let milliseconds = Int(answer["milliseconds"]?.integer ?? 0)
        let said: ConsoleText =
            answer["status"]?.integer.map { "It answered with the status \(Int($0)) after \(milliseconds) ms." }
            ?? "There was no answer, \(plain(answer["failure"]?.string ?? "")), after \(milliseconds) ms."
        let content: ConsoleText =
            answer["content"]?.string.flatMap { $0.isEmpty ? nil : " It said: “\(name: $0)”." } ?? ""
        return answer["taken"]?.bool == true
            ? (.good, "\(name: name) has taken the test message. \(said)\(content)")
            : (.bad, "\(name: name) has not taken the test message. \(said)\(content)")
    }

    func waiting(_ count: Int, _ most: Int) -> ConsoleText {
        count >= most ? "\(count) or more" : "\(count)"
    }

    /// How deliveries of that name go. Those that rest are not tried again.
    func state(_ failingSince: Instant?, _ name: String, rests: Bool = false) -> ConsoleText {
        guard let failingSince else { return "\(badge: "works", .good)" }
        if rests { return "\(badge: "failed", .bad) since \(time(failingSince)), and is not tried again now" }
        let failure = setting.failure(name)
        let cause: ConsoleText =
            failure.map { "The last error was \(name: $0.cause) \(time($0.at)); it is tried again \(time($0.nextAt))." }
            ?? "Another node has the last error in its log."
        return "\(badge: "fails", .bad) since \(time(failingSince)). \(cause)"
    }
}
