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

    func idTokenLogins(after id: Identifier<Session>?, limit: Int) -> Answer<[LoginReference]> {
        all(PageLoginSQL.selectWithIDToken(after: id, limit: limit)) { (row) throws(CorruptRow) in
            LoginReference(id: try row.identifier(), sessionID: try row.identifier(), clientID: row.text())
        }
    }

    func loginForUpdate(_ id: Identifier<Session>) -> Answer<PageLogin?> {
        first(PageLoginSQL.select(id, locked: "FOR UPDATE"), PageLoginSQL.read)
    }

    func insert(_ login: PageLogin) { perform(PageLoginSQL.insert(login)) }

    func update(_ login: PageLogin) { perform(PageLoginSQL.updateCode(of: login)) }

    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        if ending.deviceID == nil { perform(PageLoginSQL.cancelCodes(of: userID, client: ending.clientID)) }
    }

    func deletePageLogins(before instant: Instant, limit: Int) -> Answer<Int> {
        count(PageLoginSQL.deleteOld(before: instant, limit: limit))
    }
}
