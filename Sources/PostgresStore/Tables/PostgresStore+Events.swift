public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`.
    public func append(_ events: [AuditEvent]) async throws(StoreError) {
        try await change(nil) { (transaction) throws(DatabaseError) -> Void in
            for statement in EventSQL.insert(events) { transaction.add(statement) }
        }
    }

    /// See `Store`.
    public func sweepEvents(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        guard limit > 0 else { return 0 }
        return try await change(nil) { (transaction) throws(DatabaseError) in
            try transaction.run(EventSQL.deleteOld(before: instant, limit: limit)).changedCount
        }
    }

    /// See `Store`.
    public func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        let statement = EventSQL.select(after: cursor, limit: limit, userID: userID, sessionID: sessionID)
        return try await read([statement], takesLong: true) { (rows) throws(DatabaseError) in
            try rows[0].map { (row) throws(CorruptRow) in try EventColumns.read(&row) }
        }
    }

    /// See `Store`.
    public func revocations(
        after cursor: Int64, at now: Instant, limit: Int
    ) async throws(StoreError) -> [Revocation] {
        try await read([RevocationSQL.select(after: cursor, at: now, limit: limit)]) { (rows) throws(DatabaseError) in
            try rows[0].map { (row) throws(CorruptRow) in try RevocationColumns.read(&row) }
        }
    }

    /// See `Store`.
    public func lastRevocation() async throws(StoreError) -> Int64 {
        try await read([RevocationSQL.selectLast]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in row.integer() } ?? 0
        }
    }

    /// See `Store`.
    public func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await change(nil) { (transaction) throws(DatabaseError) in
            try transaction.run(RevocationSQL.deleteOld(before: instant, limit: limit)).changedCount
        }
    }
}
