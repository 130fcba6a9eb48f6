internal import HTTP
internal import HTTPClient
internal import Sessions
internal import Telemetry

/// Pushes the security events of one client's stream to its receiver (RFC 8935): each at least once, in the order of the audit
/// trail, one after the other.
///
/// A failed delivery is repeated with growing delays for as long as the trail keeps the event. Only one of several nodes sends,
/// until it stops or its lease expires: a node that stops between the receiver's answer and its record sends that event twice,
/// with the same `jti`.
struct EventStreamDelivery: Sendable {
    /// When the next step is due.
    enum Step: Equatable {
        /// At once, because more events may wait.
        case again
        /// After the pause, because no event waits, another node sends, or events do not flow.
        case idle
        /// After this time, because the delivery failed.
        case failed(Duration)
    }

    /// After so many answers of 400 an event is given up: the receiver does not accept it (section 2.3), and others wait.
    static let refusalsMax = 5
    private static let pageMax = 100

    let clientID: String
    let context: ServiceContext
    let service: EventStreamService
    let client: HTTPClient
    let logger: Logger
    let metrics: EventStreamMetrics
    /// The name of this node among all nodes.
    let node: String
    private let refusals = Refusals()

    /// A delivery that does nothing before `run`, and connects to `destinations` alone, because the client has set the URL.
    init(
        clientID: String, context: ServiceContext, destinations: HTTPClient.Destinations, logger: Logger,
        metrics: EventStreamMetrics, node: String
    ) {
        (self.clientID, self.context, service) = (clientID, context, EventStreamService(context))
        client = HTTPClient(HTTPClient.Options(width: 1, destinations: destinations))
        (self.logger, self.metrics, self.node) = (logger, metrics, node)
    }

    /// Sends events until the task is cancelled.
    @concurrent func run() async {
        var failures = 0
        while !Task.isCancelled {
            switch await step(failures: failures) {
            case .again: failures = 0
            case .idle:
                failures = 0
                try? await Task.sleep(for: Webhook.pause)
            case .failed(let delay):
                failures += 1
                await context.deliveries.wait(for: delay)
            }
        }
        // Another node can take over before the lease expires.
        guard let target = try? await target() else { return }
        _ = try? await context.store.updateWebhook(target.name) { [node, clock = context.clock] progress in
            progress?.leave(node, at: clock.now)
        }
    }

    /// The client, its stream, and where its events go.
    private struct Target {
        let client: Client
        let stream: EventStream
        let url: OutboundURL
        let authorization: [UInt8]?

        var name: String { WebhookProgress.name(ofStream: stream.id) }
    }

    /// What is sent next.
    private struct Message {
        let token: SecurityEventToken
        /// The number of the event in the trail; nil for a verification event.
        var number: Int64?
        var verification: EventStream.Verification?
        /// The time of the oldest event that waits, which a verification event only delays.
        let waitingSince: Instant
    }

    /// Sends the next event, if there is one and this node holds the lease.
    func step(failures: Int) async -> Step {
        do throws(StoreError) {
            guard let target = try await target(), target.stream.status == .enabled else { return rest() }
            // Without an event, nothing is written.
            if target.stream.verification == nil, let known = try await context.store.webhook(target.name),
                try await page(after: known.cursor).isEmpty
            {
                return rest()
            }
            guard let progress = try await take(target) else { return rest() }
            let page = try await page(after: progress.cursor)
            let wanted = page.first { target.stream.event($0) != nil }
            guard let message = await message(target, wanted) else {
                if target.stream.verification != nil || wanted != nil { return noKey() }
                guard let last = page.last else { return rest() }
                return try await advance(target, to: last.id) ? .again : .idle
            }
            metrics.note(clientID, waitingSince: message.waitingSince, failingSince: progress.failingSince)
            guard let problem = await send(message.token, to: target) else {
                return try await finish(message, target, progress)
            }
            return try await fail(message, problem, target, failures)
        } catch {
            logger.warning(
                "security events wait for the database",
                ["client": .string(clientID), "cause": .string("\(error)")])
            return .failed(Webhook.pause)
        }
    }

    private func rest() -> Step {
        metrics.forget(clientID)
        return .idle
    }

    private func noKey() -> Step {
        logger.warning("security events wait for an RSA key", ["client": .string(clientID)])
        return .failed(Webhook.pause)
    }

    /// The stream that this server pushes; nil without one.
    private func target() async throws(StoreError) -> Target? {
        guard let client = try await context.store.catalogue().clients[clientID], let stream = client.eventStream,
            case .push(let endpoint, let authorization) = stream.delivery,
            let url = OutboundURL(endpoint, plainLoopback: true)
        else { return nil }
        return Target(client: client, stream: stream, url: url, authorization: authorization)
    }

    private func page(after cursor: Int64) async throws(StoreError) -> [RecordedEvent] {
        try await context.store.events(after: cursor, limit: Self.pageMax, userID: nil, sessionID: nil)
    }

    /// The verification event, or else the next event of the trail; nil without either, or without a key.
    private func message(_ target: Target, _ wanted: RecordedEvent?) async -> Message? {
        let waitingSince = wanted?.event.at ?? context.clock.now
        if let verification = target.stream.verification {
            let token = await context.token(of: verification, in: target.stream, to: target.client)
            return token.map { Message(token: $0, verification: verification, waitingSince: waitingSince) }
        }
        guard let wanted, let event = target.stream.event(wanted) else { return nil }
        let token = await context.token(of: event, wanted, in: target.stream, to: target.client)
        return token.map { Message(token: $0, number: wanted.id, waitingSince: waitingSince) }
    }

