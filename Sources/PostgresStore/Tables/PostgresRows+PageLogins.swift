internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func login(_ id: Identifier<Session>) -> Answer<PageLogin?> { first(PageLoginSQL.select(id), PageLoginSQL.read) }

    func login(code hash: [UInt8]) -> Answer<PageLogin?> { first(PageLoginSQL.select(code: hash), PageLoginSQL.read) }

    func logins(inBrowser id: Identifier<Session>) -> Answer<[PageLogin]> {
        all(PageLoginSQL.select(browser: id), PageLoginSQL.read)
    }

    func logins(continuing id: Identifier<Session>) -> Answer<[PageLogin]> {
        all(PageLoginSQL.select(continuing: id), PageLoginSQL.read)
    }

    func logins(letInBy id: Identifier<Session>) -> Answer<[PageLogin]> {
        all(PageLoginSQL.select(letInBy: id), PageLoginSQL.read)
    }

    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[PageLogin]> {
        all(PageLoginSQL.selectInOrder(after: id, limit: limit), PageLoginSQL.read)
    }

    func idTokenLogins(of sessions: [Identifier<Session>]) -> Answer<[LoginReference]> {
        all(PageLoginSQL.selectWithIDToken(of: sessions)) { (row) throws(CorruptRow) in
            LoginReference(id: try row.identifier(), sessionID: try row.identifier(), clientID: row.text())
        }
    }

    func loginForUpdate(_ id: Identifier<Session>) -> Answer<PageLogin?> {
        firstForUpdate(PageLoginSQL.select(id, locked: "FOR UPDATE"), PageLoginSQL.read)
    }

    func insert(_ login: PageLogin) {
        shareToWrite(login.userID)
        perform(PageLoginSQL.insert(login))
    }

    func update(_ login: PageLogin) { perform(PageLoginSQL.updateCode(of: login)) }

    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        if ending.deviceID == nil { perform(PageLoginSQL.cancelCodes(of: userID, client: ending.clientID)) }
    }

    func sweepPageLogins(before instant: Instant, limit: Int) -> Answer<RowSweep> {
        sweep(PageLoginSQL.sweep(before: instant, limit: limit))
    }

    /// The result of a statement that looks at logins and deletes some of them.
    func sweep(_ statement: Statement) -> Answer<RowSweep> {
        ask([statement]) { (rows) throws(DatabaseError) in
            try rows[0].map { row in RowSweep(looks: Int(row.integer()), deleted: Int(row.integer())) }.first
                ?? RowSweep(looks: 0, deleted: 0)
        }
    }
}
