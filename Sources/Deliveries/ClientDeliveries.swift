internal import HTTPClient
public import Sessions
internal import Telemetry

/// The deliveries of one kind to the receivers of all clients, each independent of the others.
public struct ClientDeliveries: Sendable {
    private let kind: DeliveryKind
    private let context: ServiceContext
    private let logger: Logger
    private let metrics: DeliveryMetrics
    private let node: String
    private let source: @Sendable (Client) -> (any DeliverySource)?
    /// The options of each receiver's HTTP client.
    var options = HTTPClient.Options(width: 1)

    /// Deliveries that do nothing before `run`. `source` returns nil for a client without a receiver.
    init(
        kind: DeliveryKind, destinations: HTTPClient.Destinations = .anywhere, context: ServiceContext, logger: Logger,
        metrics: DeliveryMetrics, node: String, source: @escaping @Sendable (Client) -> (any DeliverySource)?
    ) {
        (self.kind, self.context, self.logger) = (kind, context, logger)
        (self.metrics, self.node, self.source) = (metrics, node, source)
        options.destinations = destinations
    }

    /// Sends messages until the task is cancelled. A receiver that is made or changed meanwhile takes part within a second.
    @concurrent public func run() async {
        await withDiscardingTaskGroup { group in
            var started: Set<String> = []
            while !Task.isCancelled {
                for id in await clients() where started.insert(id).inserted {
                    let delivery = delivery(to: id)
                    group.addTask { await delivery.run() }
                }
                try? await Task.sleep(for: Delivery.pause)
            }
        }
    }

    /// Logs and counts the messages before `instant` that were not taken, because the trail is about to delete their events.
    public func reportLost(before instant: Instant) async {
        for id in await clients() { try? await delivery(to: id).reportLost(before: instant) }
    }

    func delivery(to clientID: String) -> Delivery {
        Delivery(
            clientID, kind, context: context, client: HTTPClient(options), logger: logger, metrics: metrics, node: node
        ) { [context, source] () async throws(StoreError) in
            try await context.store.catalogue().clients[clientID].flatMap(source)
        }
    }

    /// The clients with a source. None if the store does not answer.
    private func clients() async -> [String] {
        guard let clients = try? await context.store.catalogue().clients.values else { return [] }
        return clients.filter { source($0) != nil }.map(\.id)
    }
}
