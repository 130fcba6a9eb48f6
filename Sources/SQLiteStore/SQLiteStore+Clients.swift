public import Sessions
internal import StoreFoundation

// Settings and clients are answered from memory. What is in memory is what was committed: a change edits the copy that
// belongs to its transaction, after the database took it, and only the commit publishes that copy.
extension SQLiteStore {
    /// See `Store`.
    public func clients() async throws(StoreError) -> [Client] {
        try catalogue().orderedClients
    }

    /// See `Store`.
    public func client(_ id: String) async throws(StoreError) -> Client? { try catalogue().clients[id] }

    /// See `Store`.
    public func settings() async throws(StoreError) -> Settings { try catalogue().settings }

    /// See `Store`.
    public func updateClient<Outcome: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout ClientChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        return try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            var catalogue = transaction.catalogue
            let old = catalogue.clients[id]
            var edited = ClientChange(client: old, settings: catalogue.settings)
            let outcome = change(&edited)
            if let client = edited.client, client != old {
                guard client.id == id else {
                    throw .contradiction("a change of client \(id) returned client \(client.id)")
                }
                try CatalogueRow.write(client, connection)
                catalogue.settings.epoch = max(catalogue.settings.epoch, client.epoch)
            } else if edited.client == nil, old != nil {
                try connection.execute(CatalogueRow.deleteClient, id)
            }
            try EventRow.insert(edited.events, in: transaction)
            if edited.client != old {
                catalogue.clients[id] = edited.client
                catalogue.settings = transaction.catalogue.settings(becoming: catalogue, at: transaction.clock.now)
                if catalogue.settings != transaction.catalogue.settings {
                    try CatalogueRow.write(catalogue.settings, connection)
                }
                transaction.catalogue = catalogue
            }
            return outcome
        }
    }

    /// See `Store`.
    public func updateSettings<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout SettingsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        return try await write { (transaction) throws(DatabaseError) -> Outcome in
            let old = transaction.catalogue
            var edited = SettingsChange(settings: old.settings, clients: old.orderedClients)
            let outcome = change(&edited)
            let next = Catalogue(settings: edited.settings, clients: old.clients)
            let settings = old.settings(becoming: next, at: transaction.clock.now)
            if settings != old.settings { try CatalogueRow.write(settings, transaction.connection) }
            try EventRow.insert(edited.events, in: transaction)
            if settings != old.settings { transaction.catalogue.settings = settings }
            return outcome
        }
    }
}
