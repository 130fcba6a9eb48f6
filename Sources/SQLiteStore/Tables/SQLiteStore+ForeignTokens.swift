public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`.
    public func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken] {
        guard limit > 0 else { return [] }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> [ForeignToken] in
            try snapshot.connection.all(
                ForeignTokenRow.selectPage, cursor ?? [], limit
            ) { (row) throws(CorruptRow) in try ForeignTokenColumns.read(&row) }
        }
    }

    /// See `Store`. Looks on a reader first, so that junk does not trouble the writer.
    public func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let isThere = try await read { (snapshot) throws(DatabaseError) -> Bool in
            try Self.foreignToken(digest, snapshot.connection) != nil
        }
        guard isThere else { return nil }
        return try await write { (transaction) throws(DatabaseError) -> Outcome? in
            let connection = transaction.connection
            guard let token = try Self.foreignToken(digest, connection) else { return nil }
            let user = try UserRow.find(.id(token.userID), connection)
            let living = try connection.first(
                SessionRow.selectLiving, user?.number, token.clientID, token.device.id
            ) { (row) throws(CorruptRow) in try SessionRow.read(&row).session }
            var edited = ForeignTokenChange(
                token: token, user: user?.user, client: transaction.catalogue.clients[token.clientID],
                settings: transaction.catalogue.settings, living: living)
            let outcome = change(&edited)
            if let session = edited.session {
                guard let user, living == nil else {
                    throw .contradiction("a foreign token was exchanged for a session that cannot be")
                }
                try SessionRow.insert(session, userNumber: user.number, connection)
            }
            if let kept = edited.token {
                if kept.exchange != token.exchange {
                    try connection.execute(
                        ForeignTokenRow.updateExchange, kept.exchange?.sessionID, kept.exchange?.at, digest)
                }
            } else {
                try connection.execute(ForeignTokenRow.delete, digest)
            }
            try EventRow.insert(edited.events, in: transaction)
            return outcome
        }
    }

    private static func foreignToken(
        _ digest: [UInt8], _ connection: Connection
    ) throws(DatabaseError) -> ForeignToken? {
        try connection.first(ForeignTokenRow.select, digest) { (row) throws(CorruptRow) in
            try ForeignTokenColumns.read(&row)
        }
    }
}
