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
        SELECT id, id, client_id FROM page_logins WHERE id = ?1 AND continued_session_id IS NULL
        UNION ALL
        SELECT id, continued_session_id, client_id FROM page_logins WHERE continued_session_id = ?1
        UNION ALL
        SELECT id, id, client_id FROM phone_logins p WHERE id = ?1 AND kind <> 'enrolment'
            AND NOT EXISTS (SELECT 1 FROM page_logins l WHERE l.id = p.id)
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
    /// Old logins, each with the time from which on it counts as old again if it is needed: of the last look at its session less the
    /// time for which logins are kept, so that it is found again when the session may be over.
    static let selectOld = Query(
        """
        SELECT l.number, (
            SELECT CASE WHEN s.ended_at IS NULL THEN s.look_at - ?3 ELSE s.ended_at END FROM sessions s
            WHERE s.id = coalesce(l.continued_session_id, l.id) AND (
                s.ended_at IS NULL AND l.browser_session_id IS NOT NULL
                OR EXISTS (SELECT 1 FROM clients c WHERE c.id = l.client_id AND c.backchannel_logout_uri IS NOT NULL)
            )
        ) FROM page_logins l WHERE coalesce(l.kept_at, l.started_at) < ?1
        ORDER BY coalesce(l.kept_at, l.started_at) LIMIT ?2
        """)
    static let keep = Query("UPDATE page_logins SET kept_at = max(?1, ?2) WHERE number = ?3")
    static let delete = Query("DELETE FROM page_logins WHERE number = ?")

    static func read(_ row: inout Row) throws(CorruptRow) -> PageLogin { try PageLoginColumns.read(&row) }
}

extension SQLiteRows {
    func login(_ id: Identifier<Session>) -> Answer<PageLogin?> {
        first(PageLoginRow.selectByID, id, read: PageLoginRow.read)
    }

    func login(code hash: [UInt8]) -> Answer<PageLogin?> {
        first(PageLoginRow.selectByCode, hash, read: PageLoginRow.read)
    }

    func logins(inBrowser id: Identifier<Session>) -> Answer<[PageLogin]> {
        all(PageLoginRow.selectByBrowser, id, read: PageLoginRow.read)
    }

    func logins(continuing id: Identifier<Session>) -> Answer<[PageLogin]> {
        all(PageLoginRow.selectContinuing, id, read: PageLoginRow.read)
    }

    func logins(letInBy id: Identifier<Session>) -> Answer<[PageLogin]> {
        all(PageLoginRow.selectByPhoneLogin, id, read: PageLoginRow.read)
    }

    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[PageLogin]> {
        all(PageLoginRow.selectInOrder, id?.bytes ?? [], limit, read: PageLoginRow.read)
    }

    func idTokenLogins(of sessions: [Identifier<Session>]) -> Answer<[LoginReference]> {
        answer { (connection) throws(DatabaseError) in
            var found: [LoginReference] = []
            for id in sessions {
                found += try connection.all(PageLoginRow.selectWithIDToken, id) { (row) throws(CorruptRow) in
                    LoginReference(id: try row.identifier(), sessionID: try row.identifier(), clientID: row.text())
                }
            }
            return found
        }
    }

    func loginForUpdate(_ id: Identifier<Session>) -> Answer<PageLogin?> { login(id) }

    func insert(_ login: PageLogin) {
        perform(PageLoginRow.insert) { row in PageLoginColumns.write(login, to: &row) }
    }

    func update(_ login: PageLogin) {
        perform(
            PageLoginRow.updateCode, login.codeHash, login.codeRequest, login.codeUsedAt, login.continuedID,
            login.id)
    }

    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        if ending.deviceID != nil { return }
        perform(PageLoginRow.cancelCodes, userID, ending.clientID)
    }

    func sweepPageLogins(before instant: Instant, limit: Int) -> Answer<RowSweep> {
        sweep(PageLoginRow.selectOld, PageLoginRow.keep, PageLoginRow.delete, before: instant, limit: limit)
    }

    /// Looks at old logins, and keeps or deletes each.
    func sweep(
        _ select: Query, _ keep: Query, _ delete: Query, before instant: Instant, limit: Int
    ) -> Answer<RowSweep> {
        answer { (connection) throws(DatabaseError) in
            let found = try connection.all(select, instant, limit, PageLogin.retention.wholeSeconds) { row in
                (number: row.integer(), keptAt: row.optionalInstant())
            }
            var deleted = 0
            for (number, keptAt) in found {
                if let keptAt {
                    try connection.execute(keep, keptAt, instant, number)
                } else {
                    deleted += try connection.execute(delete, number)
                }
            }
            return RowSweep(looks: found.count, deleted: deleted)
        }
    }
}
