internal import Sessions
internal import StoreFoundation

/// Every statement about single-use tokens.
enum UsedTokenSQL {
    /// Changes no row when the token was used. Waits for a concurrent use of the token.
    static func insert(_ token: OneTimeToken) -> Statement {
        Statement(inserting, token.digest, token.goodUntil, token.at)
    }

    private static let inserting = Template(
        """
        INSERT INTO used_tokens (digest, good_until) VALUES ($1::bytea, $2::bigint)
        ON CONFLICT (digest) DO UPDATE SET good_until = excluded.good_until
            WHERE used_tokens.good_until <= $3::bigint
        """)

    /// Returns a row when the token was used.
    static func select(_ token: OneTimeToken) -> Statement { Statement(selecting, token.digest, token.at) }

    private static let selecting = Template(
        "SELECT 1::bigint FROM used_tokens WHERE digest = $1::bytea AND good_until > $2::bigint")

    static func selectPage(after cursor: [UInt8], at now: Instant, limit: Int) -> Statement {
        Statement(
            """
            SELECT digest, good_until FROM used_tokens WHERE digest > $1::bytea AND good_until > $2::bigint
            ORDER BY digest LIMIT $3::bigint
            """, cursor, now, limit)
    }

    /// Checks each row again after a wait for its lock, so that a token that was used again meanwhile is kept.
    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM used_tokens
            WHERE good_until <= $1::bigint AND digest IN (
                SELECT digest FROM used_tokens WHERE good_until <= $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}

/// Every statement about failed attempts, which all nodes count together.
enum FailedAttemptSQL {
    static func select(_ target: LockoutTarget) -> Statement { Statement(selecting, target.digest) }

    private static let selecting = Template(
        "SELECT \(FailedAttemptColumns.all.list) FROM failed_attempts WHERE digest = $1::bytea")

    /// The row, locked. Inserts an empty one if there was none, so that of two concurrent first attempts one waits.
    static func take(_ target: LockoutTarget) -> Statement {
        Statement(
            """
            INSERT INTO failed_attempts (digest, user_id, \(FailedAttemptColumns.all.list)) VALUES ($1::bytea, $2::uuid, 0, 0)
            ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id RETURNING \(FailedAttemptColumns.all.list)
            """, target.digest, target.userID)
    }

    static func update(_ failedAttempts: FailedAttempts, of target: LockoutTarget) -> Statement {
        Statement(
            "UPDATE failed_attempts SET wrong_passwords = $2::bigint, wrong_password_at = $3::bigint WHERE digest = $1::bytea",
            target.digest, failedAttempts.count, failedAttempts.lastAt)
    }

    static func delete(_ target: LockoutTarget) -> Statement {
        Statement("DELETE FROM failed_attempts WHERE digest = $1::bytea", target.digest)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM failed_attempts WHERE user_id = $1::uuid", userID)
    }

    /// Checks each row again after a wait for its lock, so that an attempt that was counted meanwhile is kept.
    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM failed_attempts
            WHERE wrong_password_at < $1::bigint AND digest IN (
                SELECT digest FROM failed_attempts WHERE wrong_password_at < $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}

/// Every statement about provider checks.
enum ProviderCheckSQL {
    private static let columns = ProviderCheckColumns.all.list

    static func select(_ id: Identifier<Session>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM provider_checks WHERE session_id = $1::uuid \(locked)", id)
    }

    static func selectDue(_ provider: String, by now: Instant, limit: Int, locked: String = "") -> Statement {
        Statement(
            """
            SELECT \(columns) FROM provider_checks WHERE provider = $1::text AND due_at <= $2::bigint
            ORDER BY due_at LIMIT $3::bigint \(locked)
            """, provider, now, limit)
    }

    static func claim(_ ids: ArrayParameter, until end: Instant) -> Statement {
        Statement(
            """
            UPDATE provider_checks SET due_at = $2::bigint, in_doubt = true, revision = revision + 1
            WHERE session_id = ANY ($1::uuid[])
            """, ids, end)
    }

    static func replace(_ check: ProviderCheck) -> Statement {
        Statement(
            """
            INSERT INTO provider_checks (\(columns))
            VALUES (\(ProviderCheckColumns.all.placeholders()))
            ON CONFLICT (session_id) DO UPDATE SET \(ProviderCheckColumns.all.replacements)
            """
        ) { row in ProviderCheckColumns.write(check, to: &row) }
    }

    static func delete(_ id: Identifier<Session>) -> Statement {
        Statement("DELETE FROM provider_checks WHERE session_id = $1::uuid", id)
    }

    /// The start time of the server and the identity of this table, because a restored dump creates the table anew.
    static let selectLife = Statement(
        """
        SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
            'provider_checks'::regclass::oid::bigint
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> ProviderCheck { try ProviderCheckColumns.read(&row) }
}
