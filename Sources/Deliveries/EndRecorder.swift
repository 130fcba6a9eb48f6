public import Sessions
public import Telemetry

/// Records the ends of sessions that no request records, by the clock or by a revocation of all sessions, because a logout token
/// tells of recorded ends only. It looks at the sessions of clients that have a receiver, in steps, and writes nothing else.
public struct EndRecorder: Sendable {
    /// How many logins one step reads.
    static let stepSize = 200
    /// The time between the end of a round and the next one.
    static let rest = Duration.seconds(30)

    let context: ServiceContext
    let logger: Logger

    /// A recorder that does nothing before `run`.
    public init(context: ServiceContext, logger: Logger) { (self.context, self.logger) = (context, logger) }

    /// Repeats rounds until the task is cancelled.
    @concurrent public func run() async {
        var cursor: Identifier<Session>?
        while !Task.isCancelled {
            cursor = await step(after: cursor)
            try? await Task.sleep(for: cursor == nil ? Self.rest : Delivery.pause)
        }
    }

    /// Makes one step, and returns where the next one begins; nil at the end of a round.
    func step(after cursor: Identifier<Session>?) async -> Identifier<Session>? {
        // An end is final, so that a time counts only if it is certain.
        let (now, policy) = (context.clockGuard?.reading.earliest ?? context.clock.now, context.policy)
        let hasReceiver = { @Sendable (client: Client) in client.page.backchannelLogoutURI != nil }
        do throws(StoreError) {
            guard try await context.store.catalogue().clients.values.contains(where: hasReceiver) else { return nil }
            let ends = try await context.store.unrecordedEnds(
                after: cursor, limit: Self.stepSize, by: policy, at: now, hasReceiver)
            for id in ends.sessions { _ = try await context.store.recordEnd(of: id, by: policy, at: now) }
            return ends.cursor
        } catch {
            logger.warning("ends of sessions wait for the database", ["cause": .string("\(error)")])
            return cursor
        }
    }
}
