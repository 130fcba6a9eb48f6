internal import Locks
public import Sessions
public import Telemetry

/// The counters of mails, and what is known of those that wait.
public struct MailMetrics: Sendable {
    /// What this node last saw.
    struct State {
        var counts = MailCounts(waiting: 0, dead: 0, oldest: nil)
        var failingSince: Instant?
        var isFull = false
    }

    private static let outcomes = MailOutcome.allCases.filter { $0 != .held }

    private let totals: MetricFamily<Counter>
    let seconds: Histogram
    private let state = Locked(State())

    /// The counters, in `registry`. `clock` tells how long mails have waited.
    public init(in registry: MetricsRegistry, clock: WallClock) {
        totals = registry.counters(
            "sojourn_mails_total",
            help:
                "Mails that were sent, are tried again, were refused, given up, or not sent because their time or reason is over.",
            labels: [
                MetricLabel("kind", values: QueuedMail.Kind.withText.map(\.rawValue)),
                MetricLabel("outcome", values: Self.outcomes.map(\.rawValue)),
            ])
        seconds = registry.histogram(
            "sojourn_mail_seconds", help: "How long the relay or the receiver took for a mail.",
            buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
        let state = state
        @Sendable func age(_ instant: Instant?) -> Double {
            instant.map { Double(max(0, (clock.now - $0).wholeSeconds)) } ?? 0
        }
        registry.gauge(
            "sojourn_mails_waiting", help: "Mails of all nodes that wait, for the first or a further attempt."
        ) {
            Double(state.withLock { $0.counts.waiting })
        }
        registry.gauge("sojourn_mails_dead", help: "Mails of all nodes that are kept, and not tried again.") {
            Double(state.withLock { $0.counts.dead })
        }
        registry.gauge("sojourn_mail_oldest_seconds", help: "How long ago the oldest mail that waits was requested.") {
            age(state.withLock { $0.counts.oldest })
        }
        registry.gauge(
            "sojourn_mail_failing_seconds", help: "How long the relay or the receiver has taken no mail of this node."
        ) { age(state.withLock { $0.failingSince }) }
        registry.gauge(
            "sojourn_mail_hour_full", help: "1 while notices of this node wait because of mail.per_hour, otherwise 0."
        ) { state.withLock { $0.isFull } ? 1 : 0 }
    }

    /// Counts an outcome. A mail that is held is still on its way, and one without a text was never to be sent.
    func count(_ kind: QueuedMail.Kind, _ outcome: MailOutcome) {
        guard kind != .none, outcome != .held else { return }
        totals[kind.rawValue, outcome.rawValue].increment()
    }

    func note(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
}
