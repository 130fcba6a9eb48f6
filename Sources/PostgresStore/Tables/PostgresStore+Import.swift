public import Sessions
internal import StoreFoundation

// An import keeps everybody else out of the users and sessions while one batch of it is written: it is done once, and what it
// meets must stay as it was found.
extension PostgresStore {
    /// See `Store`.
    public func exportSessions(
        after cursor: Identifier<Session>?, limit: Int
    ) async throws(StoreError) -> [Session] {
        guard limit > 0 else { return [] }
        return try await read([SessionSQL.selectInOrder(after: cursor, limit: limit)], takesLong: true) {
            (rows) throws(DatabaseError) in
            try rows[0].map { (row) throws(CorruptRow) in try SessionColumns.read(&row) }
        }
    }

    /// See `Store`.
    public func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep {
        try await read(EventSQL.selectStep(after: cursor, limit: limit), takesLong: true) {
            (rows) throws(DatabaseError) in
            let end = try rows[0].first { row in row.integer() }
            let events = try rows[1].map { (row) throws(CorruptRow) in try EventColumns.read(&row) }
            return LedgerStep(events, to: end ?? cursor)
        }
    }

    /// See `Store`.
    public func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent] {
        guard !users.isEmpty else { return [] }
        return try await read([EventSQL.selectRemembered(of: ImportSQL.array(users))], takesLong: true) {
            (rows) throws(DatabaseError) in
            try rows[0].map { (row) throws(CorruptRow) in try EventColumns.read(&row) }
        }
    }

    /// See `Store`. Three round trips, however many users: what is there, what is written, the commit.
    public func importUsers(_ users: [User], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        guard !users.isEmpty else { return [] }
        let clock = options.clock
        return try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let found = try transaction.run([MetUsers.selecting(users)] + ImportSQL.news(mode))
            let mode = try ImportSQL.knowing(found.dropFirst().first, mode)
            var met = try MetUsers(found[0])
            var outcomes: [ImportOutcome] = []
            var writes: [Statement] = []
            var written: [(place: Int, old: User?, new: User)] = []
            for user in users {
                let stored = met.byID[user.id]
                let namesake = met.idsByKey[Text.key(user.username)]
                switch mode.decision(on: user, stored: stored, namesake: namesake) {
                case .leave(let outcome): outcomes.append(outcome)
                case .write(let user, let outcome):
                    writes.append(stored == nil ? UserSQL.insert(user) : UserSQL.update(user))
                    written.append((outcomes.count, stored, user))
                    met.note(user)
                    outcomes.append(outcome)
                }
            }
            // Who makes a user at this moment needs no lock for it, and may have taken the name.
            let rows = try transaction.run(Self.selectingCatalogue + writes)
            let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
            let clients = Array(catalogue.clients.values)
            var events: [AuditEvent] = []
            for (rows, write) in zip(rows.dropFirst(3), written) {
                if rows.changedCount == 0 {
                    outcomes[write.place] = .usernameTaken
                } else if let old = write.old {
                    var change = UserChange(user: old, settings: catalogue.settings, clients: clients)
                    change.take(write.new, at: clock.now)
                    events += change.events
                }
            }
            for statement in EventSQL.insert(events, catalogue, at: clock.now) { transaction.add(statement) }
            return outcomes
        }
    }

    /// See `Store`. Three round trips, however many revocations.
    public func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome] {
        guard !revocations.isEmpty else { return [] }
        return try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let ids = ImportSQL.array(Set(revocations.compactMap(\.userID)))
            let rows = try transaction.run([
                ImportSQL.users(ids, ArrayParameter(of: .text)),
                ImportSQL.sessions(ImportSQL.array(Set(revocations.compactMap(\.sessionID)))),
            ])
            let users = try rows[0].map { (row) throws(CorruptRow) in try UserColumns.read(&row) }
            let usersByID = Dictionary(users.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let sessions = try rows[1].map { (row) throws(CorruptRow) in try SessionColumns.read(&row) }
            let living = Set(sessions.lazy.filter { $0.ending == nil }.map(\.id))
            let outcomes = revocations.map { revocation -> ImportOutcome in
                let holds = revocation.holds(
                    user: revocation.userID.flatMap { usersByID[$0] },
                    sessionLives: revocation.sessionID.map(living.contains) ?? false)
                return holds ? .written : .kept
            }
            let written = RevocationSQL.insert(zip(revocations, outcomes).filter { $0.1 == .written }.map(\.0))
            if !written.isEmpty { transaction.add(TransactionLock.trail.alone) }
            for statement in written { transaction.add(statement) }
            return outcomes
        }
    }

    private static let selectingCatalogue = [
        CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
    ]

    /// See `Store`. Three round trips, however many sessions; a fourth when sessions end by it.
    public func importSessions(
        _ sessions: [Session], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !sessions.isEmpty else { return [] }
        let clock = options.clock
        return try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            var met = try MetSessions(sessions, mode, transaction)
            var outcomes: [ImportOutcome] = []
            var events: [AuditEvent] = []
            for session in sessions {
                let meeting = met.meeting(session)
                switch meeting.decision {
                case .keep: outcomes.append(.kept)
                case .leaveOut: outcomes.append(.differs)
                case .refuse: outcomes.append(.unknownUser)
                case .write(let session, let ended):
                    if let ended, let ending = ended.ending {
                        transaction.add(SessionSQL.end(ended.id, ending))
                        met.note(ended)
                    }
                    transaction.add(SessionSQL.replace(session))
                    if session.ending != nil { transaction.add(ProviderCheckSQL.delete(session.id)) }
                    met.note(session)
                    events += meeting.events(session, ended: ended, at: clock.now)
                    outcomes.append(.written)
                }
            }
            if !events.isEmpty {
                let rows = try transaction.run(Self.selectingCatalogue)
                let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
                for statement in EventSQL.insert(events, catalogue, at: clock.now) { transaction.add(statement) }
            }
            return outcomes
        }
    }

    /// See `Store`. One round trip, however many names.
    public func userIDs(named usernames: Set<String>) async throws(StoreError) -> [String: Identifier<User>] {
        guard !usernames.isEmpty else { return [:] }
        let keys = Dictionary(grouping: usernames, by: Text.key)
        var array = ArrayParameter(of: .text)
        for key in keys.keys { array.append(key) }
        return try await read([ImportSQL.named(array)]) { (rows) throws(DatabaseError) in
            var ids: [String: Identifier<User>] = [:]
            let found = try rows[0].map { (row) throws(CorruptRow) -> (Identifier<User>, String) in
                (try row.identifier(), row.text())
            }
            for (id, key) in found { for name in keys[key] ?? [] { ids[name] = id } }
            return ids
        }
    }

    /// See `Store`. Three round trips, however many tokens.
    public func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !tokens.isEmpty else { return [] }
        return try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let (users, mode) = try ImportSQL.existing(tokens.map(\.userID), mode, transaction)
            let known = tokens.filter { users.contains($0.userID) && !mode.hasEnded($0) }
            var changed = try transaction.run(
                known.map { ForeignTokenSQL.insert($0, replacing: mode == .replacing) }
            ).makeIterator()
            return tokens.map { token in
                guard users.contains(token.userID) else { return .unknownUser }
                if mode.hasEnded(token) { return .differs }
                return (changed.next()?.changedCount ?? 0) > 0 ? .written : .kept
            }
        }
    }
}
