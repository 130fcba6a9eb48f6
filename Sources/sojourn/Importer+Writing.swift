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
            let outcomes = try await store.importUsers(users.map(\.user), replaces ? .replacing : .keeping(memory))
            refused += note(outcomes, of: users.map { ($0.line, $0.user.id, "the username '\($0.user.username)'") })
            try await noteNamesakes(of: users.map(\.user), outcomes)
        }
        if !identities.isEmpty {
            let linked = identities.filter { !memory.hasUnlinked($0.identity) }
            differingCount += Int64(identities.count - linked.count)
            let outcomes = try await store.importIdentities(linked.map(\.identity))
            refused += note(
                outcomes,
                of: linked.map { ($0.line, $0.identity.userID, "the identity '\($0.identity.key.subject)'") })
        }
        if !sessions.isEmpty {
            let outcomes = try await store.importSessions(sessions.map(\.session))
            refused += note(
                outcomes, of: sessions.map { ($0.line, $0.session.userID, "the session \($0.session.id)") })
        }
        if !checks.isEmpty { refused += try await write(checks) }
        if !tokens.isEmpty { refused += try await write(tokens) }
        if !revocations.isEmpty { try await write(revocations) }
        return refused
    }

    /// Counts what was kept, and says what was refused.
    private mutating func note(
        _ outcomes: [ImportOutcome], of lines: [(line: Int, user: Identifier<User>, subject: String)]
    ) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        for (outcome, (line, user, subject)) in zip(outcomes, lines) {
            switch outcome {
            case .written: break
            case .kept: keptCount += 1
            case .differs: differingCount += 1
            case .usernameTaken: refused.append((line, LineProblem("\(subject) belongs to somebody else")))
            case .unknownUser where memory.hasDeleted(user): differingCount += 1
            case .unknownUser: refused.append((line, LineProblem("the user of \(subject) is not there")))
            }
        }
        return refused
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

    /// Takes note of the users of the file whose names somebody else has here, who shall not get what comes by the name.
    private mutating func noteNamesakes(of users: [User], _ outcomes: [ImportOutcome]) async throws(StoreError) {
        let doubtful = zip(users, outcomes).filter { $1 != .kept && !($1 == .written && isNew) }.map(\.0)
        if doubtful.isEmpty { return }
        let ids = try await store.userIDs(named: Set(doubtful.map(\.username)))
        for user in doubtful {
            if let id = ids[user.username], id != user.id { namesakes.insert(Text.key(user.username)) }
        }
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
                if memory.hasDeleted(User.importedID(username: username)) {
                    differingCount += 1
                } else if namesakes.contains(Text.key(username)) {
                    refused.append((line, LineProblem("the username '\(username)' belongs to somebody else")))
                } else if let user = users[username] {
                    tokens.append((line, entry.token.belonging(to: user, epoch: epoch)))
                } else {
                    refused.append((line, LineProblem("there is no user '\(username)'")))
                }
            } else {
                tokens.append((line, entry.token.belonging(to: entry.token.userID, epoch: epoch)))
            }
        }
        let good = tokens.filter { $0.token.exchange != nil || !memory.hasEnded($0.token) }
        differingCount += Int64(tokens.count - good.count)
        let outcomes = try await store.importForeignTokens(good.map(\.token), replacing: replaces)
        return refused + note(outcomes, of: good.map { ($0.line, $0.token.userID, "the token") })
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
