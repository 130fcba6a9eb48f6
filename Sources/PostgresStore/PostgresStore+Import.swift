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
            try rows[0].map { (row) throws(Contradiction) in try SessionColumns.read(&row) }
        }
    }

    /// See `Store`.
    public func importUsers(_ users: [User]) async throws(StoreError) -> [ImportOutcome] {
        try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            var outcomes: [ImportOutcome] = []
            for user in users { outcomes.append(try Self.importUser(user, transaction)) }
            return outcomes
        }
    }

    /// See `Store`.
    public func importSessions(_ sessions: [Session]) async throws(StoreError) -> [ImportOutcome] {
        try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            var outcomes: [ImportOutcome] = []
            for session in sessions { outcomes.append(try Self.importSession(session, transaction)) }
            return outcomes
        }
    }

    /// See `Store`.
    public func importForeignTokens(_ tokens: [ForeignToken]) async throws(StoreError) -> [ImportOutcome] {
        try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            var outcomes: [ImportOutcome] = []
            for token in tokens {
                guard try transaction.run(UserSQL.select(.id(token.userID))).count > 0 else {
                    outcomes.append(.unknownUser)
                    continue
                }
                let changed = try transaction.run(ForeignTokenSQL.insert(token)).changedCount
                outcomes.append(changed > 0 ? .written : .kept)
            }
            return outcomes
        }
    }

    private static func importUser(_ user: User, _ transaction: Transaction) throws(DatabaseError) -> ImportOutcome {
        let rows = try transaction.run([
            UserSQL.select(.id(user.id)), UserSQL.select(.username(user.username)),
        ])
        let stored = try rows[0].first { (row) throws(Contradiction) in try UserColumns.read(&row) }
        let namesake = try rows[1].first { (row) throws(Contradiction) in try UserColumns.read(&row) }
        let outcome = ImportOutcome.of(user, stored: stored, namesake: namesake?.id)
        if outcome == .written { transaction.add(stored == nil ? UserSQL.insert(user) : UserSQL.update(user)) }
        return outcome
    }

    private static func importSession(
        _ session: Session, _ transaction: Transaction
    ) throws(DatabaseError) -> ImportOutcome {
        let rows = try transaction.run([
            SessionSQL.selectByID(session.id), UserSQL.select(.id(session.userID)),
            SessionSQL.selectLiving(session.userID, session.clientID, session.device.id),
        ])
        let stored = try rows[0].first { (row) throws(Contradiction) in try SessionColumns.read(&row) }
        var living = try rows[2].first { (row) throws(Contradiction) in try SessionColumns.read(&row) }
        if living?.id == session.id { living = nil }
        let meeting = SessionImport(session: session, stored: stored, living: living, hasUser: rows[1].count > 0)
        switch meeting.decision {
        case .keep: return .kept
        case .refuse: return .unknownUser
        case .write(let session, let ended):
            if let ended, let ending = ended.ending { transaction.add(SessionSQL.end(ended.id, ending)) }
            transaction.add(SessionSQL.replace(session))
            return .written
        }
    }
}
