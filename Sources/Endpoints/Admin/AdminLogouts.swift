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
