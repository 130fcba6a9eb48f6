internal import Sessions
internal import StoreFoundation

/// Every statement about foreign tokens.
enum ForeignTokenRow {
    private static let columns = ForeignTokenColumns.all.list

    static let select = Query("SELECT \(columns) FROM foreign_tokens WHERE digest = ?")
    static let selectPage = Query("SELECT \(columns) FROM foreign_tokens WHERE digest > ? ORDER BY digest LIMIT ?")

    private static let replacement = """
        ON CONFLICT (digest) DO UPDATE SET \(ForeignTokenColumns.all.replacements)
        WHERE foreign_tokens.session_id IS NULL
        """
    private static let replace = Query(
        inserting: nil, ForeignTokenColumns.all, into: "foreign_tokens", onConflict: replacement)
    private static let insert = Query(
        inserting: nil, ForeignTokenColumns.all, into: "foreign_tokens",
        onConflict: "\(replacement) AND excluded.session_id IS NOT NULL")

    static let updateExchange = Query(
        "UPDATE foreign_tokens SET session_id = ?, exchanged_at = ? WHERE digest = ?")
    static let delete = Query("DELETE FROM foreign_tokens WHERE digest = ?")

    /// Deletes what waits of a user: all, or that of one client, one device.
    static let deleteWaiting = Query(
        """
        DELETE FROM foreign_tokens
        WHERE user_id = ?1 AND session_id IS NULL AND (?2 IS NULL OR client_id = ?2) AND (?3 IS NULL OR device_id = ?3)
        """)

    /// Adds a token, or replaces one that was not exchanged, by one that was or when `replacing`; returns the number of rows that
    /// changed.
    static func insert(
        _ token: ForeignToken, replacing: Bool, _ connection: Connection
    ) throws(DatabaseError) -> Int {
        try connection.execute(replacing ? replace : insert) { row in ForeignTokenColumns.write(token, to: &row) }
    }
}
