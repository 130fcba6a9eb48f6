internal import Configuration
internal import Sessions
internal import Telemetry

extension Maintenance {
    /// The times by which sessions end and rows are deleted. An end is final, so that a time counts only if it is certain.
    private var time: CleanUpTime {
        let earliest = context.clockGuard?.reading.earliest ?? context.clock.now
        return CleanUpTime(earliest: earliest, settled: settled)
    }

    /// Whether a client is told of the ends of its sessions, which are therefore recorded.
    private static func hasReceiver(_ client: Client) -> Bool { client.page.backchannelLogoutURI != nil }

    /// Deletes the sessions that ended long enough ago. Returns the number of deleted ones.
    @discardableResult
    func sweep(pause: Duration) async -> Int {
        let deleted = await lookAtSessions(pause: pause)
        return await deleted + sweepTombstones(pause: pause)
    }

    /// Deletes the tombstones that are old enough. Returns their number.
    @discardableResult
    func sweepTombstones(pause: Duration) async -> Int {
        await sweep("sessions", pause) { () async throws(StoreError) in
            let time = time
            let end = time.settled + (.zero - RefreshPolicy.tombstoneLifetime)
            return try await context.store.sweepSessions(
                .ended(by: end), limit: cleanUp.stepSize, by: context.policy, at: time, Self.hasReceiver
            ).deleted
        }
    }

    /// Looks at the sessions that may be over by now: records the ends of which clients are told, deletes what is forgotten, and
    /// moves the looks at the others. Returns the number of deleted ones.
    @discardableResult
    func lookAtSessions(pause: Duration) async -> Int {
        await sweep("sessions without a recorded end", pause, until: \.isLast, counting: \.deleted) {
            () async throws(StoreError) in
            let (time, policy) = (time, context.policy)
            let step = try await context.store.sweepSessions(
                .due(by: time.earliest), limit: cleanUp.stepSize, by: policy, at: time, Self.hasReceiver)
            var recorded = 0
            for id in step.ends where try await context.store.recordEnd(of: id, by: policy, at: time.earliest) {
                recorded += 1
            }
            let changed = step.deleted + step.moved + recorded
            return (deleted: step.deleted, isLast: step.looks < cleanUp.stepSize || changed == 0)
        }
    }

    /// Walks along all sessions once, if a change has ended sessions sooner than their looks are due.
    func walkAlongSessions(pause: Duration) async {
        await sweep("sessions of before a change", pause, until: { !$0 }, counting: { _ in 0 }) {
            () async throws(StoreError) in
            try await context.store.walkAlongSessions(
                limit: cleanUp.stepSize, by: context.policy, at: time, Self.hasReceiver)
        }
    }
}
