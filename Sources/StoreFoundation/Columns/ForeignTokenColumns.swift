public import Sessions

/// A foreign token as a row.
public enum ForeignTokenColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "digest", "user_id", "client_id", "device_id", "device_name", "device_platform", "device_app_version", "scope",
        "started_at", "expires_at", "epoch", "session_id", "exchanged_at")

    /// Reads the columns of a token.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> ForeignToken {
        let digest = row.bytes()
        let userID: Identifier<User> = try row.identifier()
        let clientID = row.text()
        let device = row.device()
        let scope = try row.optional { (row) throws(CorruptRow) in try row.scope() }
        let startedAt = row.instant()
        let expiresAt = row.optionalInstant()
        let epoch = row.integer()
        let sessionID: Identifier<Session>? = try row.optionalIdentifier()
        let exchangedAt = row.optionalInstant()
        guard (sessionID == nil) == (exchangedAt == nil) else {
            throw CorruptRow("a foreign token has half an exchange")
        }
        var exchange: ForeignToken.Exchange?
        if let sessionID, let exchangedAt { exchange = ForeignToken.Exchange(sessionID: sessionID, at: exchangedAt) }
        return ForeignToken(
            digest: digest, userID: userID, clientID: clientID, device: device, scope: scope, startedAt: startedAt,
            expiresAt: expiresAt, epoch: epoch, exchange: exchange)
    }

    /// Writes all columns of a token.
    public static func write(_ token: ForeignToken, to row: inout some WrittenRow) {
        row.add(token.digest)
        row.add(token.userID)
        row.add(token.clientID)
        row.add(token.device)
        row.add(token.scope)
        row.add(token.startedAt)
        row.add(token.expiresAt)
        row.add(token.epoch)
        row.add(token.exchange?.sessionID)
        row.add(token.exchange?.at)
    }
}
