internal import Cryptography
internal import FoundationEssentials
internal import HTTP
internal import HTTPClient
internal import Sessions
internal import Telemetry

/// Tells one target what has happened, event by event of the audit trail, in order, each at least once: by POST, signed as
/// Standard Webhooks has it (`webhook-id`, `webhook-timestamp`, `webhook-signature`). What fails is tried again, slower and
/// slower, for as long as the trail keeps the event; nothing overtakes it. Of several nodes one sends, until it is gone. Targets
/// know nothing of each other.
struct Webhook: Sendable {
    /// Whom to tell, of what.
    struct Target: Sendable {
        /// What tells it from others.
        let name: String
        let url: OutboundURL
        /// One, or two while the receiver changes from one to the other.
        let secrets: [[UInt8]]
        let events: Configuration.Webhook.Events
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
    /// Where network addresses are; nil: nobody knows.
    var places: GeoDatabaseFile?

    /// Works until the task is cancelled.
    @concurrent func run() async {
        var failures = 0
        while !Task.isCancelled {
            let step = await step(failures: failures)
            switch step {
            case .again: failures = 0
            case .idle:
                failures = 0
                try? await Task.sleep(for: Self.pause)
            case .failed(let delay):
                failures += 1
                try? await Task.sleep(for: delay)
            }
        }
        // Whoever takes over need not wait for the end of the lease.
        _ = try? await context.store.updateWebhook(target.name) { [node, clock = context.clock] progress in
            progress?.leave(node, at: clock.now)
        }
    }

    /// Sends what comes next, if this node is the one to do so.
    func step(failures: Int) async -> Step {
        do throws(StoreError) {
            guard let progress = try await take(for: Self.lease) else {
                // Whether it fails is for the node to say that sends.
                metrics.failingSeconds.set(0)
                return .idle
            }
            let events = try await context.store.events(
                after: progress.cursor, limit: Self.pageMax, userID: nil, sessionID: nil)
            guard let last = events.last else { return .idle }
            // What nobody wants to hear of is gone past together with what comes before it.
            let wanted = events.first { isWanted($0, progress) }
            if let wanted {
                if let problem = await send(wanted) { return try await fail(wanted, problem, failures) }
                metrics.delivered.increment()
                metrics.failingSeconds.set(0)
                if progress.failingSince != nil {
                    logger.notice("the webhook answers again", ["webhook": .string(target.name)])
                }
            }
            let done = wanted?.id ?? last.id
            return try await advance(to: done) ? .again : .idle
        } catch {
            logger.warning(
                "the webhook waits for the database",
                ["webhook": .string(target.name), "cause": .string("\(error)")])
            return .failed(Self.pause)
        }
    }

    private func isWanted(_ event: RecordedEvent, _ progress: WebhookProgress) -> Bool {
        target.events.contains(event) && event.event.at >= progress.since
    }

    /// Tells of events from before `instant` that nobody has taken: the trail is about to forget them.
    func tellLost(before instant: Instant) async throws(StoreError) {
        guard let progress = try await take(for: Self.lease) else { return }
        var (cursor, count, isMore) = (progress.cursor, 0, true)
        while isMore {
            let page = try await context.store.events(
                after: cursor, limit: Self.pageMax, userID: nil, sessionID: nil)
            let old = page.prefix { $0.event.at < instant }
            count += old.count { isWanted($0, progress) }
            cursor = old.last?.id ?? cursor
            isMore = old.count == Self.pageMax
        }
        if count == 0 { return }
        metrics.lost.increment(by: UInt64(count))
        logger.error(
            "the audit trail deletes events that the webhook never accepted; audit.retention_days says how long they wait",
            ["webhook": .string(target.name), "count": .int(count)])
    }

    /// How far the webhook is, if this node may send now; then it may for `lease` longer.
    private func take(for lease: Duration) async throws(StoreError) -> WebhookProgress? {
        let (now, node) = (context.clock.now, node)
        return try await context.store.updateWebhook(target.name) { progress in
            var current = progress ?? WebhookProgress(since: now)
            guard current.take(by: node, at: now, for: lease) else { return nil }
            progress = current
            return current
        }
    }

    /// Notes that everything up to `cursor` is done with. False: another node has taken over.
    private func advance(to cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.updateWebhook(target.name) { [node] in $0?.advance(to: cursor, by: node) ?? false }
    }

