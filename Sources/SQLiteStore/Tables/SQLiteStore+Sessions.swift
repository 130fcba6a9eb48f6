public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`. The hot path.
    public func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        try await write { (transaction) throws(DatabaseError) in
            try Self.update(id, change, in: &transaction)
        } preparing: { isFound in
            if isFound { prepare() }
        }
    }

    /// Runs the statements of a refresh: one select, one update, and a share of a commit.
    private static func update(
        _ id: Identifier<Session>, _ change: (inout SessionChange) -> Void, in transaction: inout Transaction
    ) throws(DatabaseError) -> Bool {
        let connection = transaction.connection
        guard let stored = try SessionRow.find(id, connection) else { return false }
        var edited = SessionChange(transaction.catalogue.record(of: stored.session, stored.user))
        change(&edited)
        try SessionRow.write(edited.session, over: stored.session, number: stored.number, connection)
        try EventRow.insert(edited.events, in: &transaction)
        return true
    }

    /// See `Store`.
    public func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        try await read { (snapshot) throws(DatabaseError) -> SessionRecord? in
            try SessionRow.find(id, snapshot.connection).map { snapshot.catalogue.record(of: $0.session, $0.user) }
        }
    }
}
