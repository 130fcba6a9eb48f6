public import Sessions

/// A revocation as a row of the feed.
public enum RevocationColumns {
    /// The columns in the order of `read`, without the number.
    public static let all = Columns(
        "kind", "revoked_at", "matters_until", "user_id", "session_id", "client_id", "token_id", "token_epoch",
        "reason")

    /// Reads the number and the columns of a revocation.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> Revocation {
        let number = row.integer()
        let kind = try row.word(as: Revocation.Kind.self)
        let (at, until) = (row.instant(), row.instant())
        let userID: Identifier<User>? = try row.optionalIdentifier()
        let sessionID: Identifier<Session>? = try row.optionalIdentifier()
        let (clientID, tokenID) = (row.optionalText(), row.optionalText())
        let tokenEpoch = row.optional { row in row.integer() }
        var revocation = Revocation(
            number: number, kind, at: at, until: until, userID: userID, sessionID: sessionID, clientID: clientID,
            reason: row.optionalText())
        (revocation.tokenID, revocation.tokenEpoch) = (tokenID, tokenEpoch)
        return revocation
    }

    /// Writes all columns of a revocation, without its number.
    public static func write(_ revocation: Revocation, to row: inout some WrittenRow) {
        row.add(revocation.kind)
        row.add(revocation.at)
        row.add(revocation.until)
        row.add(revocation.userID)
        row.add(revocation.sessionID)
        row.add(revocation.clientID)
        row.add(revocation.tokenID)
        row.add(revocation.tokenEpoch)
        row.add(revocation.reason)
    }
}

extension EndedSession {
    /// The columns in the order of `init`.
    public static let columns = "id, client_id, device_id, coalesce(device_name, device_platform) AS device_name"

    /// Reads the id, the client and the device of a session.
    public init(_ row: inout some StoredRow) throws(CorruptRow) {
        self.init(
            id: try row.identifier(), clientID: row.text(), deviceID: row.text(), deviceName: row.optionalText())
    }
}
