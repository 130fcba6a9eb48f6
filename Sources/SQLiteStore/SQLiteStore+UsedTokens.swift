public import Sessions
internal import StoreFoundation

/// Every statement about tokens that are taken once.
enum UsedTokenRow {
    private static let select = Query("SELECT 1 FROM used_tokens WHERE digest = ? AND good_until > ?")
    private static let insert = Query(
        """
        INSERT INTO used_tokens (digest, good_until) VALUES (?1, ?2)
        ON CONFLICT (digest) DO UPDATE SET good_until = excluded.good_until WHERE good_until <= ?3
        """)
    static let deleteOld = Query(
        """
        DELETE FROM used_tokens WHERE digest IN (SELECT digest FROM used_tokens WHERE good_until <= ? LIMIT ?)
        """)

    /// Whether the token was used before.
    static func holds(_ token: OneTimeToken, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.first(select, token.digest, token.at) { row in row.integer() } != nil
    }

    /// Adds a token; false: it is there.
    static func insert(_ token: OneTimeToken, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.execute(insert, token.digest, token.goodUntil, token.at) == 1
    }
}

extension SQLiteStore {
    /// See `Store`.
    public func use(_ token: OneTimeToken) async throws(StoreError) -> Bool {
        try await write { (transaction) throws(DatabaseError) -> Bool in
            try UsedTokenRow.insert(token, transaction.connection)
        }
    }

    /// See `Store`.
    public func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write { (transaction) throws(DatabaseError) -> Int in
            try transaction.connection.execute(UsedTokenRow.deleteOld, instant, limit)
        }
    }
}
