public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`.
    public func clients() async throws(StoreError) -> [Client] { try await catalogue().catalogue.orderedClients }

    /// See `Store`.
    public func client(_ id: String) async throws(StoreError) -> Client? { try await catalogue().catalogue.clients[id] }

    /// See `Store`.
    public func settings() async throws(StoreError) -> Settings { try await catalogue().catalogue.settings }

    /// See `Store`.
    public func updateClient<Outcome: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout ClientChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await changeCatalogue { (transaction, catalogue) throws(DatabaseError) in
            let old = catalogue.clients[id]
            var edited = ClientChange(client: old, settings: catalogue.settings)
            let outcome = change(&edited)
            if let client = edited.client, client != old {
                guard client.id == id else {
                    throw .contradiction("a change of client \(id) returned client \(client.id)")
                }
                transaction.add(CatalogueSQL.replace(client))
                if client.epoch > catalogue.settings.epoch {
                    var settings = catalogue.settings
                    settings.epoch = client.epoch
                    transaction.add(CatalogueSQL.update(settings))
                }
            } else if edited.client == nil, old != nil {
                transaction.add(CatalogueSQL.delete(id))
            }
            return (outcome, edited.client != old, edited.events)
        }
    }

    /// See `Store`.
    public func updateSettings<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout SettingsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await changeCatalogue { (transaction, catalogue) throws(DatabaseError) in
            var edited = SettingsChange(settings: catalogue.settings, clients: catalogue.orderedClients)
            let outcome = change(&edited)
            let differs = edited.settings != catalogue.settings
            if differs { transaction.add(CatalogueSQL.update(edited.settings)) }
            return (outcome, differs, edited.events)
        }
    }

    /// Changes settings or clients while nobody goes through a door; every node learns of it with its next request.
    private func changeCatalogue<Outcome: Sendable>(
        _ body:
            @escaping @Sendable (Transaction, Catalogue) throws(DatabaseError) -> (
                Outcome, differs: Bool, events: [AuditEvent]
            )
    ) async throws(StoreError) -> Outcome {
        try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run([
                CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            ])
            let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
            let (outcome, differs, events) = try body(transaction, catalogue)
            if differs { transaction.add(CatalogueSQL.countUp) }
            for statement in EventSQL.insert(events) { transaction.add(statement) }
            return outcome
        }
    }
}
