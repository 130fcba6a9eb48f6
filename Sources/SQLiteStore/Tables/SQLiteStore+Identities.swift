public import Sessions
internal import StoreFoundation

/// Every statement about identities.
enum IdentityRow {
    private static let columns = IdentityColumns.all.list

    static let select = Query("SELECT \(columns) FROM identities WHERE provider = ? AND subject = ?")
    static let selectOfUser = Query(
        "SELECT \(columns) FROM identities WHERE user_id = ? ORDER BY provider, subject")
    static let selectPage = Query(
        "SELECT \(columns) FROM identities WHERE (provider, subject) > (?, ?) ORDER BY provider, subject LIMIT ?")
    static let delete = Query("DELETE FROM identities WHERE provider = ? AND subject = ? AND user_id = ?")
    static let deleteOfUser = Query("DELETE FROM identities WHERE user_id = ?")
    private static let insert = Query(
        inserting: nil, IdentityColumns.all, into: "identities", onConflict: "ON CONFLICT DO NOTHING")

    /// Adds an identity; false: it is there.
    static func insert(_ identity: Identity, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.execute(insert) { row in IdentityColumns.write(identity, to: &row) } == 1
    }
}

extension SQLiteStore {
    /// See `Store`.
    public func identity(_ key: Identity.Key) async throws(StoreError) -> Identity? {
        try await read { (snapshot) throws(DatabaseError) -> Identity? in try Self.identity(key, snapshot.connection) }
    }

    /// See `Store`.
    public func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity] {
        try await read { (snapshot) throws(DatabaseError) -> [Identity] in
            try snapshot.connection.all(IdentityRow.selectOfUser, userID) { (row) throws(CorruptRow) in
                try IdentityColumns.read(&row)
            }
        }
    }

    /// See `Store`.
    public func insertIdentity(
        _ insertion: IdentityInsertion
    ) async throws(StoreError) -> IdentityInsertion.Outcome {
        try await write { (transaction) throws(DatabaseError) -> IdentityInsertion.Outcome in
            let connection = transaction.connection
            let identity = insertion.identity
            if let known = try Self.identity(identity.key, connection) { return .taken(by: known.userID) }
            guard try UserRow.number(of: identity.userID, connection) != nil else { return .unknownUser }
            _ = try IdentityRow.insert(identity, connection)
            try EventRow.insert(insertion.events, in: transaction)
            return .inserted
        }
    }

    /// See `Store`.
    public func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        try await write { (transaction) throws(DatabaseError) -> Bool in
            let connection = transaction.connection
            guard try connection.execute(IdentityRow.delete, key.provider, key.subject, userID) == 1 else {
                return false
            }
            try EventRow.insert(events, in: transaction)
            return true
        }
    }

    /// See `Store`.
    public func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity] {
        guard limit > 0 else { return [] }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> [Identity] in
            try snapshot.connection.all(
                IdentityRow.selectPage, cursor?.provider ?? "", cursor?.subject ?? "", limit
            ) { (row) throws(CorruptRow) in try IdentityColumns.read(&row) }
        }
    }

    /// See `Store`.
    public func importIdentities(
        _ identities: [Identity], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !identities.isEmpty else { return [] }
        return try await write { (transaction) throws(DatabaseError) -> [ImportOutcome] in
            let connection = transaction.connection
            let mode = try Self.knowingNews(mode, connection)
            var outcomes: [ImportOutcome] = []
            for identity in identities {
                if try UserRow.number(of: identity.userID, connection) == nil {
                    outcomes.append(.unknownUser)
                } else if mode.hasUnlinked(identity) {
                    outcomes.append(.differs)
                } else {
                    outcomes.append(try IdentityRow.insert(identity, connection) ? .written : .kept)
                }
            }
            return outcomes
        }
    }

    static func identity(_ key: Identity.Key, _ connection: Connection) throws(DatabaseError) -> Identity? {
        try connection.first(IdentityRow.select, key.provider, key.subject) { (row) throws(CorruptRow) in
            try IdentityColumns.read(&row)
        }
    }
}
