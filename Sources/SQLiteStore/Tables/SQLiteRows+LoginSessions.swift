internal import Sessions
internal import StoreFoundation

/// Every statement about logins with a phone.
enum LoginSessionRow {
    private static let select = "SELECT \(LoginSessionColumns.all.list) FROM logins WHERE state IS NOT NULL AND"

    static let selectByID = Query("\(select) id = ?")
    static let selectByHandle = Query("\(select) scan_handle = ? AND ended_at IS NULL")
    static let selectByUserCode = Query("\(select) user_code = ? AND ended_at IS NULL")
    static let selectByPoll = Query("\(select) poll_hash = ?")
    static let selectBySession = Query(
        "\(select) id = coalesce((SELECT phone_login_id FROM logins WHERE id = ?1), ?1)")
    static let selectByBrowser = Query("\(select) browser_session_id = ? ORDER BY started_at DESC, id DESC")
    static let selectOfPhone = Query("\(select) phone_session_id = ? AND ended_at IS NULL ORDER BY id")
    static let hasOfPhone = Query(
        "SELECT 1 FROM logins WHERE state IS NOT NULL AND phone_session_id = ? AND ended_at IS NULL LIMIT 1")
    static let selectLivingOfUser = Query("\(select) phone_user_id = ? AND ended_at IS NULL ORDER BY id")
    private static let page = """
        (?2 IS NULL OR state = ?2) AND (started_at, id) < (?3, ?4) ORDER BY started_at DESC, id DESC LIMIT ?5
        """
    static let selectPageOfUser = Query("\(select) phone_user_id = ?1 AND \(page)")
    static let selectPage = Query("\(select) ?1 IS NULL AND \(page)")
    static let selectPageInState = Query("\(select) ?1 IS NULL AND state = ?2 AND \(page)")
    static let selectDue = Query("SELECT id FROM logins WHERE due_at <= ? ORDER BY due_at LIMIT ?")
    static let selectPings = Query("SELECT id, client_id FROM logins WHERE ping_at <= ? ORDER BY ping_at LIMIT ?")
    static let countWaiting = Query(
        """
        SELECT count(*) FROM
            (SELECT 1 FROM logins WHERE state = 'STARTING' AND (kind = 'enrolment') = ? LIMIT ?)
        """)
    static let countPushes = Query(
        """
        SELECT count(*) FROM logins WHERE phone_user_id = ? AND started_at > ? AND kind = 'backchannel'
            AND ended_at IS NULL AND state <> 'ACTIVE' AND input_until > ?
        """)
    static let markDeleted = Query(
        """
        UPDATE logins SET history = 'DELETED' WHERE state IS NOT NULL AND phone_user_id = ?1 AND user_id = ?1
            AND ended_at IS NOT NULL
        """)
    static let complete = Query(
        """
        UPDATE logins SET \(LoginColumns.completion.names.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?
        """)
    static let insert = Query(inserting: nil, LoginSessionColumns.all, into: "logins")
    static let update = Query(
        """
        UPDATE logins SET \(LoginSessionColumns.variable.names.map { "\($0) = ?" }.joined(separator: ", "))
        WHERE id = ?
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> LoginSession { try LoginSessionColumns.read(&row) }
}

extension SQLiteRows {
    func loginSession(_ key: LoginSession.Key) -> Answer<LoginSession?> {
        answer { (connection) throws(DatabaseError) in
            switch key {
            case .id(let id):
                try connection.first(LoginSessionRow.selectByID, id, read: LoginSessionRow.read)
            case .handle(let handle):
                try connection.first(LoginSessionRow.selectByHandle, handle, read: LoginSessionRow.read)
            case .userCode(let code):
                try connection.first(LoginSessionRow.selectByUserCode, code, read: LoginSessionRow.read)
            case .poll(let hash):
                try connection.first(LoginSessionRow.selectByPoll, hash, read: LoginSessionRow.read)
            case .session(let id):
                try connection.first(LoginSessionRow.selectBySession, id, read: LoginSessionRow.read)
            }
        }
    }

    func loginSessionForUpdate(_ id: Identifier<Session>) -> Answer<LoginSession?> { loginSession(.id(id)) }

    func loginSessionsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[LoginSession]> {
        loginSessions(ofPhone: sessionID)
    }

    func loginSessions(ofPhone sessionID: Identifier<Session>) -> Answer<[LoginSession]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginSessionRow.selectOfPhone, sessionID, read: LoginSessionRow.read)
        }
    }

    func loginSessions(inBrowser id: Identifier<Session>) -> Answer<[LoginSession]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginSessionRow.selectByBrowser, id, read: LoginSessionRow.read)
        }
    }

    func hasLoginSessions(ofPhone sessionID: Identifier<Session>) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(LoginSessionRow.hasOfPhone, sessionID) { row in row.integer() } != nil
        }
    }

    func livingLoginSessionsForUpdate(ofUser userID: Identifier<User>) -> Answer<[LoginSession]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginSessionRow.selectLivingOfUser, userID, read: LoginSessionRow.read)
        }
    }

    func loginSessions(
        ofUser userID: Identifier<User>?, state: String?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[LoginSession]> {
        answer { (connection) throws(DatabaseError) in
            let query =
                userID != nil
                ? LoginSessionRow.selectPageOfUser
                : state == nil ? LoginSessionRow.selectPage : LoginSessionRow.selectPageInState
            return try connection.all(
                query, userID, state,
                cursor?.startedAt.secondsSinceEpoch ?? .max, cursor?.id.bytes ?? [], limit, read: LoginSessionRow.read)
        }
    }

    func loginSessions(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginSessionRow.selectDue, now, limit) { (row) throws(CorruptRow) in
                try row.identifier()
            }
        }
    }

    func duePings(by now: Instant, limit: Int) -> Answer<[ClientLogin]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginSessionRow.selectPings, now, limit) { (row) throws(CorruptRow) in
                ClientLogin(id: try row.identifier(), clientID: row.text())
            }
        }
    }

    func waitingLoginSessionCount(areInvitations: Bool, limit: Int) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(LoginSessionRow.countWaiting, areInvitations, limit) { row in Int(row.integer()) } ?? 0
        }
    }

    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(
                LoginSessionRow.countPushes, userID, now + (.zero - LoginRules.backchannelLifetimes.upperBound), now
            ) { row in Int(row.integer()) } ?? 0
        }
    }

    func markLoginSessionsDeleted(of userID: Identifier<User>) {
        perform { (connection) throws(DatabaseError) in try connection.execute(LoginSessionRow.markDeleted, userID) }
    }

    func complete(_ login: Login) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginSessionRow.complete) { row in
                LoginColumns.writeCompletion(login, to: &row)
                row.add(login.id)
            }
        }
    }

    func insert(_ login: LoginSession) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginSessionRow.insert) { row in LoginSessionColumns.write(login, to: &row) }
        }
    }

    func update(_ login: LoginSession) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginSessionRow.update) { row in
                LoginSessionColumns.writeVariable(login, to: &row)
                row.add(login.id)
            }
        }
    }
}
