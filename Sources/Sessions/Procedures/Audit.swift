// The audit trail, the feed of revocations, and how far webhooks have come in them.

extension Store {
    /// Adds to the audit trail what belongs to no change.
    public func append(_ events: [AuditEvent]) async throws(StoreError) {
        try await write(.nothing) { (transaction) throws(TransactionError) -> Void in transaction.append(events) }
    }

    /// The audit trail from the oldest event on, those after number `cursor`, of one user or one session if named.
    public func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.events(after: cursor, limit: limit, userID: userID, sessionID: sessionID).value()
        }
    }

    /// One small step of the audit trail's clean-up: of the `limit` oldest events, by their numbers, deletes those that
    /// occurred before `instant`. Returns how many; none is the end of the walk.
    public func sweepEvents(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        guard limit > 0 else { return 0 }
        return try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteEvents(before: instant, limit: limit).value()
        }
    }

    /// See `RevocationSource`.
    public func revocations(
        after cursor: Int64, at now: Instant, limit: Int
    ) async throws(StoreError) -> [Revocation] {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.revocations(after: cursor, at: now, limit: limit).value()
        }
    }

    /// See `RevocationSource`.
    public func lastRevocation() async throws(StoreError) -> Int64 {
        try await read(.short) { (reader) throws(TransactionError) in try reader.lastRevocation().value() }
    }

    /// Deletes up to `limit` revocations that do not matter any more at `instant`. Returns how many.
    public func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteRevocations(before: instant, limit: limit).value()
        }
    }

    /// Lets `change` edit how far the webhook of that name has come, one node after the other. Nil before: there was none yet; nil
    /// after: it is forgotten.
    public func updateWebhook<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write(.keys) { (transaction) throws(TransactionError) in
            let old = try transaction.webhook(name).value()
            var progress = old
            let outcome = change(&progress)
            if progress != old { transaction.write(progress, ofWebhook: name) }
            return outcome
        }
    }

    /// How far each webhook has come, by their names; also of those that are configured no more.
    public func webhooks() async throws(StoreError) -> [String: WebhookProgress] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.webhooks().value() }
    }
}
