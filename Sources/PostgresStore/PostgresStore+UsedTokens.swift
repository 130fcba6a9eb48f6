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
    public func use(_ token: OneTimeToken) async throws(StoreError) -> Bool {
        try await change(nil, by: Int(token.digest[0])) { (transaction) throws(DatabaseError) in
            try transaction.run(UsedTokenSQL.insert(token)).changedCount == 1
        }
    }

    /// See `Store`.
    public func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await change(nil) { (transaction) throws(DatabaseError) in
            try transaction.run(UsedTokenSQL.deleteOld(before: instant, limit: limit)).changedCount
        }
    }
}
