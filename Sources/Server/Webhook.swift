internal import Cryptography
internal import FoundationEssentials
internal import HTTP
internal import HTTPClient
internal import Sessions
internal import Telemetry

/// Tells somebody what has happened, event by event of the audit trail, in order, each at least once: by POST, signed as
/// Standard Webhooks has it (`webhook-id`, `webhook-timestamp`, `webhook-signature`). What fails is tried again, slower and
/// slower, for as long as the trail keeps the event; nothing overtakes it. Of several nodes one sends, until it is gone.
struct Webhook: Sendable {
    /// Whom to tell, of what.
    struct Target: Sendable {
        let url: OutboundURL
        let secret: [UInt8]
        let kinds: Set<AuditEvent.Kind>
    }

    /// When to look again.
    enum Step: Equatable {
        /// At once: there may be more.
        case again
        /// After the pause: nothing is there, or another node works.
        case idle
        /// After this time: the delivery failed.
        case failed(Duration)
    }

    /// How long nobody looks, when there is nothing to send.
    static let pause = Duration.seconds(1)
    /// A node that was not heard from for so long is gone.
    static let lease = Duration.seconds(30)
    static let longestDelay = Duration.seconds(300)
    private static let pageMax = 100

    let target: Target
    let context: ServiceContext
    let client: HTTPClient
    let logger: Logger
    let metrics: WebhookMetrics
    /// Tells this node from others.
    let node: String

    /// Works until the task is cancelled.
    @concurrent func run() async {
        var failures = 0
        while !Task.isCancelled {
            let step = await step(failures: failures)
            switch step {
            case .again: failures = 0
            case .idle: try? await Task.sleep(for: Self.pause)
            case .failed(let delay):
                failures += 1
                try? await Task.sleep(for: delay)
            }
        }
        // Whoever takes over need not wait for the end of the lease.
        _ = try? await context.store.updateWebhook { [node, clock = context.clock] progress in
            if progress?.holder == node { progress?.heldUntil = clock.now }
        }
    }

    /// Sends what comes next, if this node is the one to do so.
    func step(failures: Int) async -> Step {
        do throws(StoreError) {
            guard let progress = try await take(for: Self.lease) else { return .idle }
            let events = try await context.store.events(
                after: progress.cursor, limit: Self.pageMax, userID: nil, sessionID: nil)
            guard let last = events.last else { return .idle }
            // What nobody wants to hear of is gone past together with what comes before it.
            let wanted = events.first { target.kinds.contains($0.event.kind) && $0.event.at >= progress.since }
            if let wanted {
                if let problem = await send(wanted) { return try await fail(wanted, problem, failures) }
                metrics.delivered.increment()
                metrics.failingSeconds.set(0)
                if progress.failingSince != nil { logger.notice("the webhook answers again", [:]) }
            }
            let done = wanted?.id ?? last.id
            return try await advance(to: done) ? .again : .idle
        } catch {
            logger.warning("the webhook waits for the database", ["cause": .string("\(error)")])
            return .failed(Self.pause)
        }
    }

    /// How far the webhook is, if this node may send now; then it may for `lease` longer.
    private func take(for lease: Duration) async throws(StoreError) -> WebhookProgress? {
        let (now, node) = (context.clock.now, node)
        return try await context.store.updateWebhook { progress in
            var current = progress ?? WebhookProgress(since: now)
            guard current.holder == node || now >= current.heldUntil else { return nil }
            // A write for each look would cost more than it tells.
            if current.holder != node || current.heldUntil < now + lease / 2 {
                (current.holder, current.heldUntil) = (node, now + lease)
            }
            progress = current
            return current
        }
    }

    /// Notes that everything up to `cursor` is done with. False: another node has taken over.
    private func advance(to cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.updateWebhook { [node] progress in
            guard progress?.holder == node else { return false }
            progress?.cursor = cursor
            progress?.failingSince = nil
            return true
        }
    }

    private func fail(_ event: RecordedEvent, _ problem: String, _ failures: Int) async throws(StoreError) -> Step {
        metrics.failed.increment()
        let delay = min(Self.longestDelay, .seconds(1 << min(failures, 10)))
        let now = context.clock.now
        let since = try await context.store.updateWebhook { [node] progress in
            guard progress?.holder == node else { return now }
            progress?.heldUntil = now + delay + Self.lease
            let since = progress?.failingSince ?? now
            progress?.failingSince = since
            return since
        }
        metrics.failingSeconds.set(max(0, (now - since).wholeSeconds))
        logger.warning(
            "the webhook was not taken, and is tried again",
            [
                "cause": .string(problem), "event": .int(Int(event.id)), "tries": .int(failures + 1),
                "next_try_seconds": .int(Int(delay.wholeSeconds)),
            ])
        return .failed(delay)
    }

    /// Sends one event. What was wrong, if it was not taken.
    private func send(_ event: RecordedEvent) async -> String? {
        let body: [UInt8]
        do throws(StoreError) {
            body = WebhookMessage.encode(try await WebhookMessage(event, from: context.store))
        } catch { return "the database does not answer" }
        let (id, timestamp) = ("evt_\(event.id)", String(context.clock.now.secondsSinceEpoch))
        let fields: Fields = [
            "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp,
            "webhook-signature": Self.signature(id, timestamp, body, secret: target.secret),
        ]
        do throws(OutboundError) {
            let answer = try await client.send(OutboundRequest(.post, target.url, fields: fields, body: body))
            return (200..<300).contains(answer.status) ? nil : "status \(answer.status)"
        } catch { return error.word }
    }

    /// The signature of a message, as Standard Webhooks has it: of id, time and content, parted by dots.
    static func signature(_ id: String, _ timestamp: String, _ body: [UInt8], secret: [UInt8]) -> String {
        let tag = HMACSHA256Key(secret).authenticate(Array("\(id).\(timestamp).".utf8) + body)
        return "v1," + Data(tag).base64EncodedString()
    }

    /// The secret that a file holds: `whsec_` and 24 to 64 bytes in base64.
    static func secret(_ text: String) -> [UInt8]? {
        let line = text.split(whereSeparator: \.isWhitespace)
        guard line.count == 1, line[0].hasPrefix("whsec_"),
            let bytes = Data(base64Encoded: String(line[0].dropFirst("whsec_".count))), (24...64).contains(bytes.count)
        else { return nil }
        return Array(bytes)
    }
}

/// What the webhook counts.
struct WebhookMetrics: Sendable {
    let delivered: Counter
    let failed: Counter
    let failingSeconds: Gauge

    init(_ registry: MetricsRegistry) {
        let deliveries = registry.counters(
            "sojourn_webhook_deliveries_total", help: "Events that were sent to the webhook.",
            labels: [MetricLabel("outcome", values: ["delivered", "failed"])])
        (delivered, failed) = (deliveries["delivered"], deliveries["failed"])
        failingSeconds = registry.gauge(
            "sojourn_webhook_failing_seconds", help: "How long the webhook has not taken its next event.")
    }
}
