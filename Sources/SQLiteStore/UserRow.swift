internal import Sessions

/// Every statement about users, and how a row becomes a value.
enum UserRow {
    /// The columns that `read` reads, in its order; the row's number comes first.
    static let columns = """
        u.number, u.id, u.username, u.email, u.phone_number, u.display_name, u.country, u.password_hash, \
        u.offline_session_max_seconds, u.admin_disabling, u.admin_disabled_at, u.admin_disabling_note, \
        u.user_disabling, u.user_disabled_at, u.user_disabling_note, u.reset_secret_hash, u.reset_expires_at, \
        u.created_at
        """

    /// In two steps, as sessions are found (`SessionRow.selectWithUser`).
    static let selectByID = Query(
        "SELECT \(columns) FROM users i CROSS JOIN users u ON u.number = i.number WHERE i.id = ?")

    static let selectByKey = Query("SELECT \(columns) FROM users u WHERE u.username_key = ?")

    static let insert = Query(
        """
        INSERT INTO users (id, username, username_key, email, phone_number, display_name, country, password_hash,
            offline_session_max_seconds, admin_disabling, admin_disabled_at, admin_disabling_note, user_disabling,
            user_disabled_at, user_disabling_note, reset_secret_hash, reset_expires_at, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    static let update = Query(
        """
        UPDATE users SET username = ?, username_key = ?, email = ?, phone_number = ?, display_name = ?, country = ?,
            password_hash = ?, offline_session_max_seconds = ?, admin_disabling = ?, admin_disabled_at = ?,
            admin_disabling_note = ?, user_disabling = ?, user_disabled_at = ?, user_disabling_note = ?,
            reset_secret_hash = ?, reset_expires_at = ?
        WHERE number = ?
        """)

    static let delete = Query("DELETE FROM users WHERE number = ?")

    /// A page of users after a key. The patterns are escaped with a backslash; SQLite's LIKE folds ASCII letters only,
    /// so the username is matched by its key, which is folded already.
    static let selectPage = Query(
        """
        SELECT \(columns), u.username_key FROM users u
        WHERE u.username_key > ?1
            AND (?2 IS NULL OR u.username_key LIKE ?3 ESCAPE '\\' OR u.email LIKE ?2 ESCAPE '\\'
                OR u.display_name LIKE ?2 ESCAPE '\\')
        ORDER BY u.username_key LIMIT ?4
        """)

    /// A user with the number of the row.
    struct Numbered {
        let number: Int64
        let user: User
    }

    /// The user whom `reference` names.
    static func find(_ reference: UserReference, _ connection: Connection) throws(DatabaseError) -> Numbered? {
        switch reference {
        case .id(let id):
            try connection.first(selectByID, id) { (row) throws(DatabaseError) in try read(&row, known: id) }
        case .username(let username):
            try connection.first(selectByKey, Text.key(username)) { (row) throws(DatabaseError) in try read(&row) }
        }
    }

    /// Reads the columns of a user; the id is compared with the one that is `known`.
    static func read(_ row: inout Row, known: Identifier<User>? = nil) throws(DatabaseError) -> Numbered {
        let number = row.integer()
        let id = try row.identifier(known)
        let username = row.text()
        let profile = User.Profile(
            email: row.optionalText(), phoneNumber: row.optionalText(), displayName: row.optionalText(),
            country: row.optionalText())
        let passwordHash = row.optionalText()
        let offlineSessionMax = try row.optional { row in row.duration() }
        let disabledByAdmin = try readDisabling(&row)
        let disabledByUser = try readDisabling(&row)
        let secretHash = try row.optional { row in row.bytes() }
        let expiresAt = try row.optional { row in row.instant() }
        var passwordReset: User.PasswordReset?
        if let secretHash, let expiresAt {
            passwordReset = User.PasswordReset(secretHash: secretHash, expiresAt: expiresAt)
        }
        return Numbered(
            number: number,
            user: User(
                id: id, username: username, profile: profile, passwordHash: passwordHash,
                offlineSessionMax: offlineSessionMax, disabledByAdmin: disabledByAdmin, disabledByUser: disabledByUser,
                passwordReset: passwordReset, createdAt: row.instant()))
    }

    private static func readDisabling(_ row: inout Row) throws(DatabaseError) -> User.LoginDisabling? {
        guard !row.isNull else {
            row.skip(3)
            return nil
        }
        return User.LoginDisabling(
            effective: try row.word(as: User.LoginDisabling.Effective.self), since: row.instant(),
            note: row.optionalText())
    }

    /// Adds a user.
    static func insert(_ user: User, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(
            insert, user.id, user.username, Text.key(user.username), user.profile.email, user.profile.phoneNumber,
            user.profile.displayName, user.profile.country, user.passwordHash, user.offlineSessionMax,
            user.disabledByAdmin?.effective.rawValue, user.disabledByAdmin?.since, user.disabledByAdmin?.note,
            user.disabledByUser?.effective.rawValue, user.disabledByUser?.since, user.disabledByUser?.note,
            user.passwordReset?.secretHash, user.passwordReset?.expiresAt, user.createdAt)
    }

    /// Writes all that can change of a user.
    static func update(_ user: User, number: Int64, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(
            update, user.username, Text.key(user.username), user.profile.email, user.profile.phoneNumber,
            user.profile.displayName, user.profile.country, user.passwordHash, user.offlineSessionMax,
            user.disabledByAdmin?.effective.rawValue, user.disabledByAdmin?.since, user.disabledByAdmin?.note,
            user.disabledByUser?.effective.rawValue, user.disabledByUser?.since, user.disabledByUser?.note,
            user.passwordReset?.secretHash, user.passwordReset?.expiresAt, number)
    }

    /// A LIKE pattern for texts that contain `text` as it stands.
    static func pattern(containing text: String) -> String {
        var pattern = "%"
        for character in text.unicodeScalars {
            if character == "%" || character == "_" || character == "\\" { pattern += "\\" }
            pattern.unicodeScalars.append(character)
        }
        return pattern + "%"
    }
}
