internal import HTTPClient
internal import Locks
public import Sessions
internal import Telemetry

/// Sends the messages of one source to their receiver: each at least once, in the order of the audit trail, one after the other.
///
/// A failed delivery is repeated with growing delays for as long as the trail keeps the event, and delays all later events. Only
/// one of several nodes sends, until it stops or its lease expires: a node that stops between the receiver's answer and its
/// record sends that message twice. Deliveries are independent of each other, and each has an HTTP client of its own, so that
/// a slow receiver delays no other.
public struct Delivery: Sendable {
    /// When the next step is due.
    enum Step: Equatable {
        /// At once, because more messages may wait.
        case again
        /// After the pause, because no message waits, another node sends, or there is no receiver.
        case idle
        /// After this time, because the delivery failed.
        case failed(Duration)
    }

    /// The time between two reads of the trail when there is nothing to send.
    static let pause = Duration.seconds(1)
    /// The time after which another node takes over from one that stopped silently.
    static let lease = Duration.seconds(30)
    static let longestDelay = Duration.seconds(300)
    /// After so many answers of 400 a message is given up, if its kind has refusals: the receiver does not accept it, and others
    /// wait.
    static let refusalsMax = 5

    /// The refusals of the message that is next. Other failures between do not count, because a receiver that was down has said
    /// nothing about the message.
    private struct Refusals {
        var identifier: LogValue?
        var count = 0
    }

    /// The webhook or the client, as logs and metrics name it.
    public let name: String
    let kind: DeliveryKind
    let context: ServiceContext
    let receiver: Receiver
    let logger: Logger
    let metrics: DeliveryMetrics
    /// The name of this node among all nodes.
    let node: String
    /// The source as it is now; nil without one.
    let source: @Sendable () async throws(StoreError) -> (any DeliverySource)?
    private let refusals = Locked(Refusals())

    /// A delivery that does nothing before `run`.
    init(
        _ name: String, _ kind: DeliveryKind, context: ServiceContext, client: HTTPClient, logger: Logger,
        metrics: DeliveryMetrics, node: String,
        source: @escaping @Sendable () async throws(StoreError) -> (any DeliverySource)?
    ) {
        (self.name, self.kind, self.context, receiver) = (name, kind, context, Receiver(client: client))
        (self.logger, self.metrics, self.node, self.source) = (logger, metrics, node, source)
    }

