public import Sessions

/// The sources of a user as a row.
public enum UserSourcesColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("user_id", "username", "email", "password", "access", "devices_unknown_at")

    /// Reads the columns of the sources.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> UserSources {
        UserSources(
            userID: try row.identifier(), username: try row.word(as: AccountSource.self),
            email: try row.optionalWord(as: AccountSource.self), password: try row.optionalWord(as: AccountSource.self),
            access: try row.word(as: AccountSource.self),
            devicesUnknownAt: row.optionalInstant())
    }

    /// Writes all columns of the sources.
    public static func write(_ sources: UserSources, to row: inout some WrittenRow) {
        row.add(sources.userID)
        row.add(sources.username)
        row.add(sources.email)
        row.add(sources.password)
        row.add(sources.access)
        row.add(sources.devicesUnknownAt)
    }
}
