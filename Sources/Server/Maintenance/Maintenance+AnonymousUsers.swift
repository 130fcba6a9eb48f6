internal import Configuration
internal import Sessions
internal import Telemetry

extension Maintenance {
    /// Reads all anonymous users once, in steps, and deletes those without an active session, because no login finds them
    /// again. Returns the number of deleted ones.
    @discardableResult
    func sweepAnonymousUsers(pause: Duration) async -> Int {
        var cursor: Identifier<User>?
        var deleted = 0
        while !Task.isCancelled {
            do throws(StoreError) {
                let step = try await context.store.sweepAnonymousUsers(
                    after: cursor, limit: cleanUp.stepSize, by: context.policy, at: settled)
                deleted += step.deleted
                cursor = step.cursor
            } catch {
                logger.warning("clean-up of anonymous users stopped early", ["cause": .string("\(error)")])
                return deleted
            }
            if cursor == nil { break }
            try? await Task.sleep(for: pause)
        }
        if deleted > 0 { logger.info("anonymous users deleted", ["count": .int(deleted)]) }
        return deleted
    }
}
