internal import HTTP
internal import Sessions
internal import Telemetry

extension Endpoints {
    /// `GET /admin/v1/logout-receivers`: lists the clients that get logout tokens, and what they have not taken.
    func listLogoutReceivers(_ call: Call) async throws -> Response {
        try .json(ListAnswer(try await services.administration.logoutReceivers().map(LogoutReceiverAnswer.init)))
    }

    /// `POST /admin/v1/deliveries/retry`: lets this node try everything that receivers have not taken again, without waiting any
    /// longer.
    func retryDeliveries(_ call: Call) async throws -> Response {
        context.deliveries.retry()
        logger.notice("an admin lets deliveries be tried again", ["actor": .string(call.actor)])
        return .noContent
    }

    /// `POST /admin/v1/webhooks/{name}/test`: sends a test message to a webhook, and answers what came of it.
    func testWebhook(_ call: Call) async throws -> Response {
        guard let test = await machine.testWebhook(call.parameter) else { throw ServiceError.notFound("webhook") }
        logger.notice(
            "an admin tests a webhook", ["actor": .string(call.actor), "webhook": .string(call.parameter)])
        return try .json(WebhookTestAnswer(name: call.parameter, test))
    }
}

/// What came of a test message, as JSON.
private struct WebhookTestAnswer: Encodable {
    let webhook: String
    let webhookID: String
    let taken: Bool
    let milliseconds: Int
    let status: Int?
    let content: String?
    let failure: String?

    init(name: String, _ test: WebhookTest) {
        (webhook, webhookID, taken, milliseconds) = (name, test.id, test.isTaken, test.milliseconds)
        (status, content, failure) = (test.status, test.content, test.failure)
    }

    enum CodingKeys: String, CodingKey {
        case webhook
        case webhookID = "webhook_id"
        case taken
        case milliseconds
        case status
        case content
        case failure
    }
}

/// A receiver of logout tokens as JSON.
private struct LogoutReceiverAnswer: Encodable {
    let clientID: String
    let backchannelLogoutURI: String
    let waiting: Int
    let waitingSince: Int64?
    let failingSince: Int64?

    init(_ receiver: LogoutReceiver) {
        clientID = receiver.clientID
        backchannelLogoutURI = receiver.uri
        waiting = receiver.waiting
        waitingSince = receiver.waitingSince?.secondsSinceEpoch
        failingSince = receiver.failingSince?.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case backchannelLogoutURI = "backchannel_logout_uri"
        case waiting
        case waitingSince = "waiting_since"
        case failingSince = "failing_since"
    }
}

extension Route {
    static let listLogoutReceivers = Route(
        .get, "/admin/v1/logout-receivers", on: .admin, .admin(.read) { try await $0.listLogoutReceivers($1) },
        Operation(
            "list_logout_receivers", .clients, "List receivers of logout tokens",
            "The clients with a `backchannel_logout_uri`, and what they have not taken.",
            answers: [.json("LogoutReceivers", "The receivers.")]))

    static let retryDeliveries = Route(
        .post, "/admin/v1/deliveries/retry", on: .admin, .admin(.support) { try await $0.retryDeliveries($1) },
        Operation(
            "retry_deliveries", .operation, "Try failed deliveries again",
            """
            Webhooks, logout tokens and pushed security events that wait at this node for their next try are \
            sent at once.
            """,
            answers: [.empty("They are tried again.")]))

    static let testWebhook = Route(
        .post, "/admin/v1/webhooks/{name}/test", on: .admin, .admin(.support) { try await $0.testWebhook($1) },
        Operation(
            "test_webhook", .operation, "Test a webhook",
            """
            Sends a signed message of the type `webhook_test` at once and once, before all events that wait, and \
            says what came of it.
            """,
            parameters: ["name.webhook"], answers: [.json("WebhookTest", "What came of the message.")]))
}
