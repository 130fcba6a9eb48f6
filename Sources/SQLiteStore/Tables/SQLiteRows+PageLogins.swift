internal import Sessions
internal import StoreFoundation

/// Every statement about logins on the server's page.
private enum PageLoginRow {
    private static let columns = PageLoginColumns.all.list

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
    static let insert = Query(inserting: nil, PageLoginColumns.all, into: "logins")
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
                    s.ended_at IS NULL AND (l.browser_session_id IS NOT NULL OR l.state = 'signed_in')
                    OR EXISTS (
                        SELECT 1 FROM clients c WHERE c.id = l.client_id AND c.backchannel_logout_uri IS NOT NULL
                    )
                )
            ) LIMIT ?
        )
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> PageLogin { try PageLoginColumns.read(&row) }
}

extension SQLiteRows {
    func login(_ id: Identifier<Session>) -> Answer<PageLogin?> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(PageLoginRow.selectByID, id, read: PageLoginRow.read)
        }
    }

    func login(code hash: [UInt8]) -> Answer<PageLogin?> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(PageLoginRow.selectByCode, hash, read: PageLoginRow.read)
        }
    }

    func logins(inBrowser id: Identifier<Session>) -> Answer<[PageLogin]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PageLoginRow.selectByBrowser, id, read: PageLoginRow.read)
        }
    }

    func logins(continuing id: Identifier<Session>) -> Answer<[PageLogin]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PageLoginRow.selectContinuing, id, read: PageLoginRow.read)
        }
    }

    func logins(letInBy id: Identifier<Session>) -> Answer<[PageLogin]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PageLoginRow.selectByPhoneLogin, id, read: PageLoginRow.read)
        }
    }

    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[PageLogin]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PageLoginRow.selectInOrder, id?.bytes ?? [], limit, read: PageLoginRow.read)
        }
    }

    func idTokenLogins(after id: Identifier<Session>?, limit: Int) -> Answer<[LoginReference]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(PageLoginRow.selectWithIDToken, id?.bytes ?? [], limit) { (row) throws(CorruptRow) in
                LoginReference(id: try row.identifier(), sessionID: try row.identifier(), clientID: row.text())
            }
        }
    }

    func loginForUpdate(_ id: Identifier<Session>) -> Answer<PageLogin?> { login(id) }

    func insert(_ login: PageLogin) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(PageLoginRow.insert) { row in PageLoginColumns.write(login, to: &row) }
        }
    }

    func update(_ login: PageLogin) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(
                PageLoginRow.updateCode, login.codeHash, login.codeRequest, login.codeUsedAt, login.continuedID,
                login.id)
        }
    }

    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        if ending.deviceID != nil { return }
        perform { (connection) throws(DatabaseError) in
            try connection.execute(PageLoginRow.cancelCodes, userID, ending.clientID)
        }
    }

    func deleteLogins(before instant: Instant, limit: Int) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in try connection.execute(PageLoginRow.deleteOld, instant, limit) }
    }
}
