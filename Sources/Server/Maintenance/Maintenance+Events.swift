internal import Configuration
internal import Deliveries
internal import Sessions
internal import Telemetry

extension Maintenance {
    /// Deletes the events of the audit trail that are older than its retention, in steps, the oldest first. Returns their
    /// number.
    @discardableResult
    func sweepEvents(pause: Duration) async -> Int {
        guard let retention = cleanUp.auditRetention else { return 0 }
        // Events are deleted even if a report fails.
        for webhook in webhooks { try? await webhook.reportLost(before: settled + (.seconds(1) - retention)) }
        for deliveries in clientDeliveries { await deliveries.reportLost(before: settled + (.seconds(1) - retention)) }
        return await sweep("audit events", pause) { () async throws(StoreError) in
            // An event is deleted in the second in which it reaches that age, as sessions are.
            let instant = settled + (.seconds(1) - retention)
            return try await context.store.sweepEvents(before: instant, limit: cleanUp.stepSize)
        }
    }

    /// Deletes the revocations that concern only expired tokens. Returns their number.
    @discardableResult
    func sweepRevocations(pause: Duration) async -> Int {
        await sweep("revocations", pause) { () async throws(StoreError) in
            try await context.store.sweepRevocations(before: settled, limit: cleanUp.stepSize)
        }
    }

    /// The time for which the store keeps the progress of a webhook that no node's configuration has. A webhook that returns to
    /// the configuration within this time continues where it stopped.
    static let webhookMemory = Duration.seconds(7 * 86_400)

    /// Deletes the progress of webhooks that are not in this configuration and that no node has run for `webhookMemory`.
    func forgetWebhooks() async {
        let limit = settled + (.zero - Self.webhookMemory)
        do throws(StoreError) {
            let clients = try await context.store.catalogue().clients.values
            let receivers = clients.filter { $0.page.backchannelLogoutURI != nil }
            let streams = clients.compactMap { $0.eventStream.map { DeliveryProgress.name(ofStream: $0.id) } }
            let known = Set(
                webhooks.map(\.name) + receivers.map { DeliveryProgress.name(ofLogoutsTo: $0.id) } + streams)
            for (name, progress) in try await context.store.deliveries()
            where !known.contains(name) && progress.heldUntil < limit {
                let isGone = try await context.store.updateDelivery(name) { progress in
                    // Another node may have it in its configuration, and have taken the lease since.
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

    /// Deletes the used tokens that no node accepts any more, even if its clock is slow. Returns their number.
    @discardableResult
    func sweepUsedTokens(pause: Duration) async -> Int {
        await sweep("used tokens", pause) { () async throws(StoreError) in
            try await context.store.sweepUsedTokens(before: settled + (.zero - Self.period), limit: cleanUp.stepSize)
        }
    }

    /// Deletes the old logins on the server's page and with a phone. Returns their number.
    @discardableResult
    func sweepLogins(pause: Duration) async -> Int {
        await sweep("logins", pause, until: { $0.looks < cleanUp.stepSize }, counting: \.deleted) {
            () async throws(StoreError) in
            try await context.store.sweepLogins(
                before: settled + (.zero - PageLogin.retention), limit: cleanUp.stepSize)
        }
    }

    /// Deletes the counts of wrong passwords that have expired, even for a node with a slow clock. Returns their number.
    @discardableResult
    func sweepFailedAttempts(pause: Duration) async -> Int {
        await sweep("wrong passwords", pause) { () async throws(StoreError) in
            let instant = settled + (.zero - LockoutPolicy.memory) + (.zero - Self.period)
            return try await context.store.sweepFailedAttempts(before: instant, limit: cleanUp.stepSize)
        }
    }

    /// Repeats `step` until it deletes nothing. Returns the number of deleted rows.
    func sweep(_ what: String, _ pause: Duration, _ step: () async throws(StoreError) -> Int) async -> Int {
        await sweep(what, pause, until: { $0 == 0 }, counting: { $0 }, step)
    }

    /// Repeats `step` until its result is the last one, or another node cleans up. Returns the number of deleted rows.
    @discardableResult
    func sweep<Result>(
        _ what: String, _ pause: Duration, until isLast: (Result) -> Bool, counting: (Result) -> Int,
        _ step: () async throws(StoreError) -> Result
    ) async -> Int {
        var deleted = 0
        while await mayCleanUp() {
            do throws(StoreError) {
                let result = try await step()
                deleted += counting(result)
                if isLast(result) { break }
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
