internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func loginSession(_ key: LoginSession.Key) -> Answer<LoginSession?> {
        first(LoginSessionSQL.select(key), LoginSessionSQL.read)
    }

    func loginSessionForUpdate(_ id: Identifier<Session>) -> Answer<LoginSession?> {
        first(LoginSessionSQL.select(.id(id), locked: "FOR UPDATE"), LoginSessionSQL.read)
    }

    func loginSessionsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[LoginSession]> {
        all(LoginSessionSQL.select(ofPhone: sessionID, locked: "FOR UPDATE"), LoginSessionSQL.read)
    }

    func loginSessions(ofPhone sessionID: Identifier<Session>) -> Answer<[LoginSession]> {
        all(LoginSessionSQL.select(ofPhone: sessionID), LoginSessionSQL.read)
    }

    func loginSessions(inBrowser id: Identifier<Session>) -> Answer<[LoginSession]> {
        all(LoginSessionSQL.select(browser: id), LoginSessionSQL.read)
    }

    func hasLoginSessions(ofPhone sessionID: Identifier<Session>) -> Answer<Bool> {
        ask([LoginSessionSQL.selectAny(ofPhone: sessionID)]) { rows in rows[0].count > 0 }
    }

    func livingLoginSessionsForUpdate(ofUser userID: Identifier<User>) -> Answer<[LoginSession]> {
        all(LoginSessionSQL.selectLivingForUpdate(ofUser: userID), LoginSessionSQL.read)
    }

    func loginSessions(
        ofUser userID: Identifier<User>?, state: String?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[LoginSession]> {
        let startedAt = cursor?.startedAt.secondsSinceEpoch ?? .max
        return all(
            LoginSessionSQL.selectPage(ofUser: userID, state, before: startedAt, cursor?.id, limit: limit),
            LoginSessionSQL.read)
    }

    func loginSessions(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]> {
        all(LoginSessionSQL.selectDue(by: now, limit: limit)) { (row) throws(CorruptRow) in try row.identifier() }
    }

    func duePings(by now: Instant, limit: Int) -> Answer<[ClientLogin]> {
        all(LoginSessionSQL.selectPings(by: now, limit: limit)) { (row) throws(CorruptRow) in
            ClientLogin(id: try row.identifier(), clientID: row.text())
        }
    }

    func waitingLoginSessionCount(areInvitations: Bool, limit: Int) -> Answer<Int> {
        ask([LoginSessionSQL.countWaiting(areInvitations, limit: limit)]) { (rows) throws(DatabaseError) in
            Int(try rows[0].first { row in row.integer() } ?? 0)
        }
    }

    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int> {
        let since = now + (.zero - LoginRules.backchannelLifetimes.upperBound)
        return ask([LoginSessionSQL.countPushes(to: userID, at: now, since: since)]) { (rows) throws(DatabaseError) in
            Int(try rows[0].first { row in row.integer() } ?? 0)
        }
    }

    func markLoginSessionsDeleted(of userID: Identifier<User>) {
        perform(LoginSessionSQL.markDeleted(of: userID))
    }

    func complete(_ login: Login) { perform(LoginSessionSQL.complete(login)) }

    func insert(_ login: LoginSession) { perform(LoginSessionSQL.insert(login)) }

    func update(_ login: LoginSession) { perform(LoginSessionSQL.update(login)) }
}
