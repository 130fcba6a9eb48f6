internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func phoneLogin(_ key: PhoneLogin.Lookup) -> Answer<PhoneLogin?> {
        first(PhoneLoginSQL.select(key), PhoneLoginSQL.read)
    }

    func phoneLoginForUpdate(_ id: Identifier<Session>) -> Answer<PhoneLogin?> {
        firstForUpdate(PhoneLoginSQL.select(.id(id), locked: "FOR UPDATE"), PhoneLoginSQL.read)
    }

    func phoneLoginsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]> {
        allForUpdate(PhoneLoginSQL.select(ofPhone: sessionID, locked: "FOR UPDATE"), PhoneLoginSQL.read)
    }

    func phoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]> {
        all(PhoneLoginSQL.select(ofPhone: sessionID), PhoneLoginSQL.read)
    }

    func phoneLogins(inBrowser id: Identifier<Session>) -> Answer<[PhoneLogin]> {
        all(PhoneLoginSQL.select(browser: id), PhoneLoginSQL.read)
    }

    func hasPhoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<Bool> {
        ask([PhoneLoginSQL.selectAny(ofPhone: sessionID)]) { rows in rows[0].count > 0 }
    }

    func livingPhoneLoginsForUpdate(ofUser userID: Identifier<User>) -> Answer<[PhoneLogin]> {
        allForUpdate(PhoneLoginSQL.selectLivingForUpdate(ofUser: userID), PhoneLoginSQL.read)
    }

    func phoneLogins(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[PhoneLogin]> {
        let startedAt = cursor?.startedAt.secondsSinceEpoch ?? .max
        return all(
            PhoneLoginSQL.selectPage(ofUser: userID, in: phase, before: startedAt, cursor?.id, limit: limit),
            PhoneLoginSQL.read)
    }

    func phoneLogins(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]> {
        all(PhoneLoginSQL.selectDue(by: now, limit: limit)) { (row) throws(CorruptRow) in try row.identifier() }
    }

    func duePings(by now: Instant, limit: Int) -> Answer<[LoginReference]> {
        all(PhoneLoginSQL.selectPings(by: now, limit: limit)) { (row) throws(CorruptRow) in
            LoginReference(id: try row.identifier(), clientID: row.text())
        }
    }

    func waitingPhoneLoginCount(areInvitations: Bool, limit: Int) -> Answer<Int> {
        ask([PhoneLoginSQL.countWaiting(areInvitations, limit: limit)]) { (rows) throws(DatabaseError) in
            Int(try rows[0].first { row in row.integer() } ?? 0)
        }
    }

    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int> {
        let since = now + (.zero - PhoneLoginRules.backchannelLifetimes.upperBound)
        return ask([PhoneLoginSQL.countPushes(to: userID, at: now, since: since)]) { (rows) throws(DatabaseError) in
            Int(try rows[0].first { row in row.integer() } ?? 0)
        }
    }

    func markPhoneLoginsDeleted(of userID: Identifier<User>) {
        perform(PhoneLoginSQL.markDeleted(of: userID))
    }

    func insert(_ login: PhoneLogin) { perform(PhoneLoginSQL.insert(login)) }

    func update(_ login: PhoneLogin) { perform(PhoneLoginSQL.update(login)) }

    func sweepPhoneLogins(before instant: Instant, limit: Int) -> Answer<RowSweep> {
        sweep(PhoneLoginSQL.sweep(before: instant, limit: limit))
    }
}
