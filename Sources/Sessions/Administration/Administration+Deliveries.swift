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

/// What waits for other programs, by receiver, read at one moment.
public struct DeliveriesOverview: Sendable {
    /// The webhooks with a recorded progress, by name.
    public let webhooks: [WebhookDelivery]
    /// The receivers of logout tokens, by client.
    public let receivers: [LogoutReceiver]
    /// The streams of security events, by client.
    public let streams: [EventStreamReport]

    /// The mails to users; nil: none are sent, and none is left.
    public let mails: MailsOverview?

    /// Whether some delivery has failed since the last successful one.
    public var isFailing: Bool {
        webhooks.contains { $0.failingSince != nil } || receivers.contains { $0.failingSince != nil }
            || streams.contains { $0.failingSince != nil }
    }
}

/// What the console's page Now shows of the database, read at one moment.
public struct NowOverview: Sendable {
    /// The newest events of the trail.
    public let trail: Trail
    /// What waits for other programs.
    public let deliveries: DeliveriesOverview
}

extension Administration {
    /// What waits for other programs.
    public func deliveries() async throws(ServiceError) -> DeliveriesOverview {
        let hasMails = context.mails != nil
        return try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                try reader.deliveriesOverview(withMails: hasMails)
            })
    }

    /// The newest events, and what waits for other programs.
    public func now(limit: Int) async throws(ServiceError) -> NowOverview {
        let hasMails = context.mails != nil
        return try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let newest = reader.events(before: .max, limit: limit)
                let deliveries = try reader.deliveriesOverview(withMails: hasMails)
                let events = try newest.value()
                return NowOverview(
                    trail: Trail(events: events, names: try reader.usernames(of: events), next: nil),
                    deliveries: deliveries)
            })
    }
}

extension StoreReader {
    /// What waits for other programs, by two round trips however many receivers there are.
    fileprivate func deliveriesOverview(withMails: Bool) throws(TransactionError) -> DeliveriesOverview {
        let (catalogue, deliveries) = (catalogue(), deliveries())
        let mails = mailsOverview()
        let (clients, progress) = (try catalogue.value().clients.inOrder, try deliveries.value())
        let (webhooks, receivers) = (webhookDeliveries(progress), logoutReceivers(of: clients, progress))
        let streams = eventStreams(of: clients, progress)
        let found = try mails.value()
        return DeliveriesOverview(
            webhooks: try webhooks.value(), receivers: try receivers.value(), streams: try streams.value(),
            mails: withMails || found.counts.waiting + found.counts.dead > 0 ? found : nil)
    }

    /// The webhooks with a recorded progress, by name.
    private func webhookDeliveries(_ all: [String: DeliveryProgress]) -> Answer<[WebhookDelivery]> {
        let asked = all.sorted { $0.key < $1.key }.filter { name, _ in
            DeliveryProgress.clientID(ofLogouts: name) == nil && DeliveryProgress.streamID(of: name) == nil
                && name != DeliveryProgress.mailNotices
        }.map { name, progress in
            (
                name, progress,
                events(after: progress.cursor, limit: WebhookDelivery.waitingMax, userID: nil, sessionID: nil)
            )
        }
        return Answer { () throws(TransactionError) in
            try asked.map { (name, progress, waiting) throws(TransactionError) in
                let events = try waiting.value().filter { $0.event.at >= progress.since }
                return WebhookDelivery(
                    name: name, waiting: events.count, waitingSince: events.first?.event.at,
                    failingSince: progress.failingSince)
            }
        }
    }
}
