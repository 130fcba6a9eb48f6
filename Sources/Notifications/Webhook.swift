internal import HTTP
public import HTTPClient
public import Sessions
public import Telemetry

/// Sends the events of the audit trail to one target, in order, each at least once: by POST, signed as Standard Webhooks
/// defines (`webhook-id`, `webhook-timestamp`, `webhook-signature`). A failed delivery is repeated with growing delays for
/// as long as the trail keeps the event, and delays all later events. Only one of several nodes sends, until it stops or
/// its lease expires. Targets are independent of each other.
public struct Webhook: Sendable {
    /// When the next step is due.
    enum Step: Equatable {
        /// At once, because more events may wait.
        case again
        /// After the pause, because no event waits or another node sends.
        case idle
        /// After this time, because the delivery failed.
        case failed(Duration)
    }

    /// The time between two reads of the trail when there is nothing to send.
    static let pause = Duration.seconds(1)
    /// The time after which another node takes over from one that stopped silently.
    static let lease = Duration.seconds(30)
    static let longestDelay = Duration.seconds(300)
    private static let pageMax = 100

    let target: WebhookTarget
    let context: ServiceContext
    let client: HTTPClient
    let logger: Logger
    let metrics: WebhookMetrics
    /// The name of this node among all nodes.
    let node: String
    /// Locates a network address; nil without a geo database.
    var locate: WebhookMessage.Locator?

    /// A webhook that does nothing before `run`. Each has an HTTP client of its own, so that a slow target delays no other.
    public init(
        target: WebhookTarget, context: ServiceContext,
        client: HTTPClient = HTTPClient(HTTPClient.Options(width: 1)), logger: Logger, metrics: WebhookMetrics,
        node: String, locate: WebhookMessage.Locator? = nil
    ) {
        (self.target, self.context, self.client, self.logger) = (target, context, client, logger)
        (self.metrics, self.node, self.locate) = (metrics, node, locate)
    }

    /// The name of the target.
    public var name: String { target.name }

    /// Sends events until the task is cancelled.
    @concurrent public func run() async {
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
                await context.deliveries.wait(for: delay)
            }
        }
        // Another node can take over before the lease expires.
        _ = try? await context.store.updateWebhook(target.name) { [node, clock = context.clock] progress in
            progress?.leave(node, at: clock.now)
        }
    }

    /// Sends the next event, if this node holds the lease.
    func step(failures: Int) async -> Step {
        do throws(StoreError) {
            guard let progress = try await take(for: Self.lease) else {
                // Only the sending node reports failures.
                metrics.failingSeconds.set(0)
                return .idle
            }
            let events = try await context.store.events(
                after: progress.cursor, limit: Self.pageMax, userID: nil, sessionID: nil)
            guard let last = events.last else { return .idle }
            // Unwanted events are skipped together with the ones before them.
            let wanted = events.first { isWanted($0, progress) }
            if let wanted {
                if let problem = await send(wanted) { return try await fail(wanted, problem, failures) }
                metrics.delivered.increment()
                context.deliveries.forget(target.name)
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

    /// Logs and counts the events before `instant` that the target has not taken, because the trail is about to delete them.
    public func reportLost(before instant: Instant) async throws(StoreError) {
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

    /// Takes or renews the lease; nil if another node holds it.
    private func take(for lease: Duration) async throws(StoreError) -> WebhookProgress? {
        let (now, node) = (context.clock.now, node)
        return try await context.store.updateWebhook(target.name) { progress in
            var current = progress ?? WebhookProgress(since: now)
            guard current.take(by: node, at: now, for: lease) else { return nil }
            progress = current
            return current
        }
    }

    /// Records that everything up to `cursor` is done. False if another node has taken over.
    private func advance(to cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.updateWebhook(target.name) { [node] in $0?.advance(to: cursor, by: node) ?? false }
    }

    private func fail(_ event: RecordedEvent, _ problem: Problem, _ failures: Int) async throws(StoreError) -> Step {
        metrics.failed.increment()
        // A `Retry-After` prolongs the delay, within the same limit.
        let delay = min(Self.longestDelay, max(problem.retryAfter ?? .zero, .seconds(1 << min(failures, 10))))
        let now = context.clock.now
        let since = try await context.store.updateWebhook(target.name) { [node] progress in
            progress?.fail(by: node, at: now, for: delay, Self.lease)
        }
        context.deliveries.note(problem.cause, of: target.name, at: now, for: delay)
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

    /// The reason why a delivery failed.
    private struct Problem {
        let cause: String
        /// The receiver's `Retry-After`, if any (RFC 9110 section 10.2.3).
        var retryAfter: Duration?
    }

    /// Sends one event; returns the problem of a failed delivery.
    private func send(_ event: RecordedEvent) async -> Problem? {
        let body: [UInt8]
        do throws(StoreError) {
            body = WebhookMessage.encode(
                try await WebhookMessage(
                    event, from: context.store, locate, notMeURL: context.notMeURL, pushes: PushMessages(context)))
        } catch { return Problem(cause: "the database does not answer") }
        // The id includes the time, because a restored database may assign the number again.
        let id = "evt_\(event.id)_\(event.event.at.secondsSinceEpoch)"
        do throws(OutboundError) {
            let answer = try await client.send(target.request(id, at: context.clock.now, body))
            if (200..<300).contains(answer.status) { return nil }
            let seconds = answer.fields.first("Retry-After").flatMap { UInt64($0) }.map { min($0, 3600) }
            return Problem(cause: "status \(answer.status)", retryAfter: seconds.map { .seconds($0) })
        } catch { return Problem(cause: error.word) }
    }
}
