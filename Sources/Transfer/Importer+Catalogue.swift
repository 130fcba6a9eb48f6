internal import Sessions

extension Importer {
    /// Adds signing keys. The keys that a new database has just created are removed, because no token is signed with them,
    /// and every verifier knows the imported ones.
    mutating func write(_ keys: [(line: Int, key: StoredSigningKey)]) async throws(StoreError) -> [RefusedLine] {
        for (line, key) in keys where !canOpen(key) {
            return [(line, Self.wrongRootKey(key))]
        }
        let imported = keys.map(\.key)
        // A known key that is missing when these are written was withdrawn in between.
        let known = replaces ? [] : Set(try await store.updateSigningKeys { keys, _ in keys.map(\.id) })
        try await catchUp()
        let (isNew, replaces, ledger, now) = (isNew, replaces, ledger, now)
        differingCount += try await store.updateSigningKeys { stored, events in
            let old = stored
            stored.removeAll { key in
                let comes = imported.contains { $0.id == key.id }
                return comes ? replaces : isNew
            }
            let added = imported.filter { key in
                !stored.contains { $0.id == key.id } && !ledger.hasDeleted(keyID: key.id) && !known.contains(key.id)
            }
            stored += added
            for key in old where !stored.contains(where: { $0.id == key.id }) {
                events.append(AuditEvent(.signingKeyWithdrawn, at: now, by: .importing, reason: key.id))
            }
            for key in added where !old.contains(where: { $0.id == key.id }) {
                events.append(AuditEvent(.signingKeyCreated, at: now, by: .importing, reason: key.id))
            }
            return Int64(imported.count { !stored.contains($0) })
        }
        return []
    }

    /// The problem of a signing key that the root key of this server does not open.
    static func wrongRootKey(_ key: StoredSigningKey) -> LineProblem {
        LineProblem(
            "the root key here does not open the signing key \(key.id): every token depends on the root key of the server "
                + "that made the export, which must come along (--root-key-file)",
            isFatal: true)
    }

    /// Adds admin keys, except those with a secret that the store has already.
    mutating func write(_ keys: [AdminKey]) async throws(StoreError) {
        let known = replaces ? [] : Set(try await store.adminKeys().map(\.id))
        try await catchUp()
        let (replaces, ledger, now) = (replaces, ledger, now)
        differingCount += try await store.updateAdminKeys { stored, events in
            let old = stored
            if replaces { stored.removeAll { old in keys.contains { $0.id == old.id } } }
            let added = keys.filter { key in
                !stored.contains { $0.id == key.id || $0.hash == key.hash } && !ledger.hasDeleted(keyID: key.id)
                    && !known.contains(key.id)
            }
            stored += added
            for key in added where !old.contains(where: { $0.id == key.id }) {
                events.append(AuditEvent(.adminKeyCreated, at: now, by: .importing, reason: key.id))
            }
            return Int64(keys.count { key in !stored.contains { $0.hash == key.hash } })
        }
    }

    /// Adds logos, before the settings and the clients that show them.
    func write(_ logos: [Logo]) async throws(StoreError) {
        try await store.write(.everything) { (transaction) throws(TransactionError) in
            for logo in logos { transaction.insert(logo) }
        }
    }

    /// Writes settings and clients in one transaction, because they must fit together.
    mutating func write(
        _ settings: [(line: Int, settings: Settings)], _ clients: [(line: Int, client: Client)]
    ) async throws(StoreError) -> [RefusedLine] {
        let known = replaces ? [] : Set(try await store.clients().map(\.id))
        try await catchUp()
        var catalogue = CatalogueImport(
            isTaken: isNew || replaces, memory: ledger, known: known, isForgetful: replaces,
            hasSessions: try await hasSessions(), policy: RefreshPolicy(absoluteMaximum: absoluteMaximum), now: now)
        catalogue.settings = settings.map(\.settings)
        catalogue.clients = clients.map(\.client)
        switch try await store.updateCatalogue({ [catalogue] in catalogue.apply(to: &$0) }) {
        case .impossible(let problem):
            let problem = LineProblem(
                "the settings are impossible here: \(problem). Nothing of settings and clients was taken", isFatal: true
            )
            return settings.suffix(1).map { ($0.line, problem) }
        case .done(let settingsOutcomes, let outcomes):
            differingCount += Int64(settingsOutcomes.count { $0 == .differs })
            differingCount += Int64(outcomes.count { $0 == .done(.differs) })
            return zip(clients, outcomes).compactMap { entry, outcome in
                guard case .impossible(let problem) = outcome else { return nil }
                return (entry.line, LineProblem("this is impossible here: \(problem)"))
            }
        }
    }
}
