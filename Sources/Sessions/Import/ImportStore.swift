// The reads of an import before it writes: events of the audit trail, so that deletions and endings stay in force.

extension Store {
    /// One step along the trail, the oldest event first: reads the next `limit` events after number `cursor`, and returns those
    /// of the kinds `ImportLedger.generalKinds`.
    public func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep {
        try await read(.long) { (reader) throws(TransactionError) in
            try reader.ledgerStep(after: cursor, limit: limit).value()
        }
    }

    /// The events of those users that `ImportLedger` records, the oldest first.
    public func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent] {
        guard !users.isEmpty else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.ledgerEvents(of: Array(users)).value()
        }
    }
}

extension StoreTransaction {
    /// Requests the news of the trail for an import of that mode; nil if the mode ignores them.
    func news(for mode: ImportMode) -> Answer<[RecordedEvent]>? { mode.place.map { ledgerEvents(after: $0) } }
}

extension ImportMode {
    /// The mode, with the events of the trail until now.
    func knowing(_ news: Answer<[RecordedEvent]>?) throws(TransactionError) -> ImportMode {
        guard let news else { return self }
        return knowing(try news.value())
    }
}
