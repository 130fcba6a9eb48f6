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
            } else if edited.client == nil, old != nil {
                transaction.add(CatalogueSQL.delete(id))
            }
            var next = catalogue
            next.clients[id] = edited.client
            next.settings.epoch = max(next.settings.epoch, edited.client?.epoch ?? 0)
            return (outcome, next, edited.events)
        }
    }

    /// See `Store`.
    public func updateSettings<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout SettingsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await changeCatalogue { (transaction, catalogue) throws(DatabaseError) in
            var edited = SettingsChange(settings: catalogue.settings, clients: catalogue.orderedClients)
            let outcome = change(&edited)
            return (outcome, Catalogue(settings: edited.settings, clients: catalogue.clients), edited.events)
        }
    }

    /// Changes settings or clients while nobody goes through a door; every node learns of it with its next request.
    private func changeCatalogue<Outcome: Sendable>(
        _ body:
            @escaping @Sendable (Transaction, Catalogue) throws(DatabaseError) -> (
                Outcome, next: Catalogue, events: [AuditEvent]
            )
    ) async throws(StoreError) -> Outcome {
        let clock = options.clock
        return try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run([
                CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            ])
            let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
            let (outcome, next, events) = try body(transaction, catalogue)
            let now = clock.now
            if next != catalogue {
                let settings = catalogue.settings(becoming: next, at: now)
                if settings != catalogue.settings { transaction.add(CatalogueSQL.update(settings)) }
                transaction.add(CatalogueSQL.countUp)
            }
            for statement in EventSQL.insert(events, catalogue, at: now) { transaction.add(statement) }
            return outcome
        }
    }
}
