internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func user(_ reference: UserReference) -> Answer<User?> {
        answer { (connection) throws(DatabaseError) in try UserRow.find(reference, connection)?.user }
    }

    func userForUpdate(_ reference: UserReference) -> Answer<User?> { user(reference) }

    /// Transactions run one after the other.
    func addToScope(_: Identifier<User>) {}

    func users(
        _ ids: [Identifier<User>], named usernames: [String], orAddresses emailKeys: [String]
    ) -> Answer<[User]> {
        answer { (connection) throws(DatabaseError) in
            var users: [User] = []
            for reference in ids.map({ UserReference.id($0) }) + usernames.map({ .username($0) }) {
                if let found = try UserRow.find(reference, connection) { users.append(found.user) }
            }
            for key in emailKeys {
                let found = try connection.first(UserRow.selectByVerifiedEmail, key) { (row) throws(CorruptRow) in
                    try UserRow.read(&row).user
                }
                if let found { users.append(found) }
            }
            return users
        }
    }

    func users(named key: String, orAddress emailKey: String?, limit: Int) -> Answer<[User]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(UserRow.selectMeant, key, emailKey, limit) { (row) throws(CorruptRow) in
                try UserRow.read(&row).user
            }
        }
    }

    func users(withEmail emailKey: String, limit: Int) -> Answer<[User]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(UserRow.selectByEmail, emailKey, limit) { (row) throws(CorruptRow) in
                try UserRow.read(&row).user
            }
        }
    }

    func users(withPhoneNumber number: String, or other: String, limit: Int) -> Answer<[User]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(UserRow.selectByPhoneNumber, number, other, limit) { (row) throws(CorruptRow) in
                try UserRow.read(&row).user
            }
        }
    }

    func users(matching query: String?, after key: String, limit: Int) -> Answer<[User]> {
        let pattern = UserPattern(query)
        return answer { (connection) throws(DatabaseError) in
            try connection.all(UserRow.selectPage, key, pattern.text, pattern.key, limit) { (row) throws(CorruptRow) in
                try UserRow.read(&row).user
            }
        }
    }

    func anonymousUsers(after id: Identifier<User>?, limit: Int) -> Answer<[User]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(UserRow.selectAnonymous, id?.bytes ?? [], limit) { (row) throws(CorruptRow) in
                try UserRow.read(&row).user
            }
        }
    }

    func insert(_ user: User) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in try UserRow.insertIfNew(user, connection) }
    }

    func update(_ user: User) {
        perform { (connection) throws(DatabaseError) in try UserRow.update(user, connection) }
    }

    func deleteUser(_ id: Identifier<User>) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(UserRow.delete, id)
            try connection.execute(EventRow.forgetValues, id)
        }
    }

    func userSources(of ids: [Identifier<User>]) -> Answer<[UserSources]> {
        answer { (connection) throws(DatabaseError) in
            var sources: [UserSources] = []
            for id in ids {
                let found = try connection.first(UserSourcesRow.select, id) { (row) throws(CorruptRow) in
                    try UserSourcesColumns.read(&row)
                }
                if let found { sources.append(found) }
            }
            return sources
        }
    }

    func replace(_ sources: UserSources) {
        perform(UserSourcesRow.replace) { row in UserSourcesColumns.write(sources, to: &row) }
    }

    func deleteUserSources(of userID: Identifier<User>) {
        perform(UserSourcesRow.delete, userID)
    }

    func identity(_ key: Identity.Key) -> Answer<Identity?> {
        first(IdentityRow.select, key.provider, key.subject, read: IdentityRow.read)
    }

    func identities(of userID: Identifier<User>) -> Answer<[Identity]> {
        all(IdentityRow.selectOfUser, userID, read: IdentityRow.read)
    }

    func identities(after key: Identity.Key?, limit: Int) -> Answer<[Identity]> {
        all(
            IdentityRow.selectPage, key?.provider ?? "", key?.subject ?? "", limit, read: IdentityRow.read)
    }

    func insert(_ identity: Identity) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in try IdentityRow.insert(identity, connection) }
    }

    func deleteIdentity(_ key: Identity.Key, of userID: Identifier<User>) -> Answer<Bool> {
        changes(IdentityRow.delete, key.provider, key.subject, userID)
    }

    func deleteIdentities(of userID: Identifier<User>) {
        perform(IdentityRow.deleteOfUser, userID)
    }
}

/// Every statement about the sources of users.
enum UserSourcesRow {
    static let select = Query("SELECT \(UserSourcesColumns.all.list) FROM user_sources WHERE user_id = ?")
    static let replace = Query(
        inserting: nil, UserSourcesColumns.all, into: "user_sources",
        onConflict: "ON CONFLICT (user_id) DO UPDATE SET \(UserSourcesColumns.all.replacements)")
    static let delete = Query("DELETE FROM user_sources WHERE user_id = ?")
}

/// Every statement about identities.
enum IdentityRow {
    private static let columns = IdentityColumns.all.list

    static let select = Query("SELECT \(columns) FROM identities WHERE provider = ? AND subject = ?")
    static let selectOfUser = Query(
        "SELECT \(columns) FROM identities WHERE user_id = ? ORDER BY provider, subject")
    static let selectPage = Query(
        "SELECT \(columns) FROM identities WHERE (provider, subject) > (?, ?) ORDER BY provider, subject LIMIT ?")
    static let delete = Query("DELETE FROM identities WHERE provider = ? AND subject = ? AND user_id = ?")
    static let deleteOfUser = Query("DELETE FROM identities WHERE user_id = ?")
    private static let insert = Query(
        inserting: nil, IdentityColumns.all, into: "identities", onConflict: "ON CONFLICT DO NOTHING")

    static func read(_ row: inout Row) throws(CorruptRow) -> Identity { try IdentityColumns.read(&row) }

    /// Adds an identity. False if it exists.
    static func insert(_ identity: Identity, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.execute(insert) { row in IdentityColumns.write(identity, to: &row) } == 1
    }
}
