public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`.
    public func insertUser(_ user: User, events: [AuditEvent]) async throws(StoreError) -> Bool {
        try await write { (transaction) throws(DatabaseError) -> Bool in
            guard try UserRow.find(.username(user.username), transaction.connection) == nil else { return false }
            try UserRow.insert(user, transaction.connection)
            try EventRow.insert(events, in: transaction)
            return true
        }
    }

    /// See `Store`.
    public func user(_ reference: UserReference) async throws(StoreError) -> User? {
        try await read { (snapshot) throws(DatabaseError) -> User? in
            try UserRow.find(reference, snapshot.connection)?.user
        }
    }

    /// See `Store`. Looks through the whole table when few users match, on the reader for long reads.
    public func users(
        matching query: String?, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<User> {
        guard limit > 0 else { return Page(items: [], nextCursor: nil) }
        let pattern = query.flatMap { $0.isEmpty ? nil : UserColumns.pattern(containing: Text.normalized($0)) }
        let keyPattern = query.map { UserColumns.pattern(containing: Text.key($0)) }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> Page<User> in
            let rows = try snapshot.connection.all(
                UserRow.selectPage, cursor ?? "", pattern, keyPattern, Self.oneMore(than: limit)
            ) { (row) throws(CorruptRow) in (user: try UserRow.read(&row).user, key: row.text()) }
            let items = rows.prefix(limit)
            return Page(items: items.map(\.user), nextCursor: rows.count > limit ? items.last?.key : nil)
        }
    }

    /// See `Store`.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        return try await write { (transaction) throws(DatabaseError) -> UserUpdate<Outcome> in
            let connection = transaction.connection
            guard let stored = try UserRow.find(reference, connection) else { return .notFound }
            let catalogue = transaction.catalogue
            var edited = UserChange(
                user: stored.user, settings: catalogue.settings, clients: Array(catalogue.clients.values),
                asking: try sessionID.flatMap { (id) throws(DatabaseError) in
                    try SessionRow.find(id, connection)?.session
                })
            let outcome = change(&edited)
            let effect = edited.effect(on: stored.user, now: transaction.clock.now)
            if let user = effect.written {
                let namesake = try UserRow.find(.username(user.username), connection)?.user.id
                if effect.isRefused(by: namesake) { return .usernameTaken }
                try UserRow.update(user, connection)
            }
            var ended = 0
            var events = edited.events
            for ending in effect.endings {
                let sessions = try Self.end(ending, of: stored, connection)
                ended += sessions.count
                events += edited.events(sessions, by: ending)
            }
            if edited.forgetsGuesses { try connection.execute(FailedAttemptRow.deleteOfUser, stored.user.id) }
            if effect.deletes {
                try connection.execute(IdentityRow.deleteOfUser, stored.user.id)
                try connection.execute(UserRow.delete, stored.number)
            }
            try EventRow.insert(events, in: transaction)
            return .done(outcome, endedSessions: ended)
        }
    }

    private static func end(
        _ ending: UserChange.EndingSessions, of stored: UserRow.Numbered, _ connection: Connection
    ) throws(DatabaseError) -> [EndedSession] {
        try connection.execute(
            ForeignTokenRow.deleteWaiting, stored.user.id, ending.clientID, ending.deviceID)
        let ended = try connection.all(
            SessionRow.endAll, ending.at, ending.reason.rawValue, stored.number, ending.except, ending.clientID,
            ending.deviceID
        ) { (row) throws(CorruptRow) in try EndedSession(&row) }
        for session in ended { try connection.execute(ProviderCheckRow.delete, session.id) }
        return ended
    }
}
