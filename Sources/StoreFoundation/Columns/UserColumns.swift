public import Sessions

/// A user as a row.
public enum UserColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "username", "email", "phone_number", "names", "country", "password_hash",
        "offline_session_max_seconds", "admin_disabling", "admin_disabled_at", "admin_disabling_note",
        "user_disabling", "user_disabled_at", "user_disabling_note", "created_at", "wrong_passwords",
        "wrong_password_at", "locked_until", "claims", "verified_email_key", "anonymous")

    /// Reads the columns of a user. Its id must be `known`, if that is given.
    public static func read(
        _ row: inout some StoredRow, known: Identifier<User>? = nil
    ) throws(CorruptRow) -> User {
        let id = try row.identifier(known)
        let username = row.text()
        var profile = User.Profile(email: row.optionalText(), phoneNumber: row.optionalText())
        profile.names = row.optionalText()
        profile.country = row.optionalText()
        let passwordHash = row.optionalText()
        let offlineSessionMax = row.optional { row in row.duration() }
        let disabledByAdmin = try readDisabling(&row)
        let disabledByUser = try readDisabling(&row)
        var user = User(
            id: id, username: username, profile: profile, passwordHash: passwordHash,
            offlineSessionMax: offlineSessionMax, disabledByAdmin: disabledByAdmin, disabledByUser: disabledByUser,
            createdAt: row.instant())
        if row.isNull { row.skip(3) } else { user.wrongPasswords = readWrongPasswords(&row) }
        user.claims = row.optionalText().map { UserClaims(stored: $0) }
        user.profile.verifiedEmailKey = row.optionalText()
        user.isAnonymous = row.bool()
        return user
    }

    private static func readWrongPasswords(_ row: inout some StoredRow) -> User.WrongPasswords {
        User.WrongPasswords(
            count: Int(row.integer()), lastAt: row.instant(), lockedUntil: row.optionalInstant())
    }

    private static func readDisabling(
        _ row: inout some StoredRow
    ) throws(CorruptRow) -> User.LoginDisabling? {
        guard !row.isNull else {
            row.skip(3)
            return nil
        }
        return User.LoginDisabling(
            effective: try row.word(as: User.LoginDisabling.Effective.self), since: row.instant(),
            note: row.optionalText())
    }

    /// Writes all columns of a user.
    public static func write(_ user: User, to row: inout some WrittenRow) {
        row.add(user.id)
        row.add(user.username)
        row.add(user.profile.email)
        row.add(user.profile.phoneNumber)
        row.add(user.profile.names)
        row.add(user.profile.country)
        row.add(user.passwordHash)
        row.add(user.offlineSessionMax)
        for disabling in [user.disabledByAdmin, user.disabledByUser] {
            row.add(disabling?.effective)
            row.add(disabling?.since)
            row.add(disabling?.note)
        }
        row.add(user.createdAt)
        row.add(user.wrongPasswords.map { Int64($0.count) })
        row.add(user.wrongPasswords?.lastAt)
        row.add(user.wrongPasswords?.lockedUntil)
        row.add(user.claims?.json)
        row.add(user.profile.isEmailVerified ? user.profile.verifiedEmailKey : nil)
        row.add(user.isAnonymous)
    }
}

extension User.Profile {
    /// Display name, given name and family name as one text, a line each, without empty lines at the end; nil for none of them. They
    /// share a column, because every refresh reads them. No name has a line break.
    fileprivate var names: String? {
        get {
            guard givenName != nil || familyName != nil else { return displayName }
            let lines = [displayName ?? "", givenName ?? ""] + (familyName.map { [$0] } ?? [])
            return lines.joined(separator: "\n")
        }
        set {
            let lineBreak = UInt8(ascii: "\n")
            guard let newValue, newValue.utf8.contains(lineBreak) else {
                (displayName, givenName, familyName) = (newValue, nil, nil)
                return
            }
            let lines = newValue.utf8.split(separator: lineBreak, maxSplits: 2, omittingEmptySubsequences: false)
            let texts = lines.map { $0.isEmpty ? nil : String(Substring($0)) }
            (displayName, givenName, familyName) = (texts[0], texts[1], texts.count > 2 ? texts[2] : nil)
        }
    }
}

/// The patterns of LIKE, escaped with a backslash, for users that contain a text.
public struct UserPattern: Sendable {
    /// The pattern for e-mail and names; nil matches every user.
    public let text: String?
    /// The pattern for the key of the username.
    public let key: String?

    /// The patterns for users that contain `query`.
    public init(_ query: String?) {
        text = query.flatMap { $0.isEmpty ? nil : Self.pattern(containing: Text.normalized($0)) }
        key = query.map { Self.pattern(containing: Text.key($0)) }
    }

    private static func pattern(containing text: String) -> String {
        var pattern = "%"
        for character in text.unicodeScalars {
            if character == "%" || character == "_" || character == "\\" { pattern += "\\" }
            pattern.unicodeScalars.append(character)
        }
        return pattern + "%"
    }
}
