public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`.
    public func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken] {
        guard limit > 0 else { return [] }
        let statement = ForeignTokenSQL.selectPage(after: cursor, limit: limit)
        return try await read([statement], takesLong: true) { (rows) throws(DatabaseError) in
            try rows[0].map { (row) throws(CorruptRow) in try ForeignTokenColumns.read(&row) }
        }
    }

    /// See `Store`. Looks without a lock first, so that junk troubles nobody.
    public func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let found = try await read([ForeignTokenSQL.select(digest)]) { (rows) throws(DatabaseError) in
            try rows[0].first { (row) throws(CorruptRow) in try ForeignTokenColumns.read(&row) }
        }
        // Whose it is never changes.
        guard let userID = found?.userID, let clientID = found?.clientID, let deviceID = found?.device.id else {
            return nil
        }
        return try await self.change(TransactionLock.doors.shared) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run([
                UserSQL.select(.id(userID), locked: UserSQL.forChange),
                ForeignTokenSQL.select(digest, locked: "FOR UPDATE"),
                SessionSQL.selectLiving(userID, clientID, deviceID),
                CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            ])
            let user = try rows[0].first { (row) throws(CorruptRow) in try UserColumns.read(&row) }
            let token = try rows[1].first { (row) throws(CorruptRow) in try ForeignTokenColumns.read(&row) }
            let living = try rows[2].first { (row) throws(CorruptRow) in try SessionColumns.read(&row) }
            let catalogue = try CatalogueCache.entry(rows[3], rows[4], rows[5]).catalogue
            guard let token else { return nil }
            var edited = ForeignTokenChange(
                token: token, user: user, client: catalogue.clients[token.clientID], settings: catalogue.settings,
                living: living)
            let outcome = change(&edited)
            if let session = edited.session {
                guard user != nil, living == nil else {
                    throw .contradiction("a foreign token was exchanged for a session that cannot be")
                }
                transaction.add(SessionSQL.insert(session))
            }
            if let kept = edited.token {
                if kept.exchange != token.exchange { transaction.add(ForeignTokenSQL.update(digest, kept.exchange)) }
            } else {
                transaction.add(ForeignTokenSQL.delete(digest))
            }
            for statement in EventSQL.insert(edited.events) { transaction.add(statement) }
            return outcome
        }
    }
}