    private func fail(_ event: RecordedEvent, _ problem: Problem, _ failures: Int) async throws(StoreError) -> Step {
        metrics.failed.increment()
        // Who asks for more time gets it, within the same limit.
        let delay = min(Self.longestDelay, max(problem.retryAfter ?? .zero, .seconds(1 << min(failures, 10))))
        let now = context.clock.now
        let since = try await context.store.updateWebhook(target.name) { [node] progress in
            progress?.fail(by: node, at: now, for: delay, Self.lease)
        }
        metrics.failingSeconds.set(since.map { max(0, (now - $0).wholeSeconds) } ?? 0)
        logger.warning(
            "the webhook did not accept an event, and is tried again",
            [
                "webhook": .string(target.name), "cause": .string(problem.cause), "event": .int(Int(event.id)),
                "tries": .int(failures + 1),
                "next_try_seconds": .int(Int(delay.wholeSeconds)),
            ])
        return .failed(delay)
    }

    /// Why an event was not taken.
    private struct Problem {
        let cause: String
        /// When the receiver wants to see it again, if it says so (RFC 9110 section 10.2.3).
        var retryAfter: Duration?
    }

    /// Sends one event. What was wrong, if it was not taken.
    private func send(_ event: RecordedEvent) async -> Problem? {
        let body: [UInt8]
        do throws(StoreError) {
            body = WebhookMessage.encode(try await WebhookMessage(event, from: context.store, places))
        } catch { return Problem(cause: "the database does not answer") }
        // With its time: a database that was restored from a copy may give the number again.
        let id = "evt_\(event.id)_\(event.event.at.secondsSinceEpoch)"
        do throws(OutboundError) {
            let answer = try await client.send(target.request(id, at: context.clock.now, body))
            if (200..<300).contains(answer.status) { return nil }
            let seconds = answer.fields.first("Retry-After").flatMap { UInt64($0) }.map { min($0, 3600) }
            return Problem(cause: "status \(answer.status)", retryAfter: seconds.map { .seconds($0) })
        } catch { return Problem(cause: error.word) }
    }

    /// The signature of a message, as Standard Webhooks has it: of id, time and content, parted by dots; by each secret one, so
    /// that a receiver that knows either of them takes it.
    static func signature(_ id: String, _ timestamp: String, _ body: [UInt8], secrets: [[UInt8]]) -> String {
        let message = Array("\(id).\(timestamp).".utf8) + body
        return secrets.map { "v1," + Data(HMACSHA256Key($0).authenticate(message)).base64EncodedString() }
            .joined(separator: " ")
    }

    /// The secrets that a file or a variable holds: one or two, each `whsec_` and 24 to 64 bytes in base64, parted by white space
    /// or commas.
    static func secrets(_ text: String) -> [[UInt8]]? {
        let words = text.split { $0.isWhitespace || $0 == "," }
        let secrets = words.compactMap(secret)
        return (1...2).contains(words.count) && secrets.count == words.count ? secrets : nil
    }

    private static func secret(_ word: Substring) -> [UInt8]? {
        guard word.hasPrefix("whsec_"), let bytes = Data(base64Encoded: String(word.dropFirst("whsec_".count))),
            (24...64).contains(bytes.count)
        else { return nil }
        return Array(bytes)
    }
}

extension Webhook.Target {
    /// The request that brings a message, signed.
    func request(_ id: String, at now: Instant, _ body: [UInt8]) -> OutboundRequest {
        let timestamp = String(now.secondsSinceEpoch)
        let fields: Fields = [
            "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp,
            "webhook-signature": Webhook.signature(id, timestamp, body, secrets: secrets),
        ]
        return OutboundRequest(.post, url, fields: fields, body: body)
    }
}

/// What a webhook counts.
struct WebhookMetrics: Sendable {
    let delivered: Counter
    let failed: Counter
    let lost: Counter
    let failingSeconds: Gauge

    /// What each of the webhooks `names` counts, in their order.
    static func all(_ names: [String], in registry: MetricsRegistry) -> [WebhookMetrics] {
        let name = MetricLabel("webhook", values: names)
        let deliveries = registry.counters(
            "sojourn_webhook_deliveries_total",
            help: "Events that a webhook accepted, did not accept yet, or never will.",
            labels: [name, MetricLabel("outcome", values: ["delivered", "failed", "lost"])])
        let failingSeconds = registry.gauges(
            "sojourn_webhook_failing_seconds", help: "How long a webhook has not accepted its next event.",
            labels: [name])
        return names.map { name in
            WebhookMetrics(
                delivered: deliveries[name, "delivered"], failed: deliveries[name, "failed"],
                lost: deliveries[name, "lost"], failingSeconds: failingSeconds[name])
        }
    }
}
