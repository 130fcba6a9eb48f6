internal import Sessions
internal import StoreFoundation

/// Every statement about logins with a phone.
enum PhoneLoginRow {
    private static let select = "SELECT \(PhoneLoginColumns.all.list) FROM phone_logins WHERE"

    static let selectByID = Query("\(select) id = ?")
    static let selectByHandle = Query("\(select) code_handle = ? AND ended_at IS NULL")
    static let selectByUserCode = Query("\(select) user_code = ? AND ended_at IS NULL")
    static let selectByPoll = Query("\(select) secret_hash = ?")
    static let selectBySession = Query(
        "\(select) id = coalesce((SELECT phone_login_id FROM page_logins WHERE id = ?1), ?1)")
    static let selectByBrowser = Query("\(select) browser_session_id = ? ORDER BY started_at DESC, id DESC")
    static let selectOfPhone = Query("\(select) phone_session_id = ? AND ended_at IS NULL ORDER BY id")
    static let hasOfPhone = Query(
        "SELECT 1 FROM phone_logins WHERE phone_session_id = ? AND ended_at IS NULL LIMIT 1")
    static let selectLivingOfUser = Query("\(select) of_user_id = ? AND ended_at IS NULL ORDER BY id")
    private static let page = """
        (?2 IS NULL OR state = ?2) AND (started_at, id) < (?3, ?4) ORDER BY started_at DESC, id DESC LIMIT ?5
        """
    static let selectPageOfUser = Query("\(select) of_user_id = ?1 AND \(page)")
    static let selectPage = Query("\(select) ?1 IS NULL AND \(page)")
    static let selectPageInState = Query("\(select) ?1 IS NULL AND state = ?2 AND \(page)")
    static let selectDue = Query("SELECT id FROM phone_logins WHERE due_at <= ? ORDER BY due_at LIMIT ?")
    static let selectPings = Query("SELECT id, client_id FROM phone_logins WHERE ping_at <= ? ORDER BY ping_at LIMIT ?")
    static let countWaiting = Query(
        """
        SELECT count(*) FROM
            (SELECT 1 FROM phone_logins WHERE state = 'requested' AND (kind = 'enrolment') = ? LIMIT ?)
        """)
    static let countPushes = Query(
        """
        SELECT count(*) FROM phone_logins WHERE of_user_id = ? AND started_at > ? AND kind = 'backchannel'
            AND state IN ('requested', 'claimed', 'confirming', 'proving') AND input_until > ?
        """)
    static let markDeleted = Query(
        """
        UPDATE phone_logins SET state = 'deleted' WHERE of_user_id = ?1 AND user_id = ?1
            AND ended_at IS NOT NULL
        """)
    static let insert = Query(inserting: nil, PhoneLoginColumns.all, into: "phone_logins")
    static let update = Query(
        """
        UPDATE phone_logins SET \(PhoneLoginColumns.variable.names.map { "\($0) = ?" }.joined(separator: ", "))
        WHERE id = ?
        """)

    /// As `PageLoginRow.selectOld`. A login by which others on the page were answered is looked at again a day later.
    static let selectOld = Query(
        """
        SELECT l.number, coalesce((
            SELECT CASE WHEN s.ended_at IS NULL THEN s.look_at - ?3 ELSE s.ended_at END FROM sessions s
            WHERE s.id = l.id AND (
                s.ended_at IS NULL AND (l.browser_session_id IS NOT NULL OR l.state = 'signed_in')
                OR EXISTS (SELECT 1 FROM clients c WHERE c.id = l.client_id AND c.backchannel_logout_uri IS NOT NULL)
            )
        ), (
            SELECT ?1 + 86400 FROM page_logins p WHERE p.phone_login_id = l.id LIMIT 1
        )) FROM phone_logins l WHERE coalesce(l.kept_at, l.started_at) < ?1
        ORDER BY coalesce(l.kept_at, l.started_at) LIMIT ?2
        """)
    static let keep = Query("UPDATE phone_logins SET kept_at = max(?1, ?2) WHERE number = ?3")
    static let delete = Query("DELETE FROM phone_logins WHERE number = ?")

