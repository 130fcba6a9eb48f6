public import Sessions

/// A login on the server's page as a row.
public enum PageLoginColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "kind", "client_id", "request", "remote_address", "user_agent", "user_id", "methods", "authenticated_at",
        "epoch", "browser_session_id", "code_hash", "code_expires_at", "code_request", "code_used_at", "started_at",
        "phone_login_id", "continued_session_id")

    /// The columns in which the page completes a login with a phone, in the order of `writeCompletion`.
    public static let completion = Columns(
        "request", "remote_address", "user_agent", "methods", "browser_session_id", "code_hash", "code_expires_at")

    /// Reads the columns of a login.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> PageLogin {
        let id: Identifier<Session> = try row.identifier()
        row.skip(2)
        guard let request = AuthorizationRequest(json: Array(row.text().utf8)) else {
            throw CorruptRow("login \(id) has a request that cannot be read")
        }
        var login = PageLogin(
            id: id, request: request, remoteAddress: row.optionalText(), userAgent: row.optionalText(),
            userID: try row.identifier(), methods: row.list(), authenticatedAt: row.instant(), epoch: row.integer(),
            browserSession: try row.optional { (row) throws(CorruptRow) -> Identifier<Session> in
                try row.identifier()
            },
            codeHash: row.optional { row in row.bytes() }, codeExpiresAt: row.instant(),
            codeRequest: row.optional { row in row.bytes() }, codeUsedAt: row.optional { row in row.instant() },
            startedAt: row.instant())
        login.phoneLoginID = try row.optional { (row) throws(CorruptRow) in try row.identifier() }
        login.continuedID = try row.optional { (row) throws(CorruptRow) in try row.identifier() }
        return login
    }

    /// Writes all columns of a login.
    public static func write(_ login: PageLogin, to row: inout some WrittenRow) {
        row.add(login.id)
        row.add(PhoneLogin.Kind.authorize)
        row.add(login.clientID)
        row.add(String(decoding: login.request.json, as: UTF8.self))
        row.add(login.remoteAddress)
        row.add(login.userAgent)
        row.add(login.userID)
        row.add(list: login.methods)
        row.add(login.authenticatedAt)
        row.add(login.epoch)
        row.add(login.browserSession)
        row.add(login.codeHash)
        row.add(login.codeExpiresAt)
        row.add(login.codeRequest)
        row.add(login.codeUsedAt)
        row.add(login.startedAt)
        row.add(login.phoneLoginID)
        row.add(login.continuedID)
    }

    /// Writes the columns in which the page completes a login with a phone.
    public static func writeCompletion(_ login: PageLogin, to row: inout some WrittenRow) {
        row.add(String(decoding: login.request.json, as: UTF8.self))
        row.add(login.remoteAddress)
        row.add(login.userAgent)
        row.add(list: login.methods)
        row.add(login.browserSession)
        row.add(login.codeHash)
        row.add(login.codeExpiresAt)
    }
}
