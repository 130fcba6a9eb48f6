public import Sessions
internal import StoreFoundation

/// Every statement about identities.
enum IdentitySQL {
    private static let columns = IdentityColumns.all.list

    static func select(_ key: Identity.Key) -> Statement {
        Statement(
            "SELECT \(columns) FROM identities WHERE provider = $1::text AND subject = $2::text", key.provider,
            key.subject)
    }

    static func select(of userID: Identifier<User>) -> Statement {
        Statement("SELECT \(columns) FROM identities WHERE user_id = $1::uuid ORDER BY provider, subject", userID)
    }

    static func selectPage(after cursor: Identity.Key?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM identities WHERE (provider, subject) > ($1::text COLLATE "C", $2::text COLLATE "C")
            ORDER BY provider, subject LIMIT $3::bigint
            """, cursor?.provider ?? "", cursor?.subject ?? "", limit)
    }

    /// Changes no row when the identity is there.
    static func insert(_ identity: Identity) -> Statement {
        Statement(
            """
            INSERT INTO identities (\(columns)) VALUES ($1::text, $2::text, $3::uuid, $4::bigint)
            ON CONFLICT (provider, subject) DO NOTHING
            """
        ) { row in IdentityColumns.write(identity, to: &row) }
    }

    static func delete(_ key: Identity.Key, of userID: Identifier<User>) -> Statement {
        Statement(
            "DELETE FROM identities WHERE provider = $1::text AND subject = $2::text AND user_id = $3::uuid",
            key.provider, key.subject, userID)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM identities WHERE user_id = $1::uuid", userID)
    }

    static func read(_ rows: Rows) throws(DatabaseError) -> [Identity] {
        try rows.map { (row) throws(CorruptRow) in try IdentityColumns.read(&row) }
    }
}

extension PostgresStore {
    /// See `Store`.
    public func identity(_ key: Identity.Key) async throws(StoreError) -> Identity? {
        try await read([IdentitySQL.select(key)]) { (rows) throws(DatabaseError) in
            try IdentitySQL.read(rows[0]).first
        }
    }

    /// See `Store`.
    public func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity] {
        try await read([IdentitySQL.select(of: userID)]) { (rows) throws(DatabaseError) in
            try IdentitySQL.read(rows[0])
        }
    }

    /// See `Store`. No user goes meanwhile, and of two who add the same identity the second waits for the first.
    public func insertIdentity(
        _ insertion: IdentityInsertion
    ) async throws(StoreError) -> IdentityInsertion.Outcome {
        try await change(TransactionLock.doors.shared) { (transaction) throws(DatabaseError) in
            let identity = insertion.identity
            // The row of the user is what a login waits for that wants to link them.
            let rows = try transaction.run([
                UserSQL.select(.id(identity.userID), locked: UserSQL.forChange), IdentitySQL.select(identity.key),
            ])
            if let known = try IdentitySQL.read(rows[1]).first { return .taken(by: known.userID) }
            let user = try rows[0].first { (row) throws(CorruptRow) in try UserColumns.read(&row) }
            guard user != nil else { return .unknownUser }
            guard try transaction.run(IdentitySQL.insert(identity)).changedCount == 1 else {
                // Somebody was quicker by a moment, and has committed.
                guard let known = try IdentitySQL.read(try transaction.run(IdentitySQL.select(identity.key))).first
                else { throw .contradiction("an identity is there and is not") }
                return .taken(by: known.userID)
            }
            for statement in EventSQL.insert(insertion.events) { transaction.add(statement) }
            return .inserted
        }
    }

    /// See `Store`. No import brings it back at the same moment.
    public func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        try await change(TransactionLock.doors.shared) { (transaction) throws(DatabaseError) in
            guard try transaction.run(IdentitySQL.delete(key, of: userID)).changedCount == 1 else { return false }
            for statement in EventSQL.insert(events) { transaction.add(statement) }
            return true
        }
    }

    /// See `Store`.
    public func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity] {
        guard limit > 0 else { return [] }
        return try await read([IdentitySQL.selectPage(after: cursor, limit: limit)], takesLong: true) {
            (rows) throws(DatabaseError) in try IdentitySQL.read(rows[0])
        }
    }

    /// See `Store`. Three round trips, however many identities.
    public func importIdentities(
        _ identities: [Identity], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !identities.isEmpty else { return [] }
        return try await change(TransactionLock.doors.alone) { (transaction) throws(DatabaseError) in
            let (users, mode) = try ImportSQL.existing(identities.map(\.userID), mode, transaction)
            let known = identities.filter { users.contains($0.userID) && !mode.hasUnlinked($0) }
            var changed = try transaction.run(known.map(IdentitySQL.insert)).makeIterator()
            return identities.map { identity in
                guard users.contains(identity.userID) else { return .unknownUser }
                if mode.hasUnlinked(identity) { return .differs }
                return (changed.next()?.changedCount ?? 0) > 0 ? .written : .kept
            }
        }
    }
}
