public import Telemetry

/// The counters of one webhook.
public struct WebhookMetrics: Sendable {
    let delivered: Counter
    let failed: Counter
    let lost: Counter
    let failingSeconds: Gauge

    /// The counters of the webhooks `names`, in their order.
    public static func all(_ names: [String], in registry: MetricsRegistry) -> [WebhookMetrics] {
        let name = MetricLabel("webhook", values: names)
        let deliveries = registry.counters(
            "sojourn_webhook_deliveries_total", help: "Events that a webhook took, did not take yet, or never will.",
            labels: [name, MetricLabel("outcome", values: ["delivered", "failed", "lost"])])
        let failingSeconds = registry.gauges(
            "sojourn_webhook_failing_seconds", help: "How long a webhook has not taken its next event.", labels: [name])
        return names.map { name in
            WebhookMetrics(
                delivered: deliveries[name, "delivered"], failed: deliveries[name, "failed"],
                lost: deliveries[name, "lost"], failingSeconds: failingSeconds[name])
        }
    }
}
