internal import Sessions
internal import StoreFoundation

/// Every statement about logins on the server's page.
private enum LoginRow {
    private static let columns = LoginColumns.all.list

    static let selectByID = Query(
        "SELECT \(columns) FROM logins WHERE id = ? AND kind = 'authorize' AND code_expires_at IS NOT NULL")
    static let selectByBrowser = Query(
        "SELECT \(columns) FROM logins WHERE browser_session_id = ? AND kind = 'authorize' AND code_expires_at IS NOT NULL"
    )
    static let selectByPhoneLogin = Query("SELECT \(columns) FROM logins WHERE phone_login_id = ?")
    static let selectContinuing = Query(
        "SELECT \(columns) FROM logins WHERE continued_session_id = ? ORDER BY id")
    static let selectInOrder = Query(
        "SELECT \(columns) FROM logins WHERE id > ? AND state IS NULL ORDER BY id LIMIT ?")
    static let selectWithIDToken = Query(
        """
        SELECT id, coalesce(continued_session_id, id), client_id FROM logins
        WHERE id > ? AND kind <> 'enrolment' ORDER BY id LIMIT ?
        """)
    static let selectByCode = Query("SELECT \(columns) FROM logins WHERE code_hash = ?")
    static let insert = Query(inserting: nil, LoginColumns.all, into: "logins")
    static let updateCode = Query(
        "UPDATE logins SET code_hash = ?, code_request = ?, code_used_at = ?, continued_session_id = ? WHERE id = ?")
    static let cancelCodes = Query(
        """
        UPDATE logins SET code_hash = NULL
        WHERE user_id = ?1 AND code_used_at IS NULL AND code_hash IS NOT NULL AND (?2 IS NULL OR client_id = ?2)
        """)
    static let deleteOld = Query(
        """
        DELETE FROM logins WHERE number IN (
            SELECT number FROM logins l
            WHERE l.started_at < ? AND NOT EXISTS (SELECT 1 FROM logins o WHERE o.phone_login_id = l.id)
            AND NOT EXISTS (
                SELECT 1 FROM sessions s WHERE s.id = coalesce(l.continued_session_id, l.id) AND (
                    s.ended_at IS NULL AND (l.browser_session_id IS NOT NULL OR l.history = 'LOGGED_IN')
                    OR EXISTS (
                        SELECT 1 FROM clients c WHERE c.id = l.client_id AND c.backchannel_logout_uri IS NOT NULL
                    )
                )
            ) LIMIT ?
        )
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> Login { try LoginColumns.read(&row) }
}

extension SQLiteRows {
    func login(_ id: Identifier<Session>) -> Answer<Login?> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(LoginRow.selectByID, id, read: LoginRow.read)
        }
    }

    func login(code hash: [UInt8]) -> Answer<Login?> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(LoginRow.selectByCode, hash, read: LoginRow.read)
        }
    }

    func logins(inBrowser id: Identifier<Session>) -> Answer<[Login]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginRow.selectByBrowser, id, read: LoginRow.read)
        }
    }

    func logins(continuing id: Identifier<Session>) -> Answer<[Login]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginRow.selectContinuing, id, read: LoginRow.read)
        }
    }

    func logins(letInBy id: Identifier<Session>) -> Answer<[Login]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginRow.selectByPhoneLogin, id, read: LoginRow.read)
        }
    }

    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[Login]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginRow.selectInOrder, id?.bytes ?? [], limit, read: LoginRow.read)
        }
    }

    func idTokenLogins(after id: Identifier<Session>?, limit: Int) -> Answer<[ClientLogin]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginRow.selectWithIDToken, id?.bytes ?? [], limit) { (row) throws(CorruptRow) in
                ClientLogin(id: try row.identifier(), sessionID: try row.identifier(), clientID: row.text())
            }
        }
    }

    func loginForUpdate(_ id: Identifier<Session>) -> Answer<Login?> { login(id) }

    func insert(_ login: Login) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginRow.insert) { row in LoginColumns.write(login, to: &row) }
        }
    }

    func update(_ login: Login) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(
                LoginRow.updateCode, login.codeHash, login.codeRequest, login.codeUsedAt, login.continuedID, login.id)
        }
    }

    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        if ending.deviceID != nil { return }
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginRow.cancelCodes, userID, ending.clientID)
        }
    }

    func deleteLogins(before instant: Instant, limit: Int) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in try connection.execute(LoginRow.deleteOld, instant, limit) }
    }
}
