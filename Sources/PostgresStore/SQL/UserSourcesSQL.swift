internal import Sessions
internal import StoreFoundation

/// Every statement about the sources of users.
enum UserSourcesSQL {
    private static let columns = UserSourcesColumns.all.list

    static func select(of userIDs: [Identifier<User>]) -> Statement {
        Statement("SELECT \(columns) FROM user_sources WHERE user_id = ANY ($1::uuid[])", ArrayParameter(userIDs))
    }

    static func replace(_ sources: UserSources) -> Statement {
        Statement(
            """
            INSERT INTO user_sources (\(columns)) VALUES (\(UserSourcesColumns.all.placeholders()))
            ON CONFLICT (user_id) DO UPDATE SET \(UserSourcesColumns.all.replacements)
            """
        ) { row in UserSourcesColumns.write(sources, to: &row) }
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM user_sources WHERE user_id = $1::uuid", userID)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> UserSources { try UserSourcesColumns.read(&row) }
}
