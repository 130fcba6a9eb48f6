public import HTTPClient
public import Sessions
public import Telemetry

/// The events of the audit trail for one webhook: by POST, signed as Standard Webhooks defines (`webhook-id`,
/// `webhook-timestamp`, `webhook-signature`).
struct WebhookSource: DeliverySource {
    let target: WebhookTarget
    let context: ServiceContext
    /// Locates a network address; nil without a geo database.
    let locate: WebhookMessage.Locator?

    var name: String { target.name }
    var receiver: OutboundURL? { target.url }

    func beginning(at now: Instant) -> Instant { now }

    func wants(_ event: RecordedEvent, since: Instant) -> Bool {
        target.events.contains(event) && event.event.at >= since
    }

    func request(_ event: RecordedEvent, to receiver: OutboundURL) async throws(DeliveryProblem) -> OutboundRequest {
        let message: WebhookMessage
        do throws(StoreError) {
            message = try await WebhookMessage(
                event, from: context.store, locate, notMeURL: context.notMeURL, pushes: PushMessages(context))
        } catch { throw DeliveryProblem(cause: "the database does not answer") }
        // The id includes the time, because a restored database may assign the number again.
        let id = "evt_\(event.id)_\(event.event.at.secondsSinceEpoch)"
        return target.request(id, at: context.clock.now, WebhookMessage.encode(message))
    }
}

extension DeliveryKind {
    fileprivate static let webhook = DeliveryKind(
        receiver: "webhook", message: "event", waits: "the webhook waits", isTaken: "the webhook answers again",
        isTriedAgain: "the webhook did not accept an event, and is tried again", isRefused: nil,
        isLost: "the audit trail deletes events that the webhook never accepted",
        holdsLeaseAlways: true)
}

extension Delivery {
    /// The delivery of a webhook, which does nothing before `run`. `node` is the name of this node among all nodes.
    public init(
        webhook target: WebhookTarget, context: ServiceContext,
        client: HTTPClient = HTTPClient(HTTPClient.Options(width: 1)), logger: Logger, metrics: DeliveryMetrics,
        node: String, locate: WebhookMessage.Locator? = nil
    ) {
        let source = WebhookSource(target: target, context: context, locate: locate)
        self.init(
            target.name, .webhook, context: context, client: client, logger: logger, metrics: metrics, node: node
        ) { source }
    }
}
