import EventLoops
import HTTPClient
import HTTPServer
import Sessions
import Telemetry

@testable import Endpoints
@testable import Federation
@testable import Deliveries
@testable import Server

/// The page of the metrics: a registry in which everything is registered that a server can have.
enum MetricsPage {
    /// Metrics that exist together.
    struct Group {
        let title: String
        /// When a server has them.
        let condition: String
        let metrics: [MetricsRegistry.Description]
    }

    /// Labels that have as many values as the configuration or the API has entries.
    private static let openLabels = [
        "route": "each call, by method and path, and `other`", "provider": "each identity provider, by its name",
        "webhook": "each webhook, by its name",
    ]

    static func text() throws -> String {
        var page = Markdown(
            title: "Metrics", abstract: "Every metric of a server, with its type and labels.",
            source: "the metrics that the code registers")
        page.paragraph(
            """
            `GET /metrics` on the admin listener shows them in the text format of Prometheus. \
            [Monitoring](../Operating/Monitoring.md) says which ones deserve an alert.
            """)
        for group in try groups() {
            page.heading(2, group.title)
            page.paragraph(group.condition)
            page.table(
                ["Metric", "Type", "Labels", "What it shows"],
                group.metrics.map { metric in
                    let labels = metric.labels.map { label in
                        "`\(label.name)`: \(values(of: label))"
                    }
                    return [Markdown.code(metric.name), metric.type, labels.joined(separator: "; "), metric.help]
                })
        }
        return page.text
    }

    /// The values of a label, or in words which ones there are.
    private static func values(of label: MetricLabel) -> String {
        let isOpen = label.values.isEmpty || label.values.count > 40
        return isOpen ? openLabels[label.name] ?? "" : Markdown.codes(label.values)
    }

    static func groups() throws -> [Group] {
        // Gauges read the engine when they are described.
        let engine = HTTPServer(loops: try EventLoopGroup(count: 1))
        let logger = Logger(sink: LogSink { _ in }) { 0 }
        let history = OutcomeHistory(WallClock { Instant(secondsSinceEpoch: 0) })
        let always = "Every server has them."
        return [
            group("Requests", always) { registry in
                _ = EndpointMetrics(registry, routes: Route.all, history: history)
                _ = RateLimiter(RateLimits(), registry) { 0 }
                _ = WaitingCalls(WaitingLimits(), registry)
            },
            group("Connections and limits", always) { registry in
                registry.show(engine, passwords: PasswordHasher()) { 0 }
            },
            group("Database", always) { _ = StoreObservation($0, history, FailureLog(logger), logger) },
            group("SQLite", "Servers on SQLite have it.") { $0.showLog { 0 } },
            group("PostgreSQL", "Servers on PostgreSQL have them.") { registry in
                registry.showClockSkew({ 0 }, allowed: { 0 })
                registry.showFeedLag { 0 }
                _ = RewindMetrics(in: registry)
            },
            group("TLS", "Servers that speak TLS themselves have them.") { registry in
                registry.showTLS(engine) { [("public", 0), ("admin", 0)] }
            },
            group("Identity providers", "Servers with `identity_providers` in their configuration have them.") {
                registry in
                _ = IdentityProviders(
                    [], client: HTTPClient(), clock: WallClock { Instant(secondsSinceEpoch: 0) }, metrics: registry,
                    logger: logger)
                _ = RecheckMetrics(registry, providers: [])
            },
            group("Webhooks", "Servers with `webhooks` in their configuration have them.") { registry in
                _ = DeliveryMetrics.webhooks([], in: registry, clock: WallClock { Instant(secondsSinceEpoch: 0) })
            },
            group("Logout tokens", always) { registry in
                _ = DeliveryMetrics.logoutTokens(in: registry, clock: WallClock { Instant(secondsSinceEpoch: 0) })
            },
            group("Pings", always) { registry in _ = NoticeMetrics(in: registry) },
            group("Security events", always) { registry in
                _ = DeliveryMetrics.securityEvents(in: registry, clock: WallClock { Instant(secondsSinceEpoch: 0) })
            },
            group("Mails", "Servers with a way of mails, `mail.relay` or `mail.webhook_url`, have them.") { registry in
                _ = MailMetrics(in: registry, clock: WallClock { Instant(secondsSinceEpoch: 0) })
            },
            group("Places", "Servers with `geo.database` in their configuration have it.") { registry in
                registry.showGeoDatabase { 0 }
            },
        ]
    }

    private static func group(
        _ title: String, _ condition: String, register: (MetricsRegistry) -> Void
    ) -> Group {
        let registry = MetricsRegistry()
        register(registry)
        return Group(title: title, condition: condition, metrics: registry.descriptions)
    }
}
