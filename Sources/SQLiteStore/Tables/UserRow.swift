internal import Sessions
internal import StoreFoundation

/// Every statement about users. A read row has its number before the columns.
enum UserRow {
    static let columns = "u.number, \(UserColumns.all.list(of: "u"))"

    /// In two steps, for the same reason as `SessionRow.selectWithUser`.
    static let selectByID = Query(
        "SELECT \(columns) FROM users u WHERE u.number = (SELECT number FROM users WHERE id = ?)")

    static let selectByKey = Query("SELECT \(columns) FROM users u WHERE u.username_key = ?")

    /// A few users, in no order, with a username or a verified address.
    static let selectMeant = Query(
        "SELECT \(columns) FROM users u WHERE u.username_key = ?1 OR u.verified_email_key = ?2 LIMIT ?3")

    static let selectByVerifiedEmail = Query("SELECT \(columns) FROM users u WHERE u.verified_email_key = ?")

    /// A few users, in no order, with an address in lower case, by the index of addresses.
    static let selectByEmail = Query(
        "SELECT \(columns) FROM users u WHERE u.email IS NOT NULL AND lower(u.email) = ?1 LIMIT ?2")

    /// A few users, in no order, with one of two telephone numbers, by the index of numbers.
    static let selectByPhoneNumber = Query(
        "SELECT \(columns) FROM users u WHERE u.phone_number IN (?1, ?2) LIMIT ?3")

    /// Anonymous users after an id, by the index of anonymous users.
    static let selectAnonymous = Query(
        "SELECT \(columns) FROM users u WHERE u.anonymous = 1 AND u.id > ? ORDER BY u.id LIMIT ?")

    private static let selectNumber = Query(
        "SELECT u.number, u.id FROM users u WHERE u.number = (SELECT number FROM users WHERE id = ?)")

    private static let insertIfNew = Query(
        inserting: "username_key", UserColumns.all, into: "users", onConflict: "ON CONFLICT DO NOTHING")

    /// Writes every column except the id, by which the row is found.
    static let update = Query(
        """
        UPDATE users SET (username_key, \(UserColumns.all.names.dropFirst().joined(separator: ", "))) =
            (?1, \((3...UserColumns.all.names.count + 1).map { "?\($0)" }.joined(separator: ", ")))
        WHERE id = ?2
        """)

    static let delete = Query("DELETE FROM users WHERE id = ?")

    /// A page of users after a key. The patterns are escaped with a backslash. SQLite's LIKE folds ASCII letters only, so the
    /// username is compared by its key, which is folded already.
    static let selectPage = Query(
        """
        SELECT \(columns) FROM users u
        WHERE u.username_key > ?1
            AND (?2 IS NULL OR u.username_key LIKE ?3 ESCAPE '\\' OR u.email LIKE ?2 ESCAPE '\\'
                OR u.names LIKE ?2 ESCAPE '\\' OR u.phone_number LIKE ?2 ESCAPE '\\')
        ORDER BY u.username_key LIMIT ?4
        """)

    struct Numbered {
        let number: Int64
        let user: User
    }

    /// The user that `reference` names.
    static func find(_ reference: UserReference, _ connection: Connection) throws(DatabaseError) -> Numbered? {
        switch reference {
        case .id(let id):
            try connection.first(selectByID, id) { (row) throws(CorruptRow) in try read(&row, known: id) }
        case .username(let username):
            try connection.first(selectByKey, Text.key(username)) { (row) throws(CorruptRow) in try read(&row) }
        }
    }

    /// The number of the user with that id.
    static func number(of id: Identifier<User>, _ connection: Connection) throws(DatabaseError) -> Int64? {
        try connection.first(selectNumber, id) { (row) throws(CorruptRow) in
            let number = row.integer()
            _ = try row.identifier(id)
            return number
        }
    }

    /// The number of no user, for a tombstone of a deleted user.
    static let nobody: Int64 = 0

    /// Reads a user. It must be the one that `known` names.
    static func read(_ row: inout Row, known: Identifier<User>? = nil) throws(CorruptRow) -> Numbered {
        Numbered(number: row.integer(), user: try UserColumns.read(&row, known: known))
    }

    /// Adds a user unless the id or the name exists. Returns whether it was added.
    static func insertIfNew(_ user: User, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.execute(insertIfNew) { row in write(user, to: &row) } == 1
    }

    /// Writes all mutable columns of a user.
    static func update(_ user: User, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(update) { row in write(user, to: &row) }
    }

    private static func write(_ user: User, to row: inout Parameters) {
        row.add(Text.key(user.username))
        UserColumns.write(user, to: &row)
    }
}
