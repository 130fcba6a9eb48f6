public import Sessions
internal import StoreFoundation

// Settings and clients are answered from memory. What is in memory is what was committed: a change edits the copy that
// belongs to its transaction, after the database took it, and only the commit publishes that copy.
extension SQLiteStore {
    /// See `Store`.
    public func clients() async throws(StoreError) -> [Client] {
        try catalogue().clients.inOrder
    }

    /// See `Store`.
    public func client(_ id: String) async throws(StoreError) -> Client? { try catalogue().clients[id] }

    /// See `Store`.
    public func settings() async throws(StoreError) -> Settings { try catalogue().settings }

    /// See `Store`.
    public func updateCatalogue<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CatalogueChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        return try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let catalogue = transaction.catalogue
            var edited = CatalogueChange(settings: catalogue.settings, clients: catalogue.clients)
            let outcome = change(&edited)
            var next = Catalogue(settings: edited.settings, clients: edited.clients)
            for (id, client) in next.clients where client != catalogue.clients[id] {
                guard client.id == id else {
                    throw .contradiction("a change of client \(id) returned client \(client.id)")
                }
                try CatalogueRow.write(client, connection)
            }
            for id in catalogue.clients.keys where next.clients[id] == nil {
                try connection.execute(CatalogueRow.deleteClient, id)
            }
            try EventRow.insert(edited.events, in: transaction)
            if next != catalogue {
                next.settings = catalogue.settings(becoming: next, at: transaction.clock.now)
                if next.settings != catalogue.settings { try CatalogueRow.write(next.settings, connection) }
                transaction.catalogue = next
            }
            return outcome
        }
    }
}
