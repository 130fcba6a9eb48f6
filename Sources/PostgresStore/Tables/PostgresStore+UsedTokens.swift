public import Sessions
internal import StoreFoundation

/// Every statement about tokens that are taken once.
enum UsedTokenSQL {
    /// Changes no row when the token was used. Waits for whoever is about to use it.
    static func insert(_ token: OneTimeToken) -> Statement {
        Statement(inserting, token.digest, token.goodUntil, token.at)
    }

    private static let inserting = Template(
        """
        INSERT INTO used_tokens (digest, good_until) VALUES ($1::bytea, $2::bigint)
        ON CONFLICT (digest) DO UPDATE SET good_until = excluded.good_until
            WHERE used_tokens.good_until <= $3::bigint
        """)

    static func selectPage(after cursor: [UInt8], at now: Instant, limit: Int) -> Statement {
        Statement(
            """
            SELECT digest, good_until FROM used_tokens WHERE digest > $1::bytea AND good_until > $2::bigint
            ORDER BY digest LIMIT $3::bigint
            """, cursor, now, limit)
    }

    /// Looks at each row again that it had to wait for: what is used anew meanwhile stays.
    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM used_tokens
            WHERE good_until <= $1::bigint AND digest IN (
                SELECT digest FROM used_tokens WHERE good_until <= $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}

extension PostgresStore {
    /// See `Store`.
    public func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool] {
        guard let first = tokens.first else { return [] }
        return try await change(nil, by: Int(first.digest[0])) { (transaction) throws(DatabaseError) in
            try transaction.run(tokens.map(UsedTokenSQL.insert)).map { $0.changedCount == 1 }
        }
    }

    /// See `Store`.
    public func usedTokens(
        after cursor: [UInt8]?, at now: Instant, limit: Int
    ) async throws(StoreError) -> [OneTimeToken] {
        try await read([UsedTokenSQL.selectPage(after: cursor ?? [], at: now, limit: limit)], takesLong: true) {
            (rows) throws(DatabaseError) in
            try rows[0].map { row in OneTimeToken(digest: row.bytes(), goodUntil: row.instant(), at: now) }
        }
    }

    /// See `Store`.
    public func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await change(nil) { (transaction) throws(DatabaseError) in
            try transaction.run(UsedTokenSQL.deleteOld(before: instant, limit: limit)).changedCount
        }
    }
}
