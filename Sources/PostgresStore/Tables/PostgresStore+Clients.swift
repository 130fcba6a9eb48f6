public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`.
    public func clients() async throws(StoreError) -> [Client] { try await catalogue().catalogue.clients.inOrder }

    /// See `Store`.
    public func client(_ id: String) async throws(StoreError) -> Client? { try await catalogue().catalogue.clients[id] }

    /// See `Store`.
    public func settings() async throws(StoreError) -> Settings { try await catalogue().catalogue.settings }

    /// See `Store`. Nobody goes through a door meanwhile; every node learns of the change with its next request.
    public func updateCatalogue<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CatalogueChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let clock = options.clock
        return try await self.change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run([
                CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            ])
            let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
            var edited = CatalogueChange(settings: catalogue.settings, clients: catalogue.clients)
            let outcome = change(&edited)
            let next = Catalogue(settings: edited.settings, clients: edited.clients)
            let now = clock.now
            for (id, client) in next.clients where client != catalogue.clients[id] {
                guard client.id == id else {
                    throw .contradiction("a change of client \(id) returned client \(client.id)")
                }
                transaction.add(CatalogueSQL.replace(client))
            }
            for id in catalogue.clients.keys where next.clients[id] == nil { transaction.add(CatalogueSQL.delete(id)) }
            if next != catalogue {
                let settings = catalogue.settings(becoming: next, at: now)
                if settings != catalogue.settings { transaction.add(CatalogueSQL.update(settings)) }
                transaction.add(CatalogueSQL.countUp)
            }
            for statement in EventSQL.insert(edited.events, catalogue, at: now) { transaction.add(statement) }
            return outcome
        }
    }
}
