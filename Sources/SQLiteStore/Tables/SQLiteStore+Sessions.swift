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

    /// See `Store`.
    public func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int,
        _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep {
        try await write { (transaction) throws(DatabaseError) -> SweepStep in
            let connection = transaction.connection
            let catalogue = transaction.catalogue
            let step = try connection.all(
                SessionRow.selectStep, cursor?.bytes ?? [], limit
            ) { (row) throws(CorruptRow) in try SessionRow.readWithUser(&row) }
            var deleted = 0
            for found in step where isForgotten(catalogue.record(of: found.session, found.user)) {
                deleted += try connection.execute(SessionRow.delete, found.number)
                try connection.execute(ProviderCheckRow.delete, found.session.id)
                try connection.execute(PINRow.delete, found.session.id)
            }
            return SweepStep(cursor: step.count < limit ? nil : step.last?.session.id, deleted: deleted)
        }
    }
}
