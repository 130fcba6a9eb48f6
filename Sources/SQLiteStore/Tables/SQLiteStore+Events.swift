public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`.
    public func append(_ events: [AuditEvent]) async throws(StoreError) {
        try await write { (transaction) throws(DatabaseError) -> Void in
            try EventRow.insert(events, in: transaction)
        }
    }

    /// See `Store`.
    public func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent] {
        guard limit > 0 else { return [] }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> [RecordedEvent] in
            let connection = snapshot.connection
            func read(_ row: inout Row) throws(CorruptRow) -> RecordedEvent { try EventColumns.read(&row) }
            return switch (userID, sessionID) {
            case (nil, nil): try connection.all(EventRow.selectAll, cursor, limit, read: read)
            case (let user?, nil): try connection.all(EventRow.selectOfUser, cursor, user, limit, read: read)
            case (nil, let session?): try connection.all(EventRow.selectOfSession, cursor, session, limit, read: read)
            case (let user?, let session?):
                try connection.all(EventRow.selectOfBoth, cursor, session, user, limit, read: read)
            }
        }
    }

    /// See `Store`.
    public func sweepEvents(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        guard limit > 0 else { return 0 }
        return try await write { (transaction) throws(DatabaseError) -> Int in
            try transaction.connection.execute(EventRow.deleteOld, limit, instant)
        }
    }

    /// See `Store`.
    public func revocations(
        after cursor: Int64, at now: Instant, limit: Int
    ) async throws(StoreError) -> [Revocation] {
        try await read { (snapshot) throws(DatabaseError) -> [Revocation] in
            try snapshot.connection.all(RevocationRow.select, cursor, now, limit) { (row) throws(CorruptRow) in
                try RevocationColumns.read(&row)
            }
        }
    }

    /// See `Store`.
    public func lastRevocation() async throws(StoreError) -> Int64 {
        try await read { (snapshot) throws(DatabaseError) -> Int64 in
            try snapshot.connection.first(RevocationRow.selectLast) { row in row.integer() } ?? 0
        }
    }

    /// See `Store`.
    public func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write { (transaction) throws(DatabaseError) -> Int in
            try transaction.connection.execute(RevocationRow.deleteOld, instant, limit)
        }
    }
}
