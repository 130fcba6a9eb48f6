internal import Configuration
internal import Sessions
internal import Telemetry

extension Maintenance {
    /// Reads all foreign tokens once, in steps, and deletes those that have expired. Returns the number of deleted ones.
    @discardableResult
    func sweepForeignTokens(pause: Duration) async -> Int {
        let store = context.store
        var step: [ForeignToken] = []
        var deleted = 0
        repeat {
            do throws(StoreError) {
                step = try await store.foreignTokens(after: step.last?.digest, limit: cleanUp.stepSize)
                let now = settled
                for token in step where context.policy.isForgotten(token, at: now) {
                    try await store.updateForeignToken(token.digest) { $0.token = nil }
                    deleted += 1
                }
            } catch {
                logger.warning("clean-up of foreign tokens stopped early", ["cause": .string("\(error)")])
                return deleted
            }
            if step.count == cleanUp.stepSize { try? await Task.sleep(for: pause) }
        } while step.count == cleanUp.stepSize && !Task.isCancelled
        if deleted > 0 { logger.info("old foreign tokens deleted", ["count": .int(deleted)]) }
        return deleted
    }
}
