public import Sessions
internal import StoreFoundation

/// Every statement about tokens that are taken once.
enum UsedTokenRow {
    private static let select = Query("SELECT 1 FROM used_tokens WHERE digest = ? AND good_until > ?")
    static let selectPage = Query(
        "SELECT digest, good_until FROM used_tokens WHERE digest > ? AND good_until > ? ORDER BY digest LIMIT ?")
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
    public func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool] {
        try await write { (transaction) throws(DatabaseError) -> [Bool] in
            try tokens.map { (token) throws(DatabaseError) in try UsedTokenRow.insert(token, transaction.connection) }
        }
    }

    /// See `Store`.
    public func usedTokens(
        after cursor: [UInt8]?, at now: Instant, limit: Int
    ) async throws(StoreError) -> [OneTimeToken] {
        try await readAtLength { (snapshot) throws(DatabaseError) -> [OneTimeToken] in
            try snapshot.connection.all(UsedTokenRow.selectPage, cursor ?? [], now, limit) { row in
                OneTimeToken(digest: row.bytes(), goodUntil: row.instant(), at: now)
            }
        }
    }

    /// See `Store`.
    public func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write { (transaction) throws(DatabaseError) -> Int in
            try transaction.connection.execute(UsedTokenRow.deleteOld, instant, limit)
        }
    }
}
