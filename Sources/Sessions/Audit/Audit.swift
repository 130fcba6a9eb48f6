// The audit trail, the feed of revocations, and the progress of deliveries in them.

extension Store {
    /// Adds events that belong to no change to the audit trail.
    public func append(_ events: [AuditEvent]) async throws(StoreError) {
        try await write(.nothing) { (transaction) throws(TransactionError) -> Void in transaction.append(events) }
    }

    /// Events of the audit trail after number `cursor`, the oldest first, of one user or one session if given.
    public func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.events(after: cursor, limit: limit, userID: userID, sessionID: sessionID).value()
        }
    }

    /// Events of a user before number `cursor`, the newest first; nil begins with the last one.
    public func events(
        ofUser userID: Identifier<User>, before cursor: Int64?, limit: Int
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await read(.short) { (reader) throws(TransactionError) in
            try reader.events(ofUser: userID, before: cursor ?? .max, limit: limit).value()
        }
    }

    /// Events before number `cursor`, the newest first; nil begins with the last one.
    public func events(before cursor: Int64?, limit: Int) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.events(before: cursor ?? .max, limit: limit).value()
        }
    }

    /// The ends of the client's sessions in the audit trail after number `cursor`, the oldest first. Reads no other event.
    public func sessionEnds(
        ofClient clientID: String, after cursor: Int64, limit: Int
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await read(.short) { (reader) throws(TransactionError) in
            try reader.sessionEnds(ofClient: clientID, after: cursor, limit: limit).value()
        }
    }

    /// The latest changes of a client, or without one of the session settings, the newest first. Reads no other event.
    public func lifetimeChanges(
        ofClient clientID: String?, limit: Int
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await read(.short) { (reader) throws(TransactionError) in
            try reader.lifetimeChanges(ofClient: clientID, limit: limit).value()
        }
    }

    /// The number of the last event that a reader gets; 0 if there is none. Every later event has a larger number.
    public func lastEvent() async throws(StoreError) -> Int64 {
        try await read(.short) { (reader) throws(TransactionError) in try reader.lastEvent().value() }
    }

    /// One step of the audit trail's clean-up: reads the `limit` oldest events by number, and deletes those that occurred
    /// before `instant`. Returns the number of deleted events; 0 ends the walk.
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

    /// See `RevocationSource`.
    public func lastAssignedRevocation() async throws(StoreError) -> Int64 {
        try await read(.short) { (reader) throws(TransactionError) in try reader.lastAssignedRevocation().value() }
    }

    /// Deletes up to `limit` revocations that no longer matter at `instant`. Returns the number of deleted rows.
    public func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteRevocations(before: instant, limit: limit).value()
        }
    }

    /// Lets `change` edit the progress of the delivery of that name, one node after the other. The value is nil if no progress
    /// is recorded; setting it to nil deletes the record.
    public func updateDelivery<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout DeliveryProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write(.keys) { (transaction) throws(TransactionError) in
            let old = try transaction.delivery(name).value()
            var progress = old
            let outcome = change(&progress)
            if progress != old { transaction.write(progress, ofDelivery: name) }
            return outcome
        }
    }

    /// The progress of the delivery of that name; nil if none is recorded.
    public func delivery(_ name: String) async throws(StoreError) -> DeliveryProgress? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.delivery(name).value() }
    }

    /// The progress of each delivery by name, including those of webhooks that are no longer configured.
    public func deliveries() async throws(StoreError) -> [String: DeliveryProgress] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.deliveries().value() }
    }
}
