internal import HTTPClient
internal import Locks
public import Sessions
public import Sockets
public import Telemetry

/// The pushed streams of all clients, each independent of the others.
public struct EventStreamDeliveries: Sendable {
    private let context: ServiceContext
    private let logger: Logger
    private let metrics: EventStreamMetrics
    private let node: String
    private let destinations: HTTPClient.Destinations

    /// Deliveries that do nothing before `run`. `node` is the name of this node among all nodes; `receivers` are the ranges of
    /// addresses, beside public ones, that events may be pushed to.
    public init(
        context: ServiceContext, receivers: [AddressRange], logger: Logger, metrics: EventStreamMetrics, node: String
    ) {
        (self.context, self.logger, self.metrics, self.node) = (context, logger, metrics, node)
        destinations = .publicAddresses(and: receivers)
    }

    /// Pushes events until the task is cancelled. A stream that is made or changed meanwhile takes part within a second.
    @concurrent public func run() async {
        await withDiscardingTaskGroup { group in
            var started: Set<String> = []
            while !Task.isCancelled {
                for id in await receivers(where: \.isPush) where started.insert(id).inserted {
                    let delivery = delivery(id)
                    group.addTask { await delivery.run() }
                }
                try? await Task.sleep(for: Webhook.pause)
            }
        }
    }

    /// Logs and counts the events before `instant` that were not taken, because the trail is about to delete them.
    public func reportLost(before instant: Instant) async {
        // Events are deleted even if a report fails.
        for id in await receivers(where: { _ in true }) { try? await delivery(id).reportLost(before: instant) }
    }

    private func delivery(_ clientID: String) -> EventStreamDelivery {
        EventStreamDelivery(
            clientID: clientID, context: context, destinations: destinations, logger: logger, metrics: metrics,
            node: node)
    }

    /// The clients with such a stream. None if the store does not answer.
    private func receivers(where isWanted: (EventStream) -> Bool) async -> [String] {
        guard let clients = try? await context.store.catalogue().clients.values else { return [] }
        return clients.filter { $0.eventStream.map(isWanted) ?? false }.map(\.id)
    }
}

/// The counters of the pushed streams of all clients.
public struct EventStreamMetrics: Sendable {
    /// What a receiver has not taken, in Unix seconds.
    private struct Wait {
        let since: Instant
        let failingSince: Instant?
    }

    let delivered: Counter
    let failed: Counter
    let refused: Counter
    let lost: Counter
    private let waits = Locked<[String: Wait]>([:])

    /// The counters, in `registry`. `clock` tells how long events have waited.
    public init(in registry: MetricsRegistry, clock: WallClock) {
        let events = registry.counters(
            "sojourn_security_events_total",
            help: "Security events that a receiver took by push, did not take yet, refuses, or never will take.",
            labels: [MetricLabel("outcome", values: ["delivered", "failed", "refused", "lost"])])
        (delivered, failed) = (events["delivered"], events["failed"])
        (refused, lost) = (events["refused"], events["lost"])
        let waits = waits
        @Sendable func longest(_ time: @escaping @Sendable (Wait) -> Instant?) -> Double {
            let first = waits.withLock { $0.values.compactMap(time).min() }
            return first.map { Double(max(0, (clock.now - $0).wholeSeconds)) } ?? 0
        }
        registry.gauge(
            "sojourn_security_events_lag_seconds",
            help: "How long ago the oldest security event was that this node has to push.",
            reading: { longest { $0.since } })
        registry.gauge(
            "sojourn_security_events_failing_seconds",
            help: "How long the receiver that fails longest has not taken its next security event.",
            reading: { longest { $0.failingSince } })
    }

    func note(_ clientID: String, waitingSince since: Instant, failingSince: Instant?) {
        waits.withLock { $0[clientID] = Wait(since: since, failingSince: failingSince) }
    }

    func forget(_ clientID: String) { waits.withLock { $0[clientID] = nil } }
}
