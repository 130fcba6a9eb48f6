internal import Sessions
internal import StoreFoundation

/// Every statement about users.
enum UserSQL {
    static func read(_ row: inout Row) throws(CorruptRow) -> User { try UserColumns.read(&row) }

    static func select(_ reference: UserReference) -> Statement {
        switch reference {
        case .id(let id): Statement(selectingByID, id)
        case .username(let name): Statement(selectingByName, Text.key(name))
        }
    }

    /// Locks the user's row for a change of the user or for a login, which run one after the other.
    static func selectForUpdate(_ reference: UserReference) -> Statement {
        switch reference {
        case .id(let id): Statement(selectingForUpdate, id)
        case .username(let name): Statement("\(selectingByName.text) FOR NO KEY UPDATE", Text.key(name))
        }
    }

    /// The users with those ids and those with those keys. The result may contain a user twice.
    static func select(_ ids: ArrayParameter, _ keys: ArrayParameter) -> Statement {
        Statement(selectingAll, ids, keys)
    }

    /// Those, and the users with those verified addresses.
    static func select(
        _ ids: ArrayParameter, _ keys: ArrayParameter, _ addresses: ArrayParameter
    ) -> Statement {
        Statement(selectingAllOrAddresses, ids, keys, addresses)
    }

    private static let selectingAllOrAddresses = Template(
        """
        \(selectingAll.text)
        UNION ALL
        \(selecting) WHERE verified_email_key = ANY ($3::text[])
        """)
    private static let selectingAll = Template(
        """
        \(selecting) WHERE id = ANY ($1::uuid[])
        UNION ALL
        \(selecting) WHERE username_key = ANY ($2::text[])
        """)
    private static let selecting = "SELECT \(UserColumns.all.list) FROM users"
    private static let selectingByID = Template("\(selecting) WHERE id = $1::uuid")
    private static let selectingForUpdate = Template("\(selectingByID.text) FOR NO KEY UPDATE")
    private static let selectingByName = Template("\(selecting) WHERE username_key = $1::text")

    /// Up to `limit` users, in no order, with a username or a verified address.
    static func selectMeant(by key: String, _ emailKey: String?, limit: Int) -> Statement {
        Statement(
            "\(selecting) WHERE username_key = $1::text OR verified_email_key = $2::text LIMIT $3::bigint", key,
            emailKey, limit)
    }

    /// Up to `limit` users, in no order, with an address in lower case, by the index of addresses.
    static func select(withEmail emailKey: String, limit: Int) -> Statement {
        Statement(
            "\(selecting) WHERE email IS NOT NULL AND lower(email COLLATE \"C\") = $1::text LIMIT $2::bigint", emailKey,
            limit)
    }

    /// Up to `limit` users, in no order, with one of two telephone numbers, by the index of numbers.
    static func select(withPhoneNumber number: String, or other: String, limit: Int) -> Statement {
        Statement("\(selecting) WHERE phone_number IN ($1::text, $2::text) LIMIT $3::bigint", number, other, limit)
    }

    /// Anonymous users after an id, by the index of anonymous users.
    static func selectAnonymous(after id: Identifier<User>?, limit: Int) -> Statement {
        Statement(
            "\(selecting) WHERE anonymous AND id > $1::uuid ORDER BY id LIMIT $2::bigint",
            id ?? Identifier(words: (high: 0, low: 0)), limit)
    }

    static func insert(_ user: User) -> Statement {
        Statement(
            """
            INSERT INTO users (username_key, \(UserColumns.all.list))
            VALUES ($1, \(UserColumns.all.placeholders(from: 2)))
            ON CONFLICT DO NOTHING
            """
        ) { row in write(user, to: &row) }
    }

    /// Writes all mutable columns of a user.
    static func update(_ user: User) -> Statement {
        Statement(
            """
            UPDATE users SET username_key = $1, \(UserColumns.all.assignments(from: 2)), revision = revision + 1
            WHERE id = $2::uuid
            """
        ) { row in write(user, to: &row) }
    }

    static func delete(_ id: Identifier<User>) -> Statement { Statement("DELETE FROM users WHERE id = $1::uuid", id) }

    /// A page of users after a key. Only ASCII letters are folded, as the other backend does. The username is compared by its
    /// key, which is folded already.
    static func selectPage(_ pattern: UserPattern, after key: String, limit: Int) -> Statement {
        Statement(
            """
            \(selecting)
            WHERE username_key > $1::text AND ($2::text IS NULL OR username_key LIKE $3::text
                OR lower(email COLLATE "C") LIKE lower($2::text COLLATE "C")
                OR lower(names COLLATE "C") LIKE lower($2::text COLLATE "C") OR phone_number LIKE $2::text)
            ORDER BY username_key LIMIT $4::bigint
            """, key, pattern.text, pattern.key, limit)
    }

    private static func write(_ user: User, to row: inout Parameters) {
        row.add(Text.key(user.username))
        UserColumns.write(user, to: &row)
    }
}
