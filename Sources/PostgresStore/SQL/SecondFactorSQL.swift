internal import Sessions
internal import StoreFoundation

/// Every statement about the details of users.
enum UserDetailsSQL {
    private static let columns = UserDetailsColumns.all.list

    static func select(_ userID: Identifier<User>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM user_details WHERE user_id = $1::uuid \(locked)", userID)
    }

    static func selectPage(after cursor: Identifier<User>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM user_details WHERE ($1::uuid IS NULL OR user_id > $1::uuid)
            ORDER BY user_id LIMIT $2::bigint
            """, cursor, limit)
    }

    static func selectDeleting(at instant: Instant, limit: Int) -> Statement {
        Statement(
            "SELECT user_id FROM user_details WHERE delete_at <= $1::bigint ORDER BY delete_at LIMIT $2::bigint",
            instant, limit)
    }

    static func replace(_ details: UserDetails) -> Statement {
        Statement(
            """
            INSERT INTO user_details (\(columns)) VALUES (\(UserDetailsColumns.all.placeholders()))
            ON CONFLICT (user_id) DO UPDATE SET \(UserDetailsColumns.all.replacements)
            """
        ) { row in UserDetailsColumns.write(details, to: &row) }
    }

    static func delete(_ userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM user_details WHERE user_id = $1::uuid", userID)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> UserDetails { try UserDetailsColumns.read(&row) }
}

/// Every statement about authenticator apps.
enum TOTPFactorSQL {
    private static let columns = TOTPFactorColumns.all.list

    static func select(of userID: Identifier<User>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM totp_factors WHERE user_id = $1::uuid ORDER BY id \(locked)", userID)
    }

    static func selectPage(after cursor: Identifier<TOTPFactor>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM totp_factors WHERE ($1::uuid IS NULL OR id > $1::uuid) ORDER BY id LIMIT $2::bigint
            """, cursor, limit)
    }

    static func insert(_ factor: TOTPFactor) -> Statement {
        Statement("INSERT INTO totp_factors (\(columns)) VALUES (\(TOTPFactorColumns.all.placeholders()))") { row in
            TOTPFactorColumns.write(factor, to: &row)
        }
    }

    static func update(_ factor: TOTPFactor) -> Statement {
        Statement(
            """
            UPDATE totp_factors SET name = $1::text, sealed_seed = $2::bytea, last_step = $3::bigint,
                confirmed_at = $4::bigint, last_used_at = $5::bigint
            WHERE id = $6::uuid
            """, factor.name, factor.sealedSeed, factor.lastStep, factor.confirmedAt, factor.lastUsedAt, factor.id)
    }

    static func delete(_ id: Identifier<TOTPFactor>, of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM totp_factors WHERE id = $1::uuid AND user_id = $2::uuid", id, userID)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM totp_factors WHERE user_id = $1::uuid", userID)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> TOTPFactor { try TOTPFactorColumns.read(&row) }
}

/// Every statement about recovery codes.
enum RecoveryCodeSQL {
    private static let columns = RecoveryCodeColumns.all.list

    static func select(of userID: Identifier<User>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM recovery_codes WHERE user_id = $1::uuid ORDER BY hash \(locked)", userID)
    }

    static func replace(_ code: RecoveryCode) -> Statement {
        Statement(
            """
            INSERT INTO recovery_codes (\(columns)) VALUES (\(RecoveryCodeColumns.all.placeholders()))
            ON CONFLICT (user_id, hash) DO UPDATE SET used_at = excluded.used_at
            """
        ) { row in RecoveryCodeColumns.write(code, to: &row) }
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM recovery_codes WHERE user_id = $1::uuid", userID)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> RecoveryCode { try RecoveryCodeColumns.read(&row) }
}
