import Sessions

extension Importer {
    /// Adds keys. Those that a new database has just made for itself go: no token is signed with them yet, and every
    /// verifier knows the old ones.
    mutating func write(_ keys: [(line: Int, key: StoredSigningKey)]) async throws(StoreError) -> [RefusedLine] {
        for (line, key) in keys where !canOpen(key) {
            return [(line, Self.wrongRootKey(key))]
        }
        let imported = keys.map(\.key)
        let (isNew, replaces, memory, now) = (isNew, replaces, memory, now)
        differingCount += try await store.updateSigningKeys { stored, events in
            let old = stored
            stored.removeAll { key in
                let comes = imported.contains { $0.id == key.id }
                return comes ? replaces : isNew
            }
            let added = imported.filter { key in
                !stored.contains { $0.id == key.id } && !memory.hasDeleted(keyID: key.id)
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

    static func wrongRootKey(_ key: StoredSigningKey) -> LineProblem {
        LineProblem(
            "the root key here does not open the signing key \(key.id): every token depends on the root key of the server "
                + "that made the export, which must come along (--root-key-file)",
            isFatal: true)
    }

    /// Adds admin keys. One of a secret that opens this database already is none that is new.
    mutating func write(_ keys: [AdminKey]) async throws(StoreError) {
        let (replaces, memory, now) = (replaces, memory, now)
        differingCount += try await store.updateAdminKeys { stored, events in
            let old = stored
            if replaces { stored.removeAll { old in keys.contains { $0.id == old.id } } }
            let added = keys.filter { key in
                !stored.contains { $0.id == key.id || $0.hash == key.hash } && !memory.hasDeleted(keyID: key.id)
            }
            stored += added
            for key in added where !old.contains(where: { $0.id == key.id }) {
                events.append(
                    AuditEvent(.adminKeyCreated, at: now, by: .importing, reason: "\(key.id) \(key.name)"))
            }
            return Int64(keys.count { key in !stored.contains { $0.hash == key.hash } })
        }
    }

    /// The counters only go up, so that what was ended by a "revoke all" stays so.
    mutating func write(_ settings: Settings, line: Int) async throws(StoreError) -> [RefusedLine] {
        let isTaken = isNew || replaces
        let policy = RefreshPolicy(absoluteMaximum: absoluteMaximum)
        if isTaken,
            let problem = Lifetimes.problem(
                settings: settings.sessions, clients: [],
                absoluteMaximum: policy.absoluteMaximum(beside: try await store.settings()))
        {
            return [(line, LineProblem("the settings are impossible here: \(problem)", isFatal: true))]
        }
        let event = AuditEvent(.settingsChanged, at: now, by: .importing, reason: "import")
        let hasSessions = try await hasSessions()
        differingCount += try await store.updateSettings { change in
            let old = change.settings
            change.settings.epoch = max(old.epoch, settings.epoch)
            if let end = settings.earlierTokensEnd {
                change.settings.earlierTokensEnd = max(end, old.earlierTokensEnd ?? end)
            }
            if let cut = settings.revokedBefore, cut.epoch > old.revokedBefore?.epoch ?? .min {
                change.settings.revokedBefore = cut
            }
            if settings.sessions == old.sessions || !isTaken {
                if change.settings != old { change.events = [event] }
            } else {
                change.setLifetimes(settings.sessions, policy, event)
                if !hasSessions { change.events = [event] }
            }
            // What was issued here since the "revoke all" there is over too.
            if hasSessions, change.settings.revokedBefore != old.revokedBefore {
                change.events[0].revokes = .allSessionsEnded
            }
            return change.settings.sessions == settings.sessions ? 0 : 1
        }
        return []
    }

    /// Makes a client, or does with the one that is here what the mode is; its epoch only goes up.
    mutating func write(_ client: Client, line: Int) async throws(StoreError) -> [RefusedLine] {
        let isTaken = isNew || replaces
        let policy = RefreshPolicy(absoluteMaximum: absoluteMaximum)
        let (now, memory, hasSessions) = (now, memory, try await hasSessions())
        let outcome = try await store.updateClient(client.id) { change -> Result<ImportOutcome, LineProblem> in
            var taken = client
            if let old = change.client {
                if !isTaken { taken = old }
                // What was deleted here and made again has gone further: the sessions of before stay over.
                taken.epoch = max(client.epoch, old.epoch)
            } else if memory.hasDeleted(client) {
                return .success(.differs)
            }
            if let problem = Lifetimes.problem(
                settings: change.settings.sessions, clients: [taken],
                absoluteMaximum: policy.absoluteMaximum(beside: change.settings))
            {
                return .failure(LineProblem("the client \(client.id) is impossible here: \(problem)"))
            }
            guard let old = change.client else {
                change.client = taken
                change.events = [
                    AuditEvent(.clientCreated, at: now, by: .importing, clientID: client.id, reason: "import")
                ]
                return .success(.written)
            }
            if old != taken {
                let event = AuditEvent(.clientChanged, at: now, by: .importing, clientID: client.id, reason: "import")
                change.replace(old, by: taken, policy, event)
                if !hasSessions { change.events = [event] }
                // Deleted there, and made again: the sessions of before are over.
                if hasSessions, taken.epoch > old.epoch { change.events[0].revokes = .clientDeleted }
            }
            taken.epoch = client.epoch
            return .success(taken == client ? .written : .differs)
        }
        switch outcome {
        case .failure(let problem): return [(line, problem)]
        case .success(let outcome):
            if outcome == .differs { differingCount += 1 }
            return []
        }
    }
}
