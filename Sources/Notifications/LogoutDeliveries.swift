internal import Locks
public import Sessions
public import Telemetry

/// The deliveries of logout tokens of all clients that have a receiver, each independent of the others.
public struct LogoutDeliveries: Sendable {
    private let context: ServiceContext
    private let logger: Logger
    private let metrics: LogoutMetrics
    private let node: String

    /// Deliveries that do nothing before `run`. `node` is the name of this node among all nodes.
    public init(context: ServiceContext, logger: Logger, metrics: LogoutMetrics, node: String) {
        (self.context, self.logger, self.metrics, self.node) = (context, logger, metrics, node)
    }

    /// Sends tokens until the task is cancelled. A client that is made or changed meanwhile takes part within a second.
    @concurrent public func run() async {
        await withDiscardingTaskGroup { group in
            var started: Set<String> = []
            group.addTask { [context, logger] in await EndRecorder(context: context, logger: logger).run() }
            while !Task.isCancelled {
                for id in await receivers() where started.insert(id).inserted {
                    let delivery = delivery(id)
                    group.addTask { await delivery.run() }
                }
                try? await Task.sleep(for: Webhook.pause)
            }
        }
    }

    /// Logs and counts the ends before `instant` whose tokens were not taken, because the trail is about to delete them.
    public func reportLost(before instant: Instant) async {
        // Events are deleted even if a report fails.
        for id in await receivers() { try? await delivery(id).reportLost(before: instant) }
    }

    private func delivery(_ clientID: String) -> LogoutDelivery {
        LogoutDelivery(clientID: clientID, context: context, logger: logger, metrics: metrics, node: node)
    }

    /// The clients with a receiver. None if the store does not answer.
    private func receivers() async -> [String] {
        guard let clients = try? await context.store.catalogue().clients.values else { return [] }
        return clients.filter { $0.page.backchannelLogoutURI != nil }.map(\.id)
    }
}

/// The counters of the logout tokens of all clients.
public struct LogoutMetrics: Sendable {
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

    /// The counters, in `registry`. `clock` tells how long ends have waited.
    public init(in registry: MetricsRegistry, clock: WallClock) {
        let tokens = registry.counters(
            "sojourn_logout_tokens_total",
            help: "Logout tokens that a client's receiver took, did not take yet, refuses, or never will take.",
            labels: [MetricLabel("outcome", values: ["delivered", "failed", "refused", "lost"])])
        (delivered, failed) = (tokens["delivered"], tokens["failed"])
        (refused, lost) = (tokens["refused"], tokens["lost"])
        let waits = waits
        @Sendable func longest(_ time: @escaping @Sendable (Wait) -> Instant?) -> Double {
            let first = waits.withLock { $0.values.compactMap(time).min() }
            return first.map { Double(max(0, (clock.now - $0).wholeSeconds)) } ?? 0
        }
        registry.gauge(
            "sojourn_logout_tokens_lag_seconds", help: "How long ago the oldest end was that this node has to tell.",
            reading: { longest { $0.since } })
        registry.gauge(
            "sojourn_logout_tokens_failing_seconds",
            help: "How long the client's receiver that fails longest has not taken its next logout token.",
            reading: { longest { $0.failingSince } })
    }

    func note(_ clientID: String, waitingSince since: Instant, failingSince: Instant?) {
        waits.withLock { $0[clientID] = Wait(since: since, failingSince: failingSince) }
    }

    func forget(_ clientID: String) { waits.withLock { $0[clientID] = nil } }
}
