internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func login(_ id: Identifier<Session>) -> Answer<Login?> { first(LoginSQL.select(id), LoginSQL.read) }

    func login(code hash: [UInt8]) -> Answer<Login?> { first(LoginSQL.select(code: hash), LoginSQL.read) }

    func logins(inBrowser id: Identifier<Session>) -> Answer<[Login]> {
        all(LoginSQL.select(browser: id), LoginSQL.read)
    }

    func logins(continuing id: Identifier<Session>) -> Answer<[Login]> {
        all(LoginSQL.select(continuing: id), LoginSQL.read)
    }

    func logins(letInBy id: Identifier<Session>) -> Answer<[Login]> { all(LoginSQL.select(letInBy: id), LoginSQL.read) }

    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[Login]> {
        all(LoginSQL.selectInOrder(after: id, limit: limit), LoginSQL.read)
    }

    func idTokenLogins(after id: Identifier<Session>?, limit: Int) -> Answer<[ClientLogin]> {
        all(LoginSQL.selectWithIDToken(after: id, limit: limit)) { (row) throws(CorruptRow) in
            ClientLogin(id: try row.identifier(), sessionID: try row.identifier(), clientID: row.text())
        }
    }

    func loginForUpdate(_ id: Identifier<Session>) -> Answer<Login?> {
        first(LoginSQL.select(id, locked: "FOR UPDATE"), LoginSQL.read)
    }

    func insert(_ login: Login) { perform(LoginSQL.insert(login)) }

    func update(_ login: Login) { perform(LoginSQL.updateCode(of: login)) }

    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        if ending.deviceID == nil { perform(LoginSQL.cancelCodes(of: userID, client: ending.clientID)) }
    }

    func deleteLogins(before instant: Instant, limit: Int) -> Answer<Int> {
        count(LoginSQL.deleteOld(before: instant, limit: limit))
    }
}
