internal import Sessions
internal import Telemetry

extension Upkeep {
    /// Deletes the events of the audit trail that are older than it is kept, the oldest first, a step at a time. Returns
    /// how many.
    @discardableResult
    func sweepEvents(pause: Duration) async -> Int {
        guard let retention = cleanUp.auditRetention else { return 0 }
        var deleted = 0
        while !Task.isCancelled {
            let step: Int
            do throws(StoreError) {
                // An event goes when it is as old as that, to the second, as sessions do.
                let instant = settled + (.seconds(1) - retention)
                step = try await context.store.sweepEvents(before: instant, limit: cleanUp.stepSize)
            } catch {
                logger.warning("clean-up of the audit trail stopped early", ["cause": .string("\(error)")])
                return deleted
            }
            if step == 0 { break }
            deleted += step
            try? await Task.sleep(for: pause)
        }
        if deleted > 0 { logger.info("old audit events deleted", ["count": .int(deleted)]) }
        return deleted
    }
}
