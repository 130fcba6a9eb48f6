internal import Sessions
internal import StoreFoundation

/// Every statement about foreign tokens.
enum ForeignTokenSQL {
    private static let columns = ForeignTokenColumns.all.list

    static func read(_ row: inout Row) throws(CorruptRow) -> ForeignToken { try ForeignTokenColumns.read(&row) }

    static func select(_ digest: [UInt8], locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM foreign_tokens WHERE digest = $1::bytea \(locked)", digest)
    }

    static func selectPage(after cursor: [UInt8]?, limit: Int) -> Statement {
        Statement(
            "SELECT \(columns) FROM foreign_tokens WHERE digest > $1::bytea ORDER BY digest LIMIT $2::bigint",
            cursor ?? [], limit)
    }

    /// Each arm reads by an index of its own.
    static func selectOld(endedBy end: Instant, startedBy start: Instant, limit: Int) -> Statement {
        Statement(
            """
            (SELECT \(columns) FROM foreign_tokens
            WHERE exchanged_at IS NOT NULL AND exchanged_at <= $1::bigint LIMIT $3::bigint)
            UNION
            (SELECT \(columns) FROM foreign_tokens
            WHERE exchanged_at IS NULL AND expires_at IS NOT NULL AND expires_at <= $1::bigint LIMIT $3::bigint)
            UNION
            (SELECT \(columns) FROM foreign_tokens
            WHERE exchanged_at IS NULL AND started_at <= $2::bigint LIMIT $3::bigint)
            LIMIT $3::bigint
            """, end, start, limit)
    }

    /// Adds a token, or replaces one that was not exchanged: by an exchanged one, or by any when `replacing`.
    static func insert(_ token: ForeignToken, replacing: Bool) -> Statement {
        Statement(
            """
            INSERT INTO foreign_tokens AS t (\(columns))
            VALUES (\(ForeignTokenColumns.all.placeholders()))
            ON CONFLICT (digest) DO UPDATE SET \(ForeignTokenColumns.all.replacements)
            WHERE t.session_id IS NULL \(replacing ? "" : "AND excluded.session_id IS NOT NULL")
            """
        ) { row in ForeignTokenColumns.write(token, to: &row) }
    }

    /// One row if the user has a token that was not exchanged.
    static func selectWaiting(of userID: Identifier<User>) -> Statement {
        Statement(
            "SELECT 1 FROM foreign_tokens WHERE user_id = $1::uuid AND session_id IS NULL LIMIT 1", userID)
    }

    static func update(_ digest: [UInt8], _ exchange: ForeignToken.Exchange?) -> Statement {
        Statement(
            "UPDATE foreign_tokens SET session_id = $2::uuid, exchanged_at = $3::bigint WHERE digest = $1::bytea",
            digest, exchange?.sessionID, exchange?.at)
    }

    static func delete(_ digest: [UInt8]) -> Statement {
        Statement("DELETE FROM foreign_tokens WHERE digest = $1::bytea", digest)
    }

    /// Deletes a user's tokens that were not exchanged: all, or those of one client or one device.
    static func deleteWaiting(_ ending: UserChange.EndingSessions, of userID: Identifier<User>) -> Statement {
        Statement(
            """
            DELETE FROM foreign_tokens
            WHERE user_id = $1::uuid AND session_id IS NULL AND ($2::text IS NULL OR client_id = $2::text)
                AND ($3::text IS NULL OR device_id = $3::text)
            """, userID, ending.clientID, ending.deviceID)
    }
}
