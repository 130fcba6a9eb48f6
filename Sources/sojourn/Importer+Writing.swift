import Sessions

/// A line that the store, or what is in it, does not allow.
typealias RefusedLine = (line: Int, problem: LineProblem)

extension Importer {
    /// Writes records of one kind, in one transaction where there can be many. Returns what was refused.
    mutating func write(
        _ batch: [(line: Int, record: TransferRecord)]
    ) async throws(StoreError) -> [RefusedLine] {
        var keys: [(Int, StoredSigningKey)] = []
        var admins: [AdminKey] = []
        var refused: [RefusedLine] = []
        var users: [(line: Int, user: User)] = []
        var sessions: [(line: Int, session: Session)] = []
        var identities: [(line: Int, identity: Identity)] = []
        var checks: [(line: Int, check: ProviderCheckLine)] = []
        var tokens: [(line: Int, token: ForeignTokenLine)] = []
        var revocations: [Revocation] = []
        for (line, record) in batch {
            switch record {
            case .header, .end: break
            case .signingKey(let key): keys.append((line, key))
            case .adminKey(let key): admins.append(key)
            case .settings(let settings): refused += try await write(settings, line: line)
            case .client(let client): refused += try await write(client, line: line)
            case .user(let user): users.append((line, user))
            case .identity(let identity): identities.append((line, identity))
            case .session(let session): sessions.append((line, session))
            case .providerCheck(let check): checks.append((line, check))
            case .foreignToken(let token): tokens.append((line, token))
            case .revocation(let revocation): revocations.append(revocation)
            }
        }
        if !keys.isEmpty { refused += try await write(keys) }
        if !admins.isEmpty { try await write(admins) }
        if !users.isEmpty {
            let outcomes = try await store.importUsers(users.map(\.user))
            refused += note(outcomes, of: users.map { ($0.line, "the username '\($0.user.username)'") })
        }
        if !identities.isEmpty {
            let outcomes = try await store.importIdentities(identities.map(\.identity))
            refused += note(outcomes, of: identities.map { ($0.line, "the identity '\($0.identity.key.subject)'") })
        }
        if !sessions.isEmpty {
            let outcomes = try await store.importSessions(sessions.map(\.session))
            refused += note(outcomes, of: sessions.map { ($0.line, "the session \($0.session.id)") })
        }
        if !checks.isEmpty { refused += try await write(checks) }
        if !tokens.isEmpty { refused += try await write(tokens) }
        if !revocations.isEmpty { try await write(revocations) }
        return refused
    }

