internal import Sessions
internal import StoreFoundation

/// Every statement about passkeys.
enum PasskeySQL {
    private static let columns = PasskeyColumns.all.list

    static func select(_ id: [UInt8]) -> Statement {
        Statement("SELECT \(columns) FROM passkeys WHERE credential_id = $1::bytea", id)
    }

    static func select(of userID: Identifier<User>) -> Statement {
        Statement("SELECT \(columns) FROM passkeys WHERE user_id = $1::uuid ORDER BY credential_id", userID)
    }

    static func selectPage(after cursor: [UInt8]?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM passkeys WHERE credential_id > $1::bytea ORDER BY credential_id LIMIT $2::bigint
            """, cursor ?? [], limit)
    }

    /// Changes no row when the passkey exists.
    static func insert(_ passkey: Passkey) -> Statement {
        Statement(
            """
            INSERT INTO passkeys (\(columns)) VALUES (\(PasskeyColumns.all.placeholders()))
            ON CONFLICT (credential_id) DO NOTHING
            """
        ) { row in PasskeyColumns.write(passkey, to: &row) }
    }

    static func update(_ passkey: Passkey) -> Statement {
        Statement(
            """
            UPDATE passkeys SET sign_count = $1::bigint, backup_eligible = $2::boolean, backed_up = $3::boolean,
                user_verified = $4::boolean, name = $5::text, last_used_at = $6::bigint
            WHERE credential_id = $7::bytea
            """, Int64(passkey.signCount), passkey.isBackupEligible, passkey.isBackedUp, passkey.isUserVerified,
            passkey.name, passkey.lastUsedAt, passkey.id)
    }

    static func delete(_ id: [UInt8], of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM passkeys WHERE credential_id = $1::bytea AND user_id = $2::uuid", id, userID)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM passkeys WHERE user_id = $1::uuid", userID)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> Passkey { try PasskeyColumns.read(&row) }
}
