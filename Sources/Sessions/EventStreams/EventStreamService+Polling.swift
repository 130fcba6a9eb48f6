internal import Locks

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

    /// How far a poll has read the trail.
    private struct Reading {
        let streamID: String
        /// Events up to this number are read.
        var cursor: Int64
        /// Events up to this number concern the receiver no more.
        var done: Int64
        /// What the store has of `done`.
        var stored: Int64
    }

    /// Removes what the receiver has acknowledged, and answers the events that wait. If none waits, it waits for the first one,
    /// at most for `patience` or until the task is cancelled. A poll for no events never waits, nor does one of a stream that rests.
    ///
    /// Events are removed from the oldest on. One that is acknowledged while an older one waits is sent again, until both are.
    ///
    /// One poll of a stream waits at a node. A newer one takes its place, because the receiver of the older one may have lost its
    /// connection; it gets `tooManyRequests`, so that two receivers do not replace each other without pause.
    public func poll(
        _ poll: StreamPoll, of clientID: String, by origin: Origin, patience: Duration
    ) async throws(ServiceError) -> PolledEvents {
        let deadline = now() + patience
        var ticket: Int?
        defer { if let ticket { polls.leave(clientID, ticket) } }
        var reading: Reading?
        while true {
            let (client, stream) = try await polledStream(of: clientID)
            let isFirst = reading?.streamID != stream.id
            if isFirst { reading = try await begin(stream) }
            guard var read = reading else { throw .notFound("stream to poll") }
            let events = try await look(poll, &read, in: stream, to: client, by: origin)
            let left = deadline - now()
            let rests = stream.status != .enabled || poll.limit == 0
            let isOver = !events.tokens.isEmpty || rests || left <= .zero || Task.isCancelled
            // Events of others move the cursor all the time. They are noted once before the wait and once after it.
            if isOver || isFirst { try await store(&read, of: stream) }
            reading = read
            if isOver { return events }
            // What is left of the trail is read at once.
            if events.isMore { continue }
            let own = ticket ?? polls.enter(clientID)
            ticket = own
            await sleep(min(left, Self.pollPause))
            if !polls.isLatest(clientID, own) { throw .tooManyRequests(retryAfter: patience) }
        }
    }

    /// The client with its stream, which is to be polled.
    private func polledStream(of clientID: String) async throws(ServiceError) -> (Client, EventStream) {
        let client = try await inStore(await store.client(clientID))
        guard let client, let stream = client.eventStream, !stream.isPush else { throw .notFound("stream to poll") }
        return (client, stream)
    }

    private func begin(_ stream: EventStream) async throws(ServiceError) -> Reading {
        let name = DeliveryProgress.name(ofStream: stream.id)
        let first = try await inStore(await store.delivery(name)?.cursor ?? 0)
        return Reading(streamID: stream.id, cursor: first, done: first, stored: first)
    }

    private func look(
        _ poll: StreamPoll, _ reading: inout Reading, in stream: EventStream, to client: Client, by origin: Origin
    ) async throws(ServiceError) -> PolledEvents {
        if let verification = stream.verification, poll.done.contains(stream.tokenID(of: verification)) {
            try await inStore(await finish(verification, of: client.id, id: stream.id))
        }
        let waiting = try await waiting(in: stream, poll, &reading)
        if waiting.refused > 0 {
            let event = AuditEvent(
                .eventStreamChanged, at: context.clock.now, by: origin, clientID: client.id,
                reason: "\(waiting.refused) refused")
            try await inStore(await store.append([event]))
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

    /// The events after what is read, of which it reads at most `pageCountMax` pages.
    private func waiting(
        in stream: EventStream, _ poll: StreamPoll, _ reading: inout Reading
    ) async throws(ServiceError) -> Waiting {
        var (waiting, pages) = (Waiting(), 0)
        while true {
            if pages == Self.pageCountMax {
                waiting.isMore = true
                return waiting
            }
            let cursor = reading.cursor
            let page = try await inStore(
                await store.events(after: cursor, limit: Self.pageMax, userID: nil, sessionID: nil))
            pages += 1
            for recorded in page {
                if let event = stream.event(recorded) {
                    let id = stream.tokenID(of: recorded)
                    let isDone = waiting.events.isEmpty && poll.done.contains(id)
                    if isDone, poll.refused.contains(id) { waiting.refused += 1 }
                    if !isDone {
                        if waiting.events.count == poll.limit {
                            waiting.isMore = true
                            return waiting
                        }
                        waiting.events.append((recorded, event))
                    }
                }
                if waiting.events.isEmpty { reading.done = recorded.id }
                reading.cursor = recorded.id
            }
            if page.count < Self.pageMax { return waiting }
        }
    }

    /// Writes how far the receiver has come.
    private func store(_ reading: inout Reading, of stream: EventStream) async throws(ServiceError) {
        let done = reading.done
        guard done > reading.stored else { return }
        try await inStore(await advance(DeliveryProgress.name(ofStream: stream.id), to: done, since: stream.since))
        reading.stored = done
    }

    private func advance(_ name: String, to cursor: Int64, since: Instant) async throws(StoreError) {
        try await store.updateDelivery(name) { progress in
            var current = progress ?? DeliveryProgress(since: since)
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

/// The polls that wait, by client: the latest one of each.
final class WaitingPolls: Sendable {
    private let state = Locked((latest: [String: Int](), lastTicket: 0))

    /// Takes the place of the poll of that client which waits. Returns the ticket of this one.
    func enter(_ clientID: String) -> Int {
        state.withLock { state in
            state.lastTicket += 1
            state.latest[clientID] = state.lastTicket
            return state.lastTicket
        }
    }

    /// Whether no newer poll has taken the place.
    func isLatest(_ clientID: String, _ ticket: Int) -> Bool { state.withLock { $0.latest[clientID] == ticket } }

    /// Gives the place back, unless a newer poll has taken it.
    func leave(_ clientID: String, _ ticket: Int) {
        state.withLock { state in if state.latest[clientID] == ticket { state.latest[clientID] = nil } }
    }
}