    static func read(_ row: inout Row) throws(CorruptRow) -> PhoneLogin { try PhoneLoginColumns.read(&row) }
}

extension SQLiteRows {
    func phoneLogin(_ key: PhoneLogin.Lookup) -> Answer<PhoneLogin?> {
        answer { (connection) throws(DatabaseError) in
            switch key {
            case .id(let id):
                try connection.first(PhoneLoginRow.selectByID, id, read: PhoneLoginRow.read)
            case .handle(let handle):
                try connection.first(PhoneLoginRow.selectByHandle, handle, read: PhoneLoginRow.read)
            case .userCode(let code):
                try connection.first(PhoneLoginRow.selectByUserCode, code, read: PhoneLoginRow.read)
            case .poll(let hash):
                try connection.first(PhoneLoginRow.selectByPoll, hash, read: PhoneLoginRow.read)
            case .session(let id):
                try connection.first(PhoneLoginRow.selectBySession, id, read: PhoneLoginRow.read)
            }
        }
    }

    func phoneLoginForUpdate(_ id: Identifier<Session>) -> Answer<PhoneLogin?> { phoneLogin(.id(id)) }

    func phoneLoginsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]> {
        phoneLogins(ofPhone: sessionID)
    }

    func phoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]> {
        all(PhoneLoginRow.selectOfPhone, sessionID, read: PhoneLoginRow.read)
    }

    func phoneLogins(inBrowser id: Identifier<Session>) -> Answer<[PhoneLogin]> {
        all(PhoneLoginRow.selectByBrowser, id, read: PhoneLoginRow.read)
    }

    func hasPhoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(PhoneLoginRow.hasOfPhone, sessionID) { row in row.integer() } != nil
        }
    }

    func livingPhoneLoginsForUpdate(ofUser userID: Identifier<User>) -> Answer<[PhoneLogin]> {
        all(PhoneLoginRow.selectLivingOfUser, userID, read: PhoneLoginRow.read)
    }

    func phoneLogins(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[PhoneLogin]> {
        answer { (connection) throws(DatabaseError) in
            let query =
                userID != nil
                ? PhoneLoginRow.selectPageOfUser
                : phase == nil ? PhoneLoginRow.selectPage : PhoneLoginRow.selectPageInState
            return try connection.all(
                query, userID, phase?.rawValue,
                cursor?.startedAt.secondsSinceEpoch ?? .max, cursor?.id.bytes ?? [], limit, read: PhoneLoginRow.read)
        }
    }

    func phoneLogins(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PhoneLoginRow.selectDue, now, limit) { (row) throws(CorruptRow) in
                try row.identifier()
            }
        }
    }

    func duePings(by now: Instant, limit: Int) -> Answer<[LoginReference]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PhoneLoginRow.selectPings, now, limit) { (row) throws(CorruptRow) in
                LoginReference(id: try row.identifier(), clientID: row.text())
            }
        }
    }

    func waitingPhoneLoginCount(areInvitations: Bool, limit: Int) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(PhoneLoginRow.countWaiting, areInvitations, limit) { row in Int(row.integer()) } ?? 0
        }
    }

    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(
                PhoneLoginRow.countPushes, userID, now + (.zero - PhoneLoginRules.backchannelLifetimes.upperBound), now
            ) { row in Int(row.integer()) } ?? 0
        }
    }

    func markPhoneLoginsDeleted(of userID: Identifier<User>) {
        perform(PhoneLoginRow.markDeleted, userID)
    }

    func insert(_ login: PhoneLogin) {
        perform(PhoneLoginRow.insert) { row in PhoneLoginColumns.write(login, to: &row) }
    }

    func update(_ login: PhoneLogin) {
        perform(PhoneLoginRow.update) { row in
            PhoneLoginColumns.writeVariable(login, to: &row)
            row.add(login.id)
        }
    }

    func sweepPhoneLogins(before instant: Instant, limit: Int) -> Answer<RowSweep> {
        sweep(PhoneLoginRow.selectOld, PhoneLoginRow.keep, PhoneLoginRow.delete, before: instant, limit: limit)
    }
}
