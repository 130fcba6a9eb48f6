internal import HTTP
internal import HTTPClient
internal import Sessions
internal import Telemetry

/// Sends logout tokens to the receiver of one client (OpenID Connect Back-Channel Logout section 2.5): one for each recorded end
/// of a session of which the client has an ID token, each at least once, in the order of the ends.
///
/// The ends are read from the audit trail, to which each is written in the transaction that ends the session. A failed delivery
/// is repeated with growing delays for as long as the trail keeps the event. Only one of several nodes sends, until it stops or
/// its lease expires: a node that stops between the receiver's answer and its record sends that token twice.
struct LogoutDelivery: Sendable {
    /// When the next step is due.
    enum Step: Equatable {
        /// At once, because more ends may wait.
        case again
        /// After the pause, because no end waits, another node sends, or the client has no receiver.
        case idle
        /// After this time, because the delivery failed.
        case failed(Duration)
    }

    /// How long before the first look at a client its ends are sent. A session may end in the moment after the client was made.
    static let lead = Duration.seconds(60)
    /// After so many answers of 400 a token is given up: the receiver does not accept it (section 2.8), and others wait.
    static let refusalsMax = 5
    private static let pageMax = 20

    let clientID: String
    let context: ServiceContext
    let client: HTTPClient
    let logger: Logger
    let metrics: LogoutMetrics
    /// The name of this node among all nodes.
    let node: String
    private let refusals = Refusals()

    /// A delivery that does nothing before `run`.
    init(
        clientID: String, context: ServiceContext, client: HTTPClient = HTTPClient(HTTPClient.Options(width: 1)),
        logger: Logger, metrics: LogoutMetrics, node: String
    ) {
        (self.clientID, self.context, self.client) = (clientID, context, client)
        (self.logger, self.metrics, self.node) = (logger, metrics, node)
    }

    private var name: String { WebhookProgress.name(ofLogoutsTo: clientID) }

