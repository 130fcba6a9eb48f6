internal import Locks
public import Sessions
public import Telemetry

/// The counters of one webhook, of the logout tokens of all clients, or of all streams of security events.
public struct DeliveryMetrics: Sendable {
    /// What a receiver has not taken.
    private struct Wait {
        let since: Instant
        var failingSince: Instant?
    }

    let delivered: Counter
    let failed: Counter
    /// Nil for webhooks: their messages are never refused.
    let refused: Counter?
    let lost: Counter
    /// By the name of the delivery.
    private let waits = Locked<[String: Wait]>([:])

    /// The counters of the webhooks `names`, in their order. `clock` tells how long events have waited.
    public static func webhooks(
        _ names: [String], in registry: MetricsRegistry, clock: WallClock
    ) -> [DeliveryMetrics] {
        let outcomes = registry.counters(
            "sojourn_webhook_deliveries_total", help: "Events that a webhook took, did not take yet, or never will.",
            labels: [
                MetricLabel("webhook", values: names), MetricLabel("outcome", values: ["delivered", "failed", "lost"]),
            ])
        let all = names.map { name in
            DeliveryMetrics(
                delivered: outcomes[name, "delivered"], failed: outcomes[name, "failed"], refused: nil,
                lost: outcomes[name, "lost"])
        }
        registry.gauges(
            "sojourn_webhook_failing_seconds", help: "How long a webhook has not taken its next event.",
            label: "webhook"
        ) { zip(names, all).map { (labelValue: $0, value: $1.longest(\.failingSince, clock)) } }
        return all
    }

    /// The counters of logout tokens. `clock` tells how long ends have waited.
    public static func logoutTokens(in registry: MetricsRegistry, clock: WallClock) -> DeliveryMetrics {
        DeliveryMetrics(
            in: registry, clock,
            total: (
                "sojourn_logout_tokens_total",
                "Logout tokens that a client's receiver took, did not take yet, refuses, or never will take."
            ),
            lag: (
                "sojourn_logout_tokens_lag_seconds", "How long ago the oldest end was that this node has to tell."
            ),
            failing: (
                "sojourn_logout_tokens_failing_seconds",
                "How long the client's receiver that fails longest has not taken its next logout token."
            ))
    }

    /// The counters of pushed security events. `clock` tells how long events have waited.
    public static func securityEvents(in registry: MetricsRegistry, clock: WallClock) -> DeliveryMetrics {
        DeliveryMetrics(
            in: registry, clock,
            total: (
                "sojourn_security_events_total",
                "Security events that a receiver took by push, did not take yet, refuses, or never will take."
            ),
            lag: (
                "sojourn_security_events_lag_seconds",
                "How long ago the oldest security event was that this node has to push."
            ),
            failing: (
                "sojourn_security_events_failing_seconds",
                "How long the receiver that fails longest has not taken its next security event."
            ))
    }

    private init(delivered: Counter, failed: Counter, refused: Counter?, lost: Counter) {
        (self.delivered, self.failed, self.refused, self.lost) = (delivered, failed, refused, lost)
    }

    private typealias Entry = (name: String, help: String)

    private init(in registry: MetricsRegistry, _ clock: WallClock, total: Entry, lag: Entry, failing: Entry) {
        let outcomes = registry.counters(
            total.name, help: total.help,
            labels: [MetricLabel("outcome", values: ["delivered", "failed", "refused", "lost"])])
        self.init(
            delivered: outcomes["delivered"], failed: outcomes["failed"], refused: outcomes["refused"],
            lost: outcomes["lost"])
        let metrics = self
        registry.gauge(lag.name, help: lag.help) { metrics.longest(\.since, clock) }
        registry.gauge(failing.name, help: failing.help) { metrics.longest(\.failingSince, clock) }
    }

    func note(_ delivery: String, waitingSince since: Instant, failingSince: Instant?) {
        waits.withLock { $0[delivery] = Wait(since: since, failingSince: failingSince) }
    }

    func note(_ delivery: String, failingSince: Instant?) {
        waits.withLock { $0[delivery]?.failingSince = failingSince }
    }

    func forget(_ delivery: String) { waits.withLock { $0[delivery] = nil } }

    /// The seconds since the earliest of these times; 0 without one.
    private func longest(_ time: (Wait) -> Instant?, _ clock: WallClock) -> Double {
        let first = waits.withLock { $0.values.compactMap(time).min() }
        return first.map { Double(max(0, (clock.now - $0).wholeSeconds)) } ?? 0
    }
}
