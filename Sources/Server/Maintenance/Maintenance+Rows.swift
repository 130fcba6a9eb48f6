internal import Configuration
internal import Sessions
internal import Telemetry

extension Maintenance {
    /// Deletes the foreign tokens that have expired, or were exchanged, long enough ago. Returns their number.
    @discardableResult
    func sweepForeignTokens(pause: Duration) async -> Int {
        await sweep("foreign tokens", pause) { () async throws(StoreError) in
            try await context.store.sweepForeignTokens(limit: cleanUp.stepSize, by: context.policy, at: settled)
        }
    }

    /// The steps of one round along the anonymous users that may delete none. No index of time finds these users, so that a round
    /// goes on where the last one of any node stopped.
    static let anonymousUserSteps = 4

    /// Reads the next anonymous users, in steps, and deletes those without an active session, because no login finds them again.
    /// Returns the number of deleted ones.
    @discardableResult
    func sweepAnonymousUsers(pause: Duration) async -> Int {
        var steps = 0
        return await sweep("anonymous users", pause, until: { _ in steps >= Self.anonymousUserSteps }, counting: { $0 })
        {
            () async throws(StoreError) in
            let step = try await context.store.sweepAnonymousUsers(
                limit: cleanUp.stepSize, by: context.policy, at: settled)
            if step.cursor == nil {
                steps = Self.anonymousUserSteps
            } else if step.deleted == 0 {
                steps += 1
            }
            return step.deleted
        }
    }
}
