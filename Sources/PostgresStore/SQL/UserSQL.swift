internal import Sessions
internal import StoreFoundation

/// Every statement about users.
enum UserSQL {
    static func select(_ reference: UserReference, locked: String = "") -> Statement {
        switch reference {
        case .id(let id) where locked.isEmpty: Statement(selectingByID, id)
        case .id(let id) where locked == forChange: Statement(selectingForChange, id)
        case .id(let id): Statement("\(selecting) WHERE id = $1::uuid \(locked)", id)
        case .username(let name) where locked.isEmpty: Statement(selectingByName, Text.key(name))
        case .username(let name):
            Statement("\(selecting) WHERE username_key = $1::text \(locked)", Text.key(name))
        }
    }

    private static let selecting = "SELECT \(UserColumns.all.list) FROM users"
    private static let selectingByID = Template("\(selecting) WHERE id = $1::uuid")
    private static let selectingForChange = Template("\(selecting) WHERE id = $1::uuid \(forChange)")
    private static let selectingByName = Template("\(selecting) WHERE username_key = $1::text")

    /// Whom an address may mean: those who have it as username, or had it verified. A few of them, in no order.
    static func selectMeant(by key: String, limit: Int) -> Statement {
        Statement(
            "\(selecting) WHERE username_key = $1::text OR verified_email_key = $1::text LIMIT $2::bigint", key, limit)
    }

    /// For a change of the user, or for a login, of which one goes after the other.
    static let forChange = "FOR NO KEY UPDATE"

    static func insert(_ user: User) -> Statement {
        Statement(
            """
            INSERT INTO users (username_key, \(UserColumns.all.list))
            VALUES ($1::text, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::bigint, $10::text,
                $11::bigint, $12::text, $13::text, $14::bigint, $15::text, $16::bytea, $17::bigint, $18::bigint, $19::bigint, $20::bigint,
                $21::bigint, $22::text, $23::text)
            ON CONFLICT (username_key) DO NOTHING
            """
        ) { row in write(user, to: &row) }
    }

    /// Writes all that can change of a user.
    static func update(_ user: User) -> Statement {
        Statement(
            """
            UPDATE users SET username_key = $1::text, username = $3::text, email = $4::text, phone_number = $5::text,
                display_name = $6::text, country = $7::text, password_hash = $8::text,
                offline_session_max_seconds = $9::bigint, admin_disabling = $10::text,
                admin_disabled_at = $11::bigint, admin_disabling_note = $12::text, user_disabling = $13::text,
                user_disabled_at = $14::bigint, user_disabling_note = $15::text, reset_secret_hash = $16::bytea,
                reset_expires_at = $17::bigint, created_at = $18::bigint, wrong_passwords = $19::bigint,
                wrong_password_at = $20::bigint, locked_until = $21::bigint, claims = $22::text,
                verified_email_key = $23::text, revision = revision + 1
            WHERE id = $2::uuid
            """
        ) { row in write(user, to: &row) }
    }

    static func delete(_ id: Identifier<User>) -> Statement { Statement("DELETE FROM users WHERE id = $1::uuid", id) }

    /// A page of users after a key. Letters of ASCII are folded and no others, as the other backend does; the username is matched
    /// by its key, which is folded already.
    static func selectPage(_ pattern: String?, _ keyPattern: String?, after key: String, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(UserColumns.all.list), username_key FROM users
            WHERE username_key > $1::text AND ($2::text IS NULL OR username_key LIKE $3::text
                OR lower(email COLLATE "C") LIKE lower($2::text COLLATE "C")
                OR lower(display_name COLLATE "C") LIKE lower($2::text COLLATE "C"))
            ORDER BY username_key LIMIT $4::bigint
            """, key, pattern, keyPattern, limit)
    }

    private static func write(_ user: User, to row: inout Parameters) {
        row.add(Text.key(user.username))
        UserColumns.write(user, to: &row)
    }
}