    private func finish(_ message: Message, _ target: Target, _ progress: WebhookProgress) async throws(StoreError)
        -> Step
    {
        if progress.failingSince != nil {
            logger.notice("the receiver of security events answers again", ["client": .string(clientID)])
        }
        metrics.delivered.increment()
        context.deliveries.forget(target.name)
        return try await remove(message, target)
    }

    private func remove(_ message: Message, _ target: Target) async throws(StoreError) -> Step {
        if let verification = message.verification {
            try await service.finish(verification, of: clientID, id: target.stream.id)
        }
        guard let number = message.number else { return .again }
        return try await advance(target, to: number) ? .again : .idle
    }

    /// Takes or renews the lease; nil if another node holds it.
    private func take(_ target: Target) async throws(StoreError) -> WebhookProgress? {
        let (now, node, since) = (context.clock.now, node, target.stream.since)
        return try await context.store.updateWebhook(target.name) { progress in
            var current = progress ?? WebhookProgress(since: since)
            guard current.take(by: node, at: now, for: Webhook.lease) else { return nil }
            progress = current
            return current
        }
    }

    /// Records that every event up to `cursor` is done. False if another node has taken over.
    private func advance(_ target: Target, to cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.updateWebhook(target.name) { [node] in $0?.advance(to: cursor, by: node) ?? false }
    }

    private func fail(
        _ message: Message, _ problem: Problem, _ target: Target, _ failures: Int
    ) async throws(StoreError) -> Step {
        if problem.isRefusal, refusals.count(message.token.id) >= Self.refusalsMax {
            metrics.refused.increment()
            logger.error(
                "the receiver refuses a security event, which is given up",
                ["client": .string(clientID), "jti": .string(message.token.id), "cause": .string(problem.cause)])
            return try await remove(message, target)
        }
        metrics.failed.increment()
        // A `Retry-After` prolongs the delay, within the same limit.
        let delay = min(Webhook.longestDelay, max(problem.retryAfter ?? .zero, .seconds(1 << min(failures, 10))))
        let now = context.clock.now
        let since = try await context.store.updateWebhook(target.name) { [node] progress in
            progress?.fail(by: node, at: now, for: delay, Webhook.lease)
        }
        context.deliveries.note(problem.cause, of: target.name, at: now, for: delay)
        metrics.note(clientID, waitingSince: message.waitingSince, failingSince: since)
        logger.warning(
            "the receiver did not accept a security event, which is tried again",
            [
                "client": .string(clientID), "cause": .string(problem.cause), "jti": .string(message.token.id),
                "tries": .int(failures + 1), "next_try_seconds": .int(Int(delay.wholeSeconds)),
            ])
        return .failed(delay)
    }

    /// The reason why a delivery failed.
    private struct Problem {
        let cause: String
        /// Whether the receiver says that it does not accept the event (RFC 8935 section 2.3).
        var isRefusal = false
        /// The receiver's `Retry-After`, if any (RFC 9110 section 10.2.3).
        var retryAfter: Duration?
    }

    /// Sends one event; returns the problem of a failed delivery.
    private func send(_ token: SecurityEventToken, to target: Target) async -> Problem? {
        var fields: Fields = ["Content-Type": "application/secevent+jwt", "Accept": "application/json"]
        if let sealed = target.authorization {
            guard let authorization = service.secrets.open(sealed) else {
                return Problem(cause: "no root key decrypts the authorization_header of the stream")
            }
            fields.append("Authorization", authorization)
        }
        let request = OutboundRequest(.post, target.url, fields: fields, body: Array(token.text.utf8))
        do throws(OutboundError) {
            let answer = try await client.send(request)
            if (200..<300).contains(answer.status) { return nil }
            let seconds = answer.fields.first("Retry-After").flatMap { UInt64($0) }.map { min($0, 3600) }
            return Problem(
                cause: "status \(answer.status)", isRefusal: answer.status == 400,
                retryAfter: seconds.map { .seconds($0) })
        } catch { return Problem(cause: error.word) }
    }

    /// Logs and counts the events before `instant` that the receiver has not taken, because the trail is about to delete them.
    func reportLost(before instant: Instant) async throws(StoreError) {
        guard let stream = try await context.store.catalogue().clients[clientID]?.eventStream,
            stream.status != .disabled,
            let progress = try await context.store.webhook(WebhookProgress.name(ofStream: stream.id))
        else { return }
        var (cursor, count, isMore) = (progress.cursor, 0, true)
        while isMore {
            let page = try await page(after: cursor)
            let old = page.prefix { $0.event.at < instant }
            count += old.count { stream.event($0) != nil }
            cursor = old.last?.id ?? cursor
            isMore = old.count == Self.pageMax
        }
        if count == 0 { return }
        metrics.lost.increment(by: UInt64(count))
        logger.error(
            "the audit trail deletes security events that were never accepted; audit.retention_days says how long they wait",
            ["client": .string(clientID), "count": .int(count)])
    }
}
