public import Sessions

/// An identity as a row.
public enum IdentityColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("provider", "subject", "user_id", "linked_at")

    /// Reads the columns of an identity.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> Identity {
        let (provider, subject) = (row.text(), row.text())
        guard let key = Identity.Key(provider: provider, subject: subject) else {
            throw CorruptRow("'\(provider)' has an identity that is none")
        }
        return Identity(key, userID: try row.identifier(), linkedAt: row.instant())
    }

    /// Writes all columns of an identity.
    public static func write(_ identity: Identity, to row: inout some WrittenRow) {
        row.add(identity.key.provider)
        row.add(identity.key.subject)
        row.add(identity.userID)
        row.add(identity.linkedAt)
    }
}