    /// Sends messages until the task is cancelled.
    @concurrent public func run() async {
        var failures = 0
        while !Task.isCancelled {
            switch await step(failures: failures) {
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
        guard let source = try? await source() else { return }
        _ = try? await context.store.updateDelivery(source.name) { [node, clock = context.clock] progress in
            progress?.leave(node, at: clock.now)
        }
    }

    /// Sends the next message, if there is one and this node holds the lease.
    func step(failures: Int) async -> Step {
        do throws(StoreError) {
            guard let source = try await source(), let url = source.receiver else { return rest() }
            // Without a message, nothing is written.
            if !kind.holdsLeaseAlways, source.messageAhead == nil,
                let known = try await context.store.delivery(source.name),
                try await source.events(after: known.cursor).isEmpty
            {
                return rest()
            }
            guard let progress = try await take(source) else { return rest() }
            let events = try await source.events(after: progress.cursor)
            // Unwanted events are skipped together with the ones before them.
            let wanted = try await first(of: events, source, progress)
            guard let message = source.messageAhead ?? wanted.map({ message(of: $0, source) }) else {
                guard let last = events.last else { return rest() }
                return try await advance(source.name, to: last.id) ? .again : .idle
            }
            // A message ahead only delays the events.
            metrics.note(
                name, waitingSince: wanted?.event.at ?? context.clock.now, failingSince: progress.failingSince)
            do throws(DeliveryProblem) {
                try await receiver.send(try await message.request(url))
            } catch { return try await fail(message, error, source.name, failures) }
            if progress.failingSince != nil { logger.notice(kind.isTaken, fields()) }
            metrics.delivered.increment()
            metrics.note(name, failingSince: nil)
            context.deliveries.forget(source.name)
            return try await message.end() ? .again : .idle
        } catch {
            return wait(for: "the database", ["cause": .string("\(error)")])
        }
    }

    private func first(
        of events: [RecordedEvent], _ source: any DeliverySource, _ progress: DeliveryProgress
    ) async throws(StoreError) -> RecordedEvent? {
        for event in events where try await source.wants(event, since: progress.since) { return event }
        return nil
    }

    private func message(of event: RecordedEvent, _ source: any DeliverySource) -> DeliveryMessage {
        DeliveryMessage(identifier: source.identifier(of: event)) { (url) async throws(DeliveryProblem) in
            try await source.request(event, to: url)
        } end: { () async throws(StoreError) in
            try await advance(source.name, to: event.id)
        }
    }

    private func rest() -> Step {
        metrics.forget(name)
        return .idle
    }

    private func wait(for missing: String, _ more: LogFields = [:]) -> Step {
        logger.warning("\(kind.waits) for \(missing)", fields(more))
        return .failed(Self.pause)
    }

    /// The fields of a log line: the receiver, and `more`.
    private func fields(_ more: LogFields = [:]) -> LogFields {
        [kind.receiver: .string(name)] + more
    }

    /// Takes or renews the lease; nil if another node holds it.
    private func take(_ source: any DeliverySource) async throws(StoreError) -> DeliveryProgress? {
        let (now, node, since) = (context.clock.now, node, source.beginning(at: context.clock.now))
        return try await context.store.updateDelivery(source.name) { progress in
            var current = progress ?? DeliveryProgress(since: since)
            guard current.take(by: node, at: now, for: Self.lease) else { return nil }
            progress = current
            return current
        }
    }

    /// Records that every event up to `cursor` is done. False if another node has taken over.
    private func advance(_ name: String, to cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.updateDelivery(name) { [node] in $0?.advance(to: cursor, by: node) ?? false }
    }

    private func fail(
        _ message: DeliveryMessage, _ problem: DeliveryProblem, _ progressName: String, _ failures: Int
    ) async throws(StoreError) -> Step {
        if problem.isOwn { return wait(for: problem.cause) }
        let details: LogFields = ["cause": .string(problem.cause), kind.message: message.identifier]
        if problem.isBadRequest, let isRefused = kind.isRefused, countRefusal(of: message) >= Self.refusalsMax {
            metrics.refused?.increment()
            logger.error(isRefused, fields(details))
            return try await message.end() ? .again : .idle
        }
        metrics.failed.increment()
        // A `Retry-After` prolongs the delay, within the same limit.
        let delay = min(Self.longestDelay, max(problem.retryAfter ?? .zero, .seconds(1 << min(failures, 10))))
        let now = context.clock.now
        let since = try await context.store.updateDelivery(progressName) { [node] progress in
            progress?.fail(by: node, at: now, for: delay, Self.lease)
        }
        context.deliveries.note(problem.cause, of: progressName, at: now, for: delay)
        metrics.note(name, failingSince: since)
        let next: LogFields = ["tries": .int(failures + 1), "next_try_seconds": .int(Int(delay.wholeSeconds))]
        logger.warning(kind.isTriedAgain, fields(details + next))
        return .failed(delay)
    }

    /// Counts one more refusal of a message. Returns how many there are.
    private func countRefusal(of message: DeliveryMessage) -> Int {
        refusals.withLock { refusals in
            if refusals.identifier != message.identifier { refusals = Refusals(identifier: message.identifier) }
            refusals.count += 1
            return refusals.count
        }
    }

    /// Logs and counts the events before `instant` that the receiver has not taken, because the trail is about to delete them.
    /// Of several nodes each deletes events, so that the one that moves the progress past an event counts it, once.
    public func reportLost(before instant: Instant) async throws(StoreError) {
        var count = 0
        while let source = try await source(), let known = try await context.store.delivery(source.name) {
            let old = try await source.events(after: known.cursor).prefix { $0.event.at < instant }
            guard let last = old.last?.id else { break }
            var wanted = 0
            for event in old where try await source.wants(event, since: known.since) { wanted += 1 }
            let isMoved = try await context.store.updateDelivery(source.name) { progress in
                guard progress?.cursor == known.cursor else { return false }
                progress?.cursor = last
                return true
            }
            if isMoved, wanted > 0 {
                count += wanted
                metrics.lost.increment(by: UInt64(wanted))
            }
        }
        if count == 0 { return }
        logger.error("\(kind.isLost); audit.retention_days says how long they wait", fields(["count": .int(count)]))
    }
}
