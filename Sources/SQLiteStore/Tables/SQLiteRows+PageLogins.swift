internal import Sessions
internal import StoreFoundation

/// Every statement about logins on the server's page.
private enum PageLoginRow {
    private static let select = "SELECT \(PageLoginColumns.all.list) FROM page_logins WHERE"

    static let selectByID = Query("\(select) id = ?")
    static let selectByBrowser = Query("\(select) browser_session_id = ?")
    static let selectByPhoneLogin = Query("\(select) phone_login_id = ?")
    static let selectContinuing = Query("\(select) continued_session_id = ? ORDER BY id")
    static let selectInOrder = Query(
        """
        \(select) id > ? AND NOT EXISTS (SELECT 1 FROM phone_logins p WHERE p.id = page_logins.id)
        ORDER BY id LIMIT ?
        """)
    static let selectWithIDToken = Query(
        """
        SELECT id, coalesce(continued_session_id, id), client_id FROM page_logins WHERE id > ?1
        UNION ALL
        SELECT id, id, client_id FROM phone_logins p WHERE id > ?1 AND kind <> 'enrolment'
            AND NOT EXISTS (SELECT 1 FROM page_logins l WHERE l.id = p.id)
        ORDER BY 1 LIMIT ?2
        """)
    static let selectByCode = Query("\(select) code_hash = ?")
    static let insert = Query(inserting: nil, PageLoginColumns.all, into: "page_logins")
    static let updateCode = Query(
        """
        UPDATE page_logins SET code_hash = ?, code_request = ?, code_used_at = ?, continued_session_id = ?
        WHERE id = ?
        """)
    static let cancelCodes = Query(
        """
        UPDATE page_logins SET code_hash = NULL
        WHERE user_id = ?1 AND code_used_at IS NULL AND code_hash IS NOT NULL AND (?2 IS NULL OR client_id = ?2)
        """)
    static let deleteOld = Query(
        """
        DELETE FROM page_logins WHERE number IN (
            SELECT number FROM page_logins l WHERE l.started_at < ? AND NOT EXISTS (
                SELECT 1 FROM sessions s WHERE s.id = coalesce(l.continued_session_id, l.id) AND (
                    s.ended_at IS NULL AND l.browser_session_id IS NOT NULL
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

    func deletePageLogins(before instant: Instant, limit: Int) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in try connection.execute(PageLoginRow.deleteOld, instant, limit) }
    }
}
