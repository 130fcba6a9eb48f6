/// How far a webhook has come.
public struct WebhookDelivery: Sendable {
    /// The name in the configuration.
    public let name: String
    /// The events that were not looked at, `waitingMax` at most. Many of them may be none that the webhook wants.
    public let waiting: Int
    /// The time of the first of them.
    public let waitingSince: Instant?
    /// The time of the first failed delivery since the last successful one; nil if there is none.
    public let failingSince: Instant?

    /// How many events are counted at most.
    public static let waitingMax = 1000
}

extension Administration {
    /// The webhooks whose progress is recorded, by name.
    public func webhookDeliveries() async throws(ServiceError) -> [WebhookDelivery] {
        try await inStore { () async throws(StoreError) in
            var deliveries: [WebhookDelivery] = []
            for (name, progress) in try await store.deliveries().sorted(by: { $0.key < $1.key })
            where DeliveryProgress.clientID(ofLogouts: name) == nil && DeliveryProgress.streamID(of: name) == nil {
                let events = try await store.events(
                    after: progress.cursor, limit: WebhookDelivery.waitingMax, userID: nil, sessionID: nil
                ).filter { $0.event.at >= progress.since }
                deliveries.append(
                    WebhookDelivery(
                        name: name, waiting: events.count, waitingSince: events.first?.event.at,
                        failingSince: progress.failingSince))
            }
            return deliveries
        }
    }
}
