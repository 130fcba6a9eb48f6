internal import Sessions

/// Every statement about foreign tokens, and how a row becomes a value.
enum ForeignTokenRow {
    private static let columns = """
        digest, user_id, client_id, device_id, device_name, device_platform, device_app_version, scope, started_at, \
        expires_at, epoch, session_id, exchanged_at
        """

    static let select = Query("SELECT \(columns) FROM foreign_tokens WHERE digest = ?")
    static let selectPage = Query(
        "SELECT \(columns) FROM foreign_tokens WHERE digest > ? ORDER BY digest LIMIT ?")

    /// Adds a token, or replaces one that was not exchanged.
    static let insert = Query(
        """
        INSERT INTO foreign_tokens (\(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
        ON CONFLICT (digest) DO UPDATE SET user_id = ?2, client_id = ?3, device_id = ?4, device_name = ?5,
            device_platform = ?6, device_app_version = ?7, scope = ?8, started_at = ?9, expires_at = ?10, epoch = ?11,
            session_id = ?12, exchanged_at = ?13
        WHERE session_id IS NULL
        """)

    static let updateExchange = Query(
        "UPDATE foreign_tokens SET session_id = ?, exchanged_at = ? WHERE digest = ?")
    static let delete = Query("DELETE FROM foreign_tokens WHERE digest = ?")

    /// Deletes what waits of a user: all, or that of one client, one device.
    static let deleteWaiting = Query(
        """
        DELETE FROM foreign_tokens
        WHERE user_id = ?1 AND session_id IS NULL AND (?2 IS NULL OR client_id = ?2) AND (?3 IS NULL OR device_id = ?3)
        """)

    /// Reads the columns of a token.
    static func read(_ row: inout Row) throws(DatabaseError) -> ForeignToken {
        let digest = row.bytes()
        let userID = try row.identifier(nil as Identifier<User>?)
        let clientID = row.text()
        let device = Device(
            id: row.text(), name: row.optionalText(), platform: row.optionalText(), appVersion: row.optionalText())
        let scope = try row.optional { (row) throws(DatabaseError) in
            guard let scope = Scope(row.text()) else { throw .contradiction("a foreign token has an impossible scope") }
            return scope
        }
        let startedAt = row.instant()
        let expiresAt = try row.optional { row in row.instant() }
        let epoch = row.integer()
        let sessionID = try row.optional { (row) throws(DatabaseError) in
            try row.identifier(nil as Identifier<Session>?)
        }
        let exchangedAt = try row.optional { row in row.instant() }
        guard (sessionID == nil) == (exchangedAt == nil) else {
            throw .contradiction("a foreign token has half an exchange")
        }
        var exchange: ForeignToken.Exchange?
        if let sessionID, let exchangedAt { exchange = ForeignToken.Exchange(sessionID: sessionID, at: exchangedAt) }
        return ForeignToken(
            digest: digest, userID: userID, clientID: clientID, device: device, scope: scope, startedAt: startedAt,
            expiresAt: expiresAt, epoch: epoch, exchange: exchange)
    }

    /// Adds a token, or replaces one that was not exchanged; returns the number of rows that changed.
    static func insert(_ token: ForeignToken, _ connection: Connection) throws(DatabaseError) -> Int {
        try connection.execute(
            insert, token.digest, token.userID, token.clientID, token.device.id, token.device.name,
            token.device.platform, token.device.appVersion, token.scope?.description, token.startedAt, token.expiresAt,
            token.epoch, token.exchange?.sessionID, token.exchange?.at)
    }
}
