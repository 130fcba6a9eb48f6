internal import Sessions
internal import StoreFoundation

/// Every statement about identities.
enum IdentitySQL {
    private static let columns = IdentityColumns.all.list

    static func select(_ key: Identity.Key) -> Statement {
        Statement(
            "SELECT \(columns) FROM identities WHERE provider = $1::text AND subject = $2::text", key.provider,
            key.subject)
    }

    static func select(of userID: Identifier<User>) -> Statement {
        Statement("SELECT \(columns) FROM identities WHERE user_id = $1::uuid ORDER BY provider, subject", userID)
    }

    static func selectPage(after cursor: Identity.Key?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM identities WHERE (provider, subject) > ($1::text COLLATE "C", $2::text COLLATE "C")
            ORDER BY provider, subject LIMIT $3::bigint
            """, cursor?.provider ?? "", cursor?.subject ?? "", limit)
    }

    /// Changes no row when the identity exists.
    static func insert(_ identity: Identity) -> Statement {
        Statement(
            """
            INSERT INTO identities (\(columns)) VALUES (\(IdentityColumns.all.placeholders()))
            ON CONFLICT (provider, subject) DO NOTHING
            """
        ) { row in IdentityColumns.write(identity, to: &row) }
    }

    static func delete(_ key: Identity.Key, of userID: Identifier<User>) -> Statement {
        Statement(
            "DELETE FROM identities WHERE provider = $1::text AND subject = $2::text AND user_id = $3::uuid",
            key.provider, key.subject, userID)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM identities WHERE user_id = $1::uuid", userID)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> Identity { try IdentityColumns.read(&row) }
}
