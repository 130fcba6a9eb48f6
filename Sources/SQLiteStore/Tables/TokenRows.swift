internal import Sessions
internal import StoreFoundation

/// Every statement about single-use tokens.
enum UsedTokenRow {
    static let select = Query("SELECT 1 FROM used_tokens WHERE digest = ? AND good_until > ?")
    static let selectPage = Query(
        "SELECT digest, good_until FROM used_tokens WHERE digest > ? AND good_until > ? ORDER BY digest LIMIT ?")
    static let insert = Query(
        """
        INSERT INTO used_tokens (digest, good_until) VALUES (?1, ?2)
        ON CONFLICT (digest) DO UPDATE SET good_until = excluded.good_until WHERE good_until <= ?3
        """)
    static let deleteOld = Query(
        """
        DELETE FROM used_tokens WHERE digest IN (SELECT digest FROM used_tokens WHERE good_until <= ? LIMIT ?)
        """)
}

/// Every statement about failed attempts.
enum FailedAttemptRow {
    static let select = Query(
        "SELECT \(FailedAttemptColumns.all.list) FROM failed_attempts WHERE digest = ?")
    static let replace = Query(
        """
        INSERT INTO failed_attempts (digest, user_id, \(FailedAttemptColumns.all.list)) VALUES (?, ?, ?, ?)
        ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id,
            wrong_passwords = excluded.wrong_passwords, wrong_password_at = excluded.wrong_password_at
        """
    )
    static let delete = Query("DELETE FROM failed_attempts WHERE digest = ?")
    static let deleteOld = Query(
        "DELETE FROM failed_attempts WHERE digest IN (SELECT digest FROM failed_attempts WHERE wrong_password_at < ? LIMIT ?)"
    )
    static let deleteOfUser = Query("DELETE FROM failed_attempts WHERE user_id = ?")
}

/// Every statement about provider checks.
enum ProviderCheckRow {
    private static let columns = ProviderCheckColumns.all.list

    static let select = Query("SELECT \(columns) FROM provider_checks WHERE session_id = ?")
    static let selectDue = Query(
        "SELECT \(columns) FROM provider_checks WHERE provider = ? AND due_at <= ? ORDER BY due_at LIMIT ?")
    static let claim = Query(
        "UPDATE provider_checks SET due_at = ?, in_doubt = 1, revision = revision + 1 WHERE session_id = ?")
    static let replace = Query(replacing: nil, ProviderCheckColumns.all, in: "provider_checks")
    static let delete = Query("DELETE FROM provider_checks WHERE session_id = ?")
    private static let doubt = Query("UPDATE provider_checks SET in_doubt = 1, revision = revision + 1")

    static func read(_ row: inout Row) throws(CorruptRow) -> ProviderCheck { try ProviderCheckColumns.read(&row) }

    /// Marks all checks as in doubt after a restore, because providers may have changed every token since the backup.
    static func doubtAll(_ connection: Connection) throws(DatabaseError) {
        try connection.execute(doubt)
    }
}

/// Every statement about foreign tokens.
enum ForeignTokenRow {
    private static let columns = ForeignTokenColumns.all.list

    static let select = Query("SELECT \(columns) FROM foreign_tokens WHERE digest = ?")
    static let selectWaiting = Query("SELECT 1 FROM foreign_tokens WHERE user_id = ? AND session_id IS NULL LIMIT 1")
    static let selectPage = Query("SELECT \(columns) FROM foreign_tokens WHERE digest > ? ORDER BY digest LIMIT ?")

    /// Each arm reads by an index of its own.
    static let selectOld = Query(
        """
        SELECT \(columns) FROM foreign_tokens WHERE digest IN (
            SELECT digest FROM foreign_tokens WHERE exchanged_at IS NOT NULL AND exchanged_at <= ?1
            UNION ALL SELECT digest FROM foreign_tokens
            WHERE exchanged_at IS NULL AND expires_at IS NOT NULL AND expires_at <= ?1
            UNION ALL SELECT digest FROM foreign_tokens WHERE exchanged_at IS NULL AND started_at <= ?2
            LIMIT ?3
        )
        """)

    private static let replacement = """
        ON CONFLICT (digest) DO UPDATE SET \(ForeignTokenColumns.all.replacements)
        WHERE foreign_tokens.session_id IS NULL
        """
    /// Adds a token, or replaces one that was not exchanged.
    static let replace = Query(
        inserting: nil, ForeignTokenColumns.all, into: "foreign_tokens", onConflict: replacement)
    /// Adds a token, or replaces one that was not exchanged by an exchanged one.
    static let insert = Query(
        inserting: nil, ForeignTokenColumns.all, into: "foreign_tokens",
        onConflict: "\(replacement) AND excluded.session_id IS NOT NULL")

    static let updateExchange = Query("UPDATE foreign_tokens SET session_id = ?, exchanged_at = ? WHERE digest = ?")
    static let delete = Query("DELETE FROM foreign_tokens WHERE digest = ?")

    /// Deletes a user's tokens that were not exchanged: all, or those of one client or one device.
    static let deleteWaiting = Query(
        """
        DELETE FROM foreign_tokens
        WHERE user_id = ?1 AND session_id IS NULL AND (?2 IS NULL OR client_id = ?2) AND (?3 IS NULL OR device_id = ?3)
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> ForeignToken { try ForeignTokenColumns.read(&row) }
}
