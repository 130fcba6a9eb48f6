public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`.
    public func insertUser(_ user: User, events: [AuditEvent]) async throws(StoreError) -> Bool {
        try await change(nil) { (transaction) throws(DatabaseError) in
            guard try transaction.run(UserSQL.insert(user)).changedCount == 1 else { return false }
            for statement in EventSQL.insert(events) { transaction.add(statement) }
            return true
        }
    }

    /// See `Store`.
    public func user(_ reference: UserReference) async throws(StoreError) -> User? {
        try await read([UserSQL.select(reference)]) { (rows) throws(DatabaseError) in
            try rows[0].first { (row) throws(CorruptRow) in try UserColumns.read(&row) }
        }
    }

    /// See `Store`. Looks through the whole table when few users match, on the connection for long reads.
    public func users(
        matching query: String?, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<User> {
        guard limit > 0 else { return Page(items: [], nextCursor: nil) }
        let pattern = query.flatMap { $0.isEmpty ? nil : UserColumns.pattern(containing: Text.normalized($0)) }
        let keyPattern = query.map { UserColumns.pattern(containing: Text.key($0)) }
        let statement = UserSQL.selectPage(
            pattern, keyPattern, after: cursor ?? "", limit: limit == .max ? limit : limit + 1)
        return try await read([statement], takesLong: true) { (rows) throws(DatabaseError) in
            let found = try rows[0].map { (row) throws(CorruptRow) in
                (user: try UserColumns.read(&row), key: row.text())
            }
            let items = found.prefix(limit)
            return Page(items: items.map(\.user), nextCursor: found.count > limit ? items.last?.key : nil)
        }
    }

    /// See `Store`. No session is refreshed, and nobody logs in, between what is read here and the commit.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        let clock = options.clock
        return try await self.change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run(
                [
                    UserSQL.select(reference, locked: "FOR UPDATE"), CatalogueCache.revision,
                    CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
                ] + (sessionID.map { [SessionSQL.selectByID($0)] } ?? []))
            guard let old = try rows[0].first({ (row) throws(CorruptRow) in try UserColumns.read(&row) }) else {
                return .notFound
            }
            let catalogue = try CatalogueCache.entry(rows[1], rows[2], rows[3]).catalogue
            let asking = try rows.dropFirst(4).first?
                .first { (row) throws(CorruptRow) in try SessionColumns.read(&row) }
            var edited = UserChange(
                user: old, settings: catalogue.settings, clients: Array(catalogue.clients.values), asking: asking)
            let outcome = change(&edited)
            let effect = edited.effect(on: old, now: clock.now)
            if let user = effect.written {
                let namesake = try transaction.run(UserSQL.select(.username(user.username)))
                    .first { (row) throws(CorruptRow) in try UserColumns.read(&row).id }
                if effect.isRefused(by: namesake) { return .usernameTaken }
                transaction.add(UserSQL.update(user))
            }
            var ended = 0
            var events = edited.events
            for ending in effect.endings {
                let sessions = try Self.end(ending, of: old.id, transaction)
                ended += sessions.count
                events += edited.events(sessions, by: ending)
            }
            if edited.forgetsGuesses { transaction.add(FailedAttemptSQL.delete(of: old.id)) }
            if effect.deletes {
                transaction.add(IdentitySQL.delete(of: old.id))
                transaction.add(UserSQL.delete(old.id))
            }
            for statement in EventSQL.insert(events, catalogue, at: clock.now) { transaction.add(statement) }
            return .done(outcome, endedSessions: ended)
        }
    }

    private static func end(
        _ ending: UserChange.EndingSessions, of userID: Identifier<User>, _ transaction: Transaction
    ) throws(DatabaseError) -> [EndedSession] {
        transaction.add(ForeignTokenSQL.deleteWaiting(ending, of: userID))
        return try transaction.run(SessionSQL.endAll(ending, of: userID))
            .map { (row) throws(CorruptRow) in try EndedSession(&row) }
    }
}
