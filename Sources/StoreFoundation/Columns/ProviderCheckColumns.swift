public import Sessions

/// A provider check as a row.
public enum ProviderCheckColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "session_id", "provider", "subject", "client_id", "sealed_token", "rotates", "due_at", "failing_since",
        "in_doubt", "revision")

    /// Reads the columns.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> ProviderCheck {
        let sessionID: Identifier<Session> = try row.identifier()
        let (provider, subject, clientID) = (row.text(), row.text(), row.text())
        let sealedToken = row.optional { row in row.bytes() }
        let rotates = row.bool()
        let dueAt = row.instant()
        let failingSince = row.optionalInstant()
        let isInDoubt = row.bool()
        return ProviderCheck(
            sessionID: sessionID, provider: provider, subject: subject, clientID: clientID, sealedToken: sealedToken,
            rotates: rotates, dueAt: dueAt, failingSince: failingSince, isInDoubt: isInDoubt, revision: row.integer())
    }

    /// Writes all columns.
    public static func write(_ check: ProviderCheck, to row: inout some WrittenRow) {
        row.add(check.sessionID)
        row.add(check.provider)
        row.add(check.subject)
        row.add(check.clientID)
        row.add(check.sealedToken)
        row.add(check.rotates)
        row.add(check.dueAt)
        row.add(check.failingSince)
        row.add(check.isInDoubt)
        row.add(check.revision)
    }
}
