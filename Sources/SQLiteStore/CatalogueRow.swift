internal import Sessions

/// Every statement about settings and clients, and how their rows become values.
enum CatalogueRow {
    static let selectSettings = Query(
        """
        SELECT offline_session_idle_seconds, offline_session_max_limited, offline_session_max_seconds,
            refresh_after_seconds, rotation_interval_seconds, epoch, revoked_before_epoch, revoked_before_at
        FROM settings WHERE id = 1
        """)

    static let replaceSettings = Query(
        """
        INSERT OR REPLACE INTO settings (id, offline_session_idle_seconds, offline_session_max_limited,
            offline_session_max_seconds, refresh_after_seconds, rotation_interval_seconds, epoch,
            revoked_before_epoch, revoked_before_at)
        VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    static let selectClients = Query(
        """
        SELECT id, name, authentication_method, secret_hash, grant_types, scope, token_style,
            offline_session_idle_seconds, offline_session_max_seconds, access_token_lifetime_seconds,
            refresh_after_seconds, created_at, epoch
        FROM clients
        """)

    static let replaceClient = Query(
        """
        INSERT OR REPLACE INTO clients (id, name, authentication_method, secret_hash, grant_types, scope, token_style,
            offline_session_idle_seconds, offline_session_max_seconds, access_token_lifetime_seconds,
            refresh_after_seconds, created_at, epoch)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    static let deleteClient = Query("DELETE FROM clients WHERE id = ?")

    /// Settings and clients as they stand; a new database gets its settings first.
    static func load(_ connection: Connection) throws(DatabaseError) -> Catalogue {
        if try connection.first(selectSettings, read: { row in row.integer() }) == nil {
            try write(Settings(), connection)
        }
        return try read(connection)
    }

    /// Settings and clients as they stand.
    static func read(_ connection: Connection) throws(DatabaseError) -> Catalogue {
        let settings = try connection.first(selectSettings) { (row) throws(DatabaseError) in try readSettings(&row) }
        let clients = try connection.all(selectClients) { (row) throws(DatabaseError) in try readClient(&row) }
        return Catalogue(
            settings: settings ?? Settings(),
            clients: Dictionary(clients.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    static func write(_ settings: Settings, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(
            replaceSettings, settings.sessions.offlineSessionIdle, settings.sessions.offlineSessionMaxLimited,
            settings.sessions.offlineSessionMax, settings.sessions.refreshAfter, settings.sessions.rotationInterval,
            settings.epoch, settings.revokedBefore?.epoch, settings.revokedBefore?.at)
    }

    static func write(_ client: Client, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(
            replaceClient, client.id, client.name, client.authenticationMethod.rawValue, client.secretHash,
            client.grantTypes.map(\.rawValue).joined(separator: " "), client.scope.description,
            client.tokenStyle.rawValue, client.offlineSessionIdle, client.offlineSessionMax,
            client.accessTokenLifetime, client.refreshAfter, client.createdAt, client.epoch)
    }

    private static func readSettings(_ row: inout Row) throws(DatabaseError) -> Settings {
        let sessions = SessionSettings(
            offlineSessionIdle: row.duration(), offlineSessionMaxLimited: row.bool(),
            offlineSessionMax: row.duration(), refreshAfter: row.duration(), rotationInterval: row.duration())
        let epoch = row.integer()
        let cutEpoch = try row.optional { row in row.integer() }
        let cutAt = try row.optional { row in row.instant() }
        var revokedBefore: Settings.RevokedBefore?
        if let cutEpoch, let cutAt { revokedBefore = Settings.RevokedBefore(epoch: cutEpoch, at: cutAt) }
        return Settings(sessions: sessions, epoch: epoch, revokedBefore: revokedBefore)
    }

    private static func readClient(_ row: inout Row) throws(DatabaseError) -> Client {
        let id = row.text()
        let name = row.optionalText()
        let method = try row.word(as: Client.AuthenticationMethod.self)
        let secretHash = try row.optional { row in row.bytes() }
        var grantTypes: [Client.GrantType] = []
        for word in row.words() {
            guard let grantType = Client.GrantType(rawValue: word) else {
                throw .contradiction("client \(id) has the unknown grant type '\(word)'")
            }
            grantTypes.append(grantType)
        }
        guard let scope = Scope(row.text()) else { throw .contradiction("client \(id) has an impossible scope") }
        let tokenStyle = try row.word(as: Client.TokenStyle.self)
        return Client(
            id: id, name: name, authenticationMethod: method, secretHash: secretHash, grantTypes: grantTypes,
            scope: scope, tokenStyle: tokenStyle, offlineSessionIdle: try row.optional { row in row.duration() },
            offlineSessionMax: try row.optional { row in row.duration() },
            accessTokenLifetime: try row.optional { row in row.duration() },
            refreshAfter: try row.optional { row in row.duration() }, createdAt: row.instant(), epoch: row.integer())
    }
}