    /// Counts what was kept, and says what was refused.
    private mutating func note(
        _ outcomes: [ImportOutcome], of lines: [(line: Int, subject: String)]
    ) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        for (outcome, (line, subject)) in zip(outcomes, lines) {
            switch outcome {
            case .written: break
            case .kept: keptCount += 1
            case .usernameTaken: refused.append((line, LineProblem("\(subject) belongs to somebody else")))
            case .unknownUser: refused.append((line, LineProblem("the user of \(subject) is not there")))
            }
        }
        return refused
    }

    /// Adds keys. Those that a new database has just made for itself go: no token is signed with them yet, and every
    /// verifier knows the old ones.
    private func write(_ keys: [(line: Int, key: StoredSigningKey)]) async throws(StoreError) -> [RefusedLine] {
        for (line, key) in keys where !canOpen(key) {
            return [(line, Self.wrongRootKey(key))]
        }
        let isNew = try await !hasSessions()
        let imported = keys.map(\.key)
        try await store.updateSigningKeys { stored, _ in
            if isNew { stored = [] }
            stored.removeAll { old in imported.contains { $0.id == old.id } }
            stored += imported
        }
        return []
    }

    static func wrongRootKey(_ key: StoredSigningKey) -> LineProblem {
        LineProblem(
            "the root key here does not open the signing key \(key.id): every token depends on the root key of the server "
                + "that made the export, which must come along (--root-key-file)",
            isFatal: true)
    }

    private func write(_ keys: [AdminKey]) async throws(StoreError) {
        try await store.updateAdminKeys { stored, _ in
            stored.removeAll { old in keys.contains { $0.id == old.id } }
            stored += keys
        }
    }

    /// The counters only go up, so that what was ended by a "revoke all" stays so.
    private func write(_ settings: Settings, line: Int) async throws(StoreError) -> [RefusedLine] {
        if let problem = Lifetimes.problem(
            settings: settings.sessions, clients: [], absoluteMaximum: absoluteMaximum)
        {
            return [(line, LineProblem("the settings are impossible here: \(problem)", isFatal: true))]
        }
        let event = AuditEvent(.settingsChanged, at: now, by: .importing, reason: "import")
        let (policy, hasSessions) = (RefreshPolicy(absoluteMaximum: absoluteMaximum), try await hasSessions())
        try await store.updateSettings { change in
            let old = change.settings
            change.settings.epoch = max(old.epoch, settings.epoch)
            if let end = settings.earlierTokensEnd {
                change.settings.earlierTokensEnd = max(end, old.earlierTokensEnd ?? end)
            }
            if let cut = settings.revokedBefore, cut.epoch > old.revokedBefore?.epoch ?? .min {
                change.settings.revokedBefore = cut
            }
            if settings.sessions == old.sessions {
                if change.settings != old { change.events = [event] }
            } else {
                change.setLifetimes(settings.sessions, policy, event)
                if !hasSessions { change.events = [event] }
            }
            // What was issued here since the "revoke all" there is over too.
            if hasSessions, change.settings.revokedBefore != old.revokedBefore {
                change.events[0].revokes = .allSessionsEnded
            }
        }
        return []
    }

    /// Whether there can be tokens that were issued by the settings of here. In an export settings come before sessions.
    private func hasSessions() async throws(StoreError) -> Bool {
        try await !store.exportSessions(after: nil, limit: 1).isEmpty
    }

    private func write(_ client: Client, line: Int) async throws(StoreError) -> [RefusedLine] {
        let (now, absoluteMaximum, hasSessions) = (now, absoluteMaximum, try await hasSessions())
        let problem = try await store.updateClient(client.id) { change -> String? in
            var client = client
            // What was deleted here and made again has gone further: the sessions of before stay over.
            if let old = change.client { client.epoch = max(client.epoch, old.epoch) }
            if let problem = Lifetimes.problem(
                settings: change.settings.sessions, clients: [client], absoluteMaximum: absoluteMaximum)
            {
                return problem
            }
            guard let old = change.client, old != client else {
                if change.client == nil {
                    change.client = client
                    change.events = [
                        AuditEvent(.clientCreated, at: now, by: .importing, clientID: client.id, reason: "import")
                    ]
                }
                return nil
            }
            let event = AuditEvent(.clientChanged, at: now, by: .importing, clientID: client.id, reason: "import")
            change.replace(old, by: client, RefreshPolicy(absoluteMaximum: absoluteMaximum), event)
            if !hasSessions { change.events = [event] }
            // Deleted there, and made again: the sessions of before are over.
            if hasSessions, client.epoch > old.epoch { change.events[0].revokes = .clientDeleted }
            return nil
        }
        return problem.map { [(line, LineProblem("the client \(client.id) is impossible here: \($0)"))] } ?? []
    }

    /// Gives sessions what their providers are asked with, one after the other: few have any.
    private mutating func write(
        _ lines: [(line: Int, check: ProviderCheckLine)]
    ) async throws(StoreError) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        for (line, entry) in lines {
            let outcome = try await store.updateProviderCheck(entry.check.sessionID) { change in
                change.take(entry.check, confirmedAt: entry.confirmedAt)
            }
            if outcome == nil {
                refused.append((line, LineProblem("there is no session \(entry.check.sessionID)")))
            } else if outcome == .kept {
                keptCount += 1
            }
        }
        return refused
    }

    /// Adds to the feed what it does not say yet, and what still matters.
    private mutating func write(_ revocations: [Revocation]) async throws(StoreError) {
        var feed = if let known = self.feed { known } else { try await readFeed() }
        let new = revocations.filter { $0.until > now && !feed.says($0) }
        let outcomes = try await store.importRevocations(new)
        for (revocation, outcome) in zip(new, outcomes) where outcome == .written { feed.note(revocation) }
        keptCount += Int64(revocations.count - outcomes.count { $0 == .written })
        self.feed = feed
    }

    private func readFeed() async throws(StoreError) -> RevocationSummary {
        var feed = RevocationSummary()
        var parts = Parts(ofFeedIn: store, at: now)
        while let part = try await parts.next() {
            for revocation in part { feed.note(revocation) }
        }
        return feed
    }

    /// Adds foreign tokens, after their users' names became ids.
    private mutating func write(
        _ lines: [(line: Int, token: ForeignTokenLine)]
    ) async throws(StoreError) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        var tokens: [(line: Int, token: ForeignToken)] = []
        let epoch = try await store.settings().epoch
        let clients = Set(try await store.clients().map(\.id))
        let users = try await store.userIDs(named: Set(lines.compactMap(\.token.username)))
        for (line, entry) in lines {
            guard clients.contains(entry.token.clientID) else {
                refused.append((line, LineProblem("there is no client '\(entry.token.clientID)'")))
                continue
            }
            if let username = entry.username {
                guard let user = users[username] else {
                    refused.append((line, LineProblem("there is no user '\(username)'")))
                    continue
                }
                tokens.append((line, entry.token.belonging(to: user, epoch: epoch)))
            } else {
                tokens.append((line, entry.token.belonging(to: entry.token.userID, epoch: epoch)))
            }
        }
        let outcomes = try await store.importForeignTokens(tokens.map(\.token))
        return refused + note(outcomes, of: tokens.map { ($0.line, "the token") })
    }
}

extension ForeignToken {
    /// The token of that user; it cannot be from a later epoch than the store's.
    fileprivate func belonging(to user: Identifier<User>, epoch: Int64) -> ForeignToken {
        ForeignToken(
            digest: digest, userID: user, clientID: clientID, device: device, scope: scope, startedAt: startedAt,
            expiresAt: expiresAt, epoch: min(self.epoch, epoch), exchange: exchange)
    }
}
