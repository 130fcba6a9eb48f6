public import Sessions

extension SQLiteStore {
    /// See `Store`.
    public func insertUser(_ user: User, events: [AuditEvent]) async throws(StoreError) -> Bool {
        try await write { (transaction) throws(DatabaseError) -> Bool in
            guard try UserRow.find(.username(user.username), transaction.connection) == nil else { return false }
            try UserRow.insert(user, transaction.connection)
            try EventRow.insert(events, transaction.connection)
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
        let pattern = query.flatMap { $0.isEmpty ? nil : UserRow.pattern(containing: Text.normalized($0)) }
        let keyPattern = query.map { UserRow.pattern(containing: Text.key($0)) }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> Page<User> in
            let rows = try snapshot.connection.all(
                UserRow.selectPage, cursor ?? "", pattern, keyPattern, Self.oneMore(than: limit)
            ) { (row) throws(DatabaseError) in (user: try UserRow.read(&row).user, key: row.text()) }
            let items = rows.prefix(limit)
            return Page(items: items.map(\.user), nextCursor: rows.count > limit ? items.last?.key : nil)
        }
    }

    /// See `Store`.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        let clock = options.clock
        return try await write { (transaction) throws(DatabaseError) -> UserUpdate<Outcome> in
            let connection = transaction.connection
            guard let stored = try UserRow.find(reference, connection) else { return .notFound }
            var edited = UserChange(user: stored.user, settings: transaction.catalogue.settings)
            let outcome = change(&edited)
            if !edited.deletes, edited.user != stored.user {
                if let other = try UserRow.find(.username(edited.user.username), connection),
                    other.number != stored.number
                {
                    return .usernameTaken
                }
                try UserRow.update(edited.user, number: stored.number, connection)
            }
            var ended = 0
            if let ending = edited.ending { ended += try Self.end(ending, of: stored, connection) }
            if edited.deletes {
                // Whom the change did not end for a reason of its own.
                let at = edited.ending?.at ?? edited.events.first?.at ?? clock.now
                ended += try Self.end(UserChange.EndingSessions(.userDeleted, at: at), of: stored, connection)
                try connection.execute(UserRow.delete, stored.number)
            }
            try EventRow.insert(edited.events, connection)
            return .done(outcome, endedSessions: ended)
        }
    }

    private static func end(
        _ ending: UserChange.EndingSessions, of stored: UserRow.Numbered, _ connection: Connection
    ) throws(DatabaseError) -> Int {
        try connection.execute(
            ForeignTokenRow.deleteWaiting, stored.user.id, ending.clientID, ending.deviceID)
        return try connection.execute(
            SessionRow.endAll, ending.at, ending.reason.rawValue, stored.number, ending.except, ending.clientID,
            ending.deviceID)
    }
}
