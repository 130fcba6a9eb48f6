// Settings and clients.

extension Store {
    /// Every client, by id.
    public func clients() async throws(StoreError) -> [Client] { try await catalogue().clients.inOrder }

    /// The client with that id.
    public func client(_ id: String) async throws(StoreError) -> Client? { try await catalogue().clients[id] }

    /// The current settings.
    public func settings() async throws(StoreError) -> Settings { try await catalogue().settings }

    /// Lets `change` edit the settings, and create, edit or delete clients. Every node reads the change with its next request.
    public func updateCatalogue<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CatalogueChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write(.everything) { (transaction) throws(TransactionError) in
            let old = try transaction.catalogue().value()
            var edited = CatalogueChange(settings: old.settings, clients: old.clients)
            let outcome = change(&edited)
            for (id, client) in edited.clients where client.id != id {
                throw .corrupted("a change of client \(id) returned client \(client.id)")
            }
            var new = Catalogue(settings: edited.settings, clients: edited.clients)
            if new != old {
                new.settings = old.settings(becoming: new, at: transaction.now)
                transaction.write(CatalogueDifference(from: old, to: new))
                transaction.lookEarlier(under: new, than: old)
            }
            if let logo = edited.newLogo { transaction.insert(logo) }
            for name in old.logos.subtracting(new.logos) { Logo.digest(named: name).map(transaction.deleteLogo) }
            // Uses the old catalogue, because it determines the tokens that the events revoke.
            transaction.append(edited.events, old)
            return outcome
        }
    }

    /// Lets `change` create, edit or delete the client.
    public func updateClient<Outcome: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout ClientChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await updateCatalogue { $0.change(id, change) }
    }

    /// Lets `change` edit the settings.
    public func updateSettings<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout SettingsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await updateCatalogue { $0.changeSettings(change) }
    }
}
