public import Sessions
internal import StoreFoundation

/// Every statement about what providers are asked with.
enum ProviderCheckRow {
    private static let columns = ProviderCheckColumns.all.list

    static let select = Query("SELECT \(columns) FROM provider_checks WHERE session_id = ?")
    static let selectDue = Query(
        "SELECT \(columns) FROM provider_checks WHERE provider = ? AND due_at <= ? ORDER BY due_at LIMIT ?")
    static let claim = Query(
        "UPDATE provider_checks SET due_at = ?, in_doubt = 1, revision = revision + 1 WHERE session_id = ?")
    static let delete = Query("DELETE FROM provider_checks WHERE session_id = ?")
    private static let doubt = Query("UPDATE provider_checks SET in_doubt = 1, revision = revision + 1")
    private static let replace = Query(
        inserting: nil, ProviderCheckColumns.all, into: "provider_checks", "OR REPLACE")

    /// After a restore: providers may have changed every token since the backup was taken.
    static func doubtAll(_ connection: Connection) throws(DatabaseError) {
        try connection.execute(doubt)
    }

    /// Adds a row, or replaces the one of the same session.
    static func replace(_ check: ProviderCheck, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(replace) { row in ProviderCheckColumns.write(check, to: &row) }
    }
}

extension SQLiteStore {
    /// See `Store`.
    public func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck? {
        try await read { (snapshot) throws(DatabaseError) -> ProviderCheck? in
            try Self.providerCheck(id, snapshot.connection)
        }
    }

    /// See `Store`. Nobody changes the file while this process has it.
    public func databaseLife() async throws(StoreError) -> String { "" }

    /// See `Store`. Looks on a reader first, so that a provider without anything due does not trouble the writer.
    public func claimProviderChecks(
        of provider: String, dueBy now: Instant, until end: Instant, limit: Int
    ) async throws(StoreError) -> [ProviderCheck] {
        guard limit > 0 else { return [] }
        let isDue = try await read { (snapshot) throws(DatabaseError) -> Bool in
            try !Self.due(provider, now, 1, snapshot.connection).isEmpty
        }
        guard isDue else { return [] }
        return try await write { (transaction) throws(DatabaseError) -> [ProviderCheck] in
            var claimed = try Self.due(provider, now, limit, transaction.connection)
            for index in claimed.indices {
                try transaction.connection.execute(ProviderCheckRow.claim, end, claimed[index].sessionID)
                claimed[index].revision += 1
            }
            return claimed
        }
    }

    /// See `Store`.
    public func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write { (transaction) throws(DatabaseError) -> Outcome? in
            let connection = transaction.connection
            let check = try Self.providerCheck(id, connection)
            guard let stored = try SessionRow.find(id, connection) else {
                if check != nil { try connection.execute(ProviderCheckRow.delete, id) }
                return nil
            }
            var edited = ProviderCheckChange(check: check, session: stored.session)
            let outcome = change(&edited)
            try SessionRow.write(
                edited.session.ending, edited.session.confirmation, over: stored.session, number: stored.number,
                connection)
            if edited.session.ending != nil { edited.check = nil }
            if let kept = edited.check {
                if kept != check { try ProviderCheckRow.replace(kept, connection) }
            } else if check != nil {
                try connection.execute(ProviderCheckRow.delete, id)
            }
            try EventRow.insert(edited.events, in: transaction)
            return outcome
        }
    }

    private static func providerCheck(
        _ id: Identifier<Session>, _ connection: Connection
    ) throws(DatabaseError) -> ProviderCheck? {
        try connection.first(ProviderCheckRow.select, id) { (row) throws(CorruptRow) in
            try ProviderCheckColumns.read(&row)
        }
    }

    private static func due(
        _ provider: String, _ now: Instant, _ limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [ProviderCheck] {
        try connection.all(ProviderCheckRow.selectDue, provider, now, limit) { (row) throws(CorruptRow) in
            try ProviderCheckColumns.read(&row)
        }
    }
}
