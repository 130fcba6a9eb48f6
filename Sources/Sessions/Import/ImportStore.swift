// What an import reads of the store before it writes: the audit trail, so that what was ended or deleted here stays so.

extension Store {
    /// One step along the trail, from the oldest event on: looks at the next `limit` events after number `cursor`, and gives those of
    /// `ImportLedger.generalKinds`.
    public func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep {
        try await read(.long) { (reader) throws(TransactionError) in
            try reader.ledgerStep(after: cursor, limit: limit).value()
        }
    }

    /// What `ImportLedger` takes up of the trail of those users, from the oldest on.
    public func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent] {
        guard !users.isEmpty else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.ledgerEvents(of: Array(users)).value()
        }
    }
}

extension StoreTransaction {
    /// Asks for the news of the trail, for an import of that mode; nil if they do not matter.
    func news(for mode: ImportMode) -> Answer<[RecordedEvent]>? { mode.place.map { ledgerEvents(after: $0) } }
}

extension ImportMode {
    /// The mode, with what the trail tells until now.
    func knowing(_ news: Answer<[RecordedEvent]>?) throws(TransactionError) -> ImportMode {
        guard let news else { return self }
        return knowing(try news.value())
    }
}
