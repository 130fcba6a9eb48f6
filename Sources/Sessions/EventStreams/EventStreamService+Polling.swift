/// What a receiver asks of its stream when it polls (RFC 8936 section 2.2).
public struct StreamPoll: Sendable {
    /// The most events that the answer may have.
    public var limit: Int
    /// The `jti` of events that the receiver has taken.
    public var acknowledged: Set<String>
    /// The `jti` of events that it refuses (`setErrs`). They are not sent again.
    public var refused: Set<String>

    /// A poll.
    public init(limit: Int, acknowledged: Set<String> = [], refused: Set<String> = []) {
        (self.limit, self.acknowledged, self.refused) = (limit, acknowledged, refused)
    }

    var done: Set<String> { acknowledged.union(refused) }
}

/// What a poll answers.
public struct PolledEvents: Sendable {
    /// The events that the receiver has not acknowledged, the oldest first.
    public let tokens: [SecurityEventToken]
    /// Whether more wait.
    public let isMore: Bool
}

extension EventStreamService {
    /// The most events of one poll.
    public static let pollMax = 100
    private static let pageMax = 200
    /// The pages of the trail that one poll reads. Most events of the trail are for no receiver.
    private static let pageCountMax = 25

    /// The pause between two looks of a poll that waits, as between two looks of a push.
    static let pollPause = Duration.seconds(1)

    /// Removes what the receiver has acknowledged, and answers the events that wait. If none waits, it waits for the first one,
    /// at most for `patience` or until the task is cancelled. A poll for no events never waits.
    ///
    /// Events are removed from the oldest on. One that is acknowledged while an older one waits is sent again, until both are.
    public func poll(
        _ poll: StreamPoll, of clientID: String, by origin: Origin, patience: Duration
    ) async throws(ServiceError) -> PolledEvents {
        let deadline = now() + patience
        while true {
            let events = try await pollOnce(poll, of: clientID, by: origin)
            let left = deadline - now()
            let isOver = !events.tokens.isEmpty || poll.limit == 0 || left <= .zero || Task.isCancelled
            if isOver { return events }
            // What is left of the trail is read at once.
            if !events.isMore { await sleep(min(left, Self.pollPause)) }
        }
    }

    private func pollOnce(
        _ poll: StreamPoll, of clientID: String, by origin: Origin
    ) async throws(ServiceError) -> PolledEvents {
        let client = try await inStore { () async throws(StoreError) in try await store.client(clientID) }
        guard let client, let stream = client.eventStream, !stream.isPush else { throw .notFound("stream to poll") }
        if let verification = stream.verification, poll.done.contains(stream.tokenID(of: verification)) {
            try await inStore { () async throws(StoreError) in
                try await finish(verification, of: clientID, id: stream.id)
            }
        }
        let waiting = try await inStore { () async throws(StoreError) in try await self.waiting(in: stream, poll) }
        if waiting.refused > 0 {
            let event = AuditEvent(
                .eventStreamChanged, at: context.clock.now, by: origin, clientID: clientID,
                reason: "\(waiting.refused) refused")
            try await inStore { () async throws(StoreError) in try await store.append([event]) }
        }
        guard stream.status == .enabled else { return PolledEvents(tokens: [], isMore: false) }
        return try await tokens(of: waiting, in: stream, to: client, poll)
    }

    private struct Waiting: Sendable {
        var events: [(recorded: RecordedEvent, event: SecurityEvent)] = []
        var isMore = false
        /// The events that the receiver has refused by this poll.
        var refused = 0
    }

    /// The events after what is done, and moves the cursor of the stream to it.
    private func waiting(in stream: EventStream, _ poll: StreamPoll) async throws(StoreError) -> Waiting {
        let name = WebhookProgress.name(ofStream: stream.id)
        let first = try await store.webhook(name)?.cursor ?? 0
        var (cursor, done, waiting, pages) = (first, first, Waiting(), 0)
        pages: while true {
            if pages == Self.pageCountMax {
                waiting.isMore = true
                break
            }
            let page = try await store.events(after: cursor, limit: Self.pageMax, userID: nil, sessionID: nil)
            pages += 1
            for recorded in page {
                if let event = stream.event(recorded) {
                    let id = stream.tokenID(of: recorded)
                    let isDone = waiting.events.isEmpty && poll.done.contains(id)
                    if isDone, poll.refused.contains(id) { waiting.refused += 1 }
                    if !isDone {
                        if waiting.events.count == poll.limit {
                            waiting.isMore = true
                            break pages
                        }
                        waiting.events.append((recorded, event))
                    }
                }
                if waiting.events.isEmpty { done = recorded.id }
            }
            guard page.count == Self.pageMax, let last = page.last else { break }
            cursor = last.id
        }
        if done > first { try await advance(name, to: done, since: stream.since) }
        return waiting
    }

    private func advance(_ name: String, to cursor: Int64, since: Instant) async throws(StoreError) {
        try await store.updateWebhook(name) { progress in
            var current = progress ?? WebhookProgress(since: since)
            current.cursor = max(current.cursor, cursor)
            progress = current
        }
    }

    private func tokens(
        of waiting: Waiting, in stream: EventStream, to client: Client, _ poll: StreamPoll
    ) async throws(ServiceError) -> PolledEvents {
        var tokens: [SecurityEventToken] = []
        if let verification = stream.verification, poll.limit > 0,
            !poll.done.contains(stream.tokenID(of: verification))
        {
            guard let token = await context.token(of: verification, in: stream, to: client) else { throw Self.noKey }
            tokens.append(token)
        }
        for (recorded, event) in waiting.events where tokens.count < poll.limit {
            guard let token = await context.token(of: event, recorded, in: stream, to: client) else { throw Self.noKey }
            tokens.append(token)
        }
        return PolledEvents(tokens: tokens, isMore: waiting.isMore || waiting.events.count > tokens.count)
    }

    private static let noKey = ServiceError.store(.unavailable("no RSA key is active"))
}