    /// Sends tokens until the task is cancelled.
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
        _ = try? await context.store.updateWebhook(name) { [node, clock = context.clock] progress in
            progress?.leave(node, at: clock.now)
        }
    }

    /// Sends the token of the next end, if there is one and this node holds the lease. Without one, nothing is written.
    func step(failures: Int) async -> Step {
        do throws(StoreError) {
            guard let (client, url) = try await receiver() else { return rest() }
            let known = try await context.store.webhook(name)
            if let known, try await ends(after: known).isEmpty { return rest() }
            guard let progress = try await take() else { return rest() }
            guard let next = try await ends(after: progress).first else { return rest() }
            metrics.note(clientID, waitingSince: next.event.at, failingSince: progress.failingSince)
            guard try await isWanted(next, progress), let (sessionID, userID) = next.subject else {
                return try await advance(to: next.id) ? .again : .idle
            }
            let problem = await send(sessionID, userID, to: client, url)
            guard let problem else {
                if progress.failingSince != nil {
                    logger.notice("the receiver of logout tokens answers again", ["client": .string(clientID)])
                }
                metrics.delivered.increment()
                context.deliveries.forget(name)
                return try await advance(to: next.id) ? .again : .idle
            }
            return try await fail(next, problem, failures)
        } catch {
            logger.warning(
                "logout tokens wait for the database",
                ["client": .string(clientID), "cause": .string("\(error)")])
            return .failed(Webhook.pause)
        }
    }

    private func rest() -> Step {
        metrics.forget(clientID)
        return .idle
    }

    /// The client and its receiver; nil without one.
    private func receiver() async throws(StoreError) -> (Client, OutboundURL)? {
        guard let client = try await context.store.catalogue().clients[clientID],
            let url = client.page.backchannelLogoutURI.flatMap({ OutboundURL($0, plainLoopback: true) })
        else { return nil }
        return (client, url)
    }

    private func ends(after progress: WebhookProgress) async throws(StoreError) -> [RecordedEvent] {
        try await context.store.sessionEnds(ofClient: clientID, after: progress.cursor, limit: 1)
    }

    /// Whether the client can have an ID token of the session: by a login on the page, or with a phone for a device or a backend,
    /// or by the scope of the session, which brings one with each refresh.
    private func isWanted(_ end: RecordedEvent, _ progress: WebhookProgress) async throws(StoreError) -> Bool {
        guard end.event.at >= progress.since, let id = end.event.sessionID else { return false }
        if try await !context.store.logins(ofSession: id).isEmpty { return true }
        if try await context.store.phoneLogin(.id(id))?.kind.bringsIDToken == true { return true }
        return try await context.store.session(id)?.session.scope.contains("openid") == true
    }

    /// Takes or renews the lease; nil if another node holds it.
    private func take() async throws(StoreError) -> WebhookProgress? {
        let (now, node) = (context.clock.now, node)
        return try await context.store.updateWebhook(name) { progress in
            var current = progress ?? WebhookProgress(since: now + (.zero - Self.lead))
            guard current.take(by: node, at: now, for: Webhook.lease) else { return nil }
            progress = current
            return current
        }
    }

    /// Records that every end up to `cursor` is done. False if another node has taken over.
    private func advance(to cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.updateWebhook(name) { [node] in $0?.advance(to: cursor, by: node) ?? false }
    }

    private func fail(_ end: RecordedEvent, _ problem: Problem, _ failures: Int) async throws(StoreError) -> Step {
        if problem.isRefusal, refusals.count("\(end.id)") >= Self.refusalsMax {
            metrics.refused.increment()
            logger.error(
                "the receiver refuses a logout token, which is given up",
                ["client": .string(clientID), "event": .int(Int(end.id))])
            return try await advance(to: end.id) ? .again : .idle
        }
        metrics.failed.increment()
        // A `Retry-After` prolongs the delay, within the same limit.
        let delay = min(Webhook.longestDelay, max(problem.retryAfter ?? .zero, .seconds(1 << min(failures, 10))))
        let now = context.clock.now
        let since = try await context.store.updateWebhook(name) { [node] progress in
            progress?.fail(by: node, at: now, for: delay, Webhook.lease)
        }
        metrics.note(clientID, waitingSince: end.event.at, failingSince: since)
        context.deliveries.note(problem.cause, of: name, at: now, for: delay)
        logger.warning(
            "the receiver did not accept a logout token, which is tried again",
            [
                "client": .string(clientID), "cause": .string(problem.cause), "event": .int(Int(end.id)),
                "tries": .int(failures + 1), "next_try_seconds": .int(Int(delay.wholeSeconds)),
            ])
        return .failed(delay)
    }

    /// The reason why a delivery failed.
    private struct Problem {
        let cause: String
        /// Whether the receiver says that it will never accept the token (section 2.8).
        var isRefusal = false
        /// The receiver's `Retry-After`, if any (RFC 9110 section 10.2.3).
        var retryAfter: Duration?
    }

    /// Sends one token; returns the problem of a failed delivery.
    private func send(
        _ sessionID: Identifier<Session>, _ userID: Identifier<User>, to client: Client, _ url: OutboundURL
    ) async -> Problem? {
        guard let token = await context.logoutToken(for: client, ending: sessionID, of: userID) else {
            return Problem(cause: "no signing key is active")
        }
        // The characters of a token need no escape in a form.
        let request = OutboundRequest(
            .post, url, fields: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("logout_token=\(token)".utf8))
        do throws(OutboundError) {
            let answer = try await self.client.send(request)
            if (200..<300).contains(answer.status) { return nil }
            let seconds = answer.fields.first("Retry-After").flatMap { UInt64($0) }.map { min($0, 3600) }
            return Problem(
                cause: "status \(answer.status)", isRefusal: answer.status == 400,
                retryAfter: seconds.map { .seconds($0) })
        } catch { return Problem(cause: error.word) }
    }

    /// Logs and counts the ends before `instant` that the receiver has not taken, because the trail is about to delete them.
    func reportLost(before instant: Instant) async throws(StoreError) {
        guard try await receiver() != nil, let known = try await context.store.webhook(name),
            try await !ends(after: known).isEmpty, let progress = try await take()
        else { return }
        var (cursor, count, isMore) = (progress.cursor, 0, true)
        while isMore {
            let page = try await context.store.sessionEnds(ofClient: clientID, after: cursor, limit: Self.pageMax)
            let old = page.prefix { $0.event.at < instant }
            for end in old where try await isWanted(end, progress) { count += 1 }
            cursor = old.last?.id ?? cursor
            isMore = old.count == Self.pageMax
        }
        if count == 0 { return }
        metrics.lost.increment(by: UInt64(count))
        logger.error(
            "the audit trail deletes ends whose logout tokens were never accepted; audit.retention_days says how long they wait",
            ["client": .string(clientID), "count": .int(count)])
    }
}

extension RecordedEvent {
    /// The session and the user that the event is about.
    fileprivate var subject: (Identifier<Session>, Identifier<User>)? {
        guard let sessionID = event.sessionID, let userID = event.userID else { return nil }
        return (sessionID, userID)
    }
}
