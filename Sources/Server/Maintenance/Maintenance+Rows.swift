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
    /// Deletes the mails of which no attempt follows, some days after their request. Returns their number.
    @discardableResult
    func sweepMails(pause: Duration) async -> Int {
        await sweep("mails", pause) { () async throws(StoreError) in
            let before = settled + .seconds(-MailPolicy.deadKept.wholeSeconds)
            return try await context.store.write(.nothing) {
                [limit = cleanUp.stepSize] (transaction)
                    throws(TransactionError) in
                try transaction.deleteDeadMails(before: before, limit: limit).value()
            }
        }
    }

    /// Deletes verifications and budgets of mailboxes that are over. Returns their number.
    @discardableResult
    func sweepVerifications(pause: Duration) async -> Int {
        await sweep("verifications", pause) { () async throws(StoreError) in
            try await context.store.sweepVerifications(at: settled, limit: cleanUp.stepSize)
        }
    }

    /// Deletes the accounts that their users have deleted, when their time has come. Returns their number.
    @discardableResult
    func deleteDueAccounts(pause: Duration) async -> Int {
        await sweep("deleted accounts", pause) { () async throws(StoreError) in
            try await context.store.deleteDueAccounts(at: settled, limit: cleanUp.stepSize)
        }
    }
}

extension Maintenance {
    /// Seals the seeds of authenticators again after the root key was replaced, so that the older one can be removed.
    func resealSeeds() async {
        do throws(ServiceError) {
            let count = try await SecondFactorService(context).resealSeeds()
            if count > 0 {
                logger.info("seeds of authenticators are sealed with the first root key", ["count": .int(count)])
            }
        } catch { logger.warning("seeds of authenticators could not be sealed again", ["cause": .string("\(error)")]) }
    }
}
