public import Sessions

/// A login on the server's page as a row of `page_logins`.
public enum PageLoginColumns {
    /// The columns, in the order of `read` and `write`.
    public static let all = Columns(
        "id", "client_id", "request", "remote_address", "user_agent", "user_id", "methods", "authenticated_at", "epoch",
        "browser_session_id", "phone_login_id", "continued_session_id", "code_hash", "code_expires_at", "code_request",
        "code_used_at", "started_at")

    /// Reads the columns of a login.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> PageLogin {
        let id: Identifier<Session> = try row.identifier()
        row.skip(1)
        guard let request = AuthorizationRequest(json: Array(row.text().utf8)) else {
            throw CorruptRow("login \(id) has a request that cannot be read")
        }
        let (remoteAddress, userAgent) = (row.optionalText(), row.optionalText())
        let (userID, methods): (Identifier<User>, [String]) = (try row.identifier(), row.list())
        let (authenticatedAt, epoch) = (row.instant(), row.integer())
        let (browserSession, phoneLoginID, continuedID) = (
            try row.optionalSession(), try row.optionalSession(), try row.optionalSession()
        )
        var login = PageLogin(
            id: id, request: request, remoteAddress: remoteAddress, userAgent: userAgent, userID: userID,
            methods: methods, authenticatedAt: authenticatedAt, epoch: epoch, browserSession: browserSession,
            codeHash: row.optional { row in row.bytes() }, codeExpiresAt: row.instant(),
            codeRequest: row.optional { row in row.bytes() }, codeUsedAt: row.optional { row in row.instant() },
            startedAt: row.instant())
        (login.phoneLoginID, login.continuedID) = (phoneLoginID, continuedID)
        return login
    }

    /// Writes all columns of a login.
    public static func write(_ login: PageLogin, to row: inout some WrittenRow) {
        row.add(login.id)
        row.add(login.clientID)
        row.add(String(decoding: login.request.json, as: UTF8.self))
        row.add(login.remoteAddress)
        row.add(login.userAgent)
        row.add(login.userID)
        row.add(list: login.methods)
        row.add(login.authenticatedAt)
        row.add(login.epoch)
        row.add(login.browserSession)
        row.add(login.phoneLoginID)
        row.add(login.continuedID)
        row.add(login.codeHash)
        row.add(login.codeExpiresAt)
        row.add(login.codeRequest)
        row.add(login.codeUsedAt)
        row.add(login.startedAt)
    }
}

extension StoredRow {
    /// Reads the id of a session; nil for null.
    mutating func optionalSession() throws(CorruptRow) -> Identifier<Session>? {
        try optional { (row) throws(CorruptRow) in try row.identifier() }
    }
}
