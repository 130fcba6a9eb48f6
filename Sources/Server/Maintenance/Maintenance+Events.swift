internal import Configuration
internal import Notifications
internal import Sessions
internal import Telemetry

extension Maintenance {
    /// Deletes the events of the audit trail that are older than it is kept, the oldest first, a step at a time. Returns
    /// how many.
    @discardableResult
    func sweepEvents(pause: Duration) async -> Int {
        guard let retention = cleanUp.auditRetention else { return 0 }
        // That this cannot be told keeps nothing from being deleted.
        for webhook in webhooks { try? await webhook.reportLost(before: settled + (.seconds(1) - retention)) }
        return await sweep("audit events", pause) { () async throws(StoreError) in
            // An event goes when it is as old as that, to the second, as sessions do.
            let instant = settled + (.seconds(1) - retention)
            return try await context.store.sweepEvents(before: instant, limit: cleanUp.stepSize)
        }
    }

    /// Deletes the revocations that do not matter any more, because all tokens that they are about have expired. Returns
    /// how many.
    @discardableResult
    func sweepRevocations(pause: Duration) async -> Int {
        await sweep("revocations", pause) { () async throws(StoreError) in
            try await context.store.sweepRevocations(before: settled, limit: cleanUp.stepSize)
        }
    }

    /// How long it is remembered how far a webhook has come that no node's configuration has any more: who is put back before
    /// goes on where it stopped.
    static let webhookMemory = Duration.seconds(7 * 86_400)

    /// Forgets webhooks that no node has worked on for long, and that this one does not know.
    func forgetWebhooks() async {
        let (known, limit) = (Set(webhooks.map(\.name)), settled + (.zero - Self.webhookMemory))
        do throws(StoreError) {
            for (name, progress) in try await context.store.webhooks()
            where !known.contains(name) && progress.heldUntil < limit {
                let isGone = try await context.store.updateWebhook(name) { progress in
                    // Another node may know it, and have taken it up meanwhile.
                    guard let current = progress, current.heldUntil < limit else { return false }
                    progress = nil
                    return true
                }
                if isGone {
                    logger.notice(
                        "the progress of a webhook that is not configured any more is deleted",
                        ["webhook": .string(name)])
                }
            }
        } catch { logger.warning("the progress of old webhooks could not be deleted", ["cause": .string("\(error)")]) }
    }

    /// Forgets the tokens that no node takes any more, by whose clock ever. Returns how many.
    @discardableResult
    func sweepUsedTokens(pause: Duration) async -> Int {
        await sweep("used tokens", pause) { () async throws(StoreError) in
            try await context.store.sweepUsedTokens(before: settled + (.zero - Self.period), limit: cleanUp.stepSize)
        }
    }

    /// Forgets the wrong passwords after which the next one begins a new row, by whose clock ever. Returns how many rows.
    @discardableResult
    func sweepFailedAttempts(pause: Duration) async -> Int {
        await sweep("wrong passwords", pause) { () async throws(StoreError) in
            let instant = settled + (.zero - LockoutPolicy.memory) + (.zero - Self.period)
            return try await context.store.sweepFailedAttempts(before: instant, limit: cleanUp.stepSize)
        }
    }

    /// Takes steps until one finds nothing.
    private func sweep(
        _ what: String, _ pause: Duration, _ step: () async throws(StoreError) -> Int
    ) async -> Int {
        var deleted = 0
        while !Task.isCancelled {
            do throws(StoreError) {
                let count = try await step()
                if count == 0 { break }
                deleted += count
            } catch {
                logger.warning("clean-up of old \(what) stopped early", ["cause": .string("\(error)")])
                return deleted
            }
            try? await Task.sleep(for: pause)
        }
        if deleted > 0 { logger.info("old \(what) deleted", ["count": .int(deleted)]) }
        return deleted
    }
}
