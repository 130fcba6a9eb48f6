internal import Sessions
internal import StoreFoundation

/// Every statement about logins on the server's page.
enum PageLoginSQL {
    private static let select = "SELECT \(PageLoginColumns.all.list) FROM page_logins WHERE"

    static func read(_ row: inout Row) throws(CorruptRow) -> PageLogin { try PageLoginColumns.read(&row) }

    static func select(_ id: Identifier<Session>, locked: String = "") -> Statement {
        Statement("\(select) id = $1::uuid \(locked)", id)
    }

    static func select(code hash: [UInt8]) -> Statement {
        Statement("\(select) code_hash = $1::bytea", hash)
    }

    static func select(browser id: Identifier<Session>) -> Statement {
        Statement("\(select) browser_session_id = $1::uuid", id)
    }

    static func select(continuing id: Identifier<Session>) -> Statement {
        Statement("\(select) continued_session_id = $1::uuid ORDER BY id", id)
    }

    static func select(letInBy id: Identifier<Session>) -> Statement {
        Statement("\(select) phone_login_id = $1::uuid", id)
    }

    static func selectInOrder(after id: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            \(select) ($1::uuid IS NULL OR id > $1::uuid)
                AND NOT EXISTS (SELECT 1 FROM phone_logins p WHERE p.id = page_logins.id)
            ORDER BY id LIMIT $2::bigint
            """, id, limit)
    }

    /// Each arm reads by an index.
    static func selectWithIDToken(of sessions: [Identifier<Session>]) -> Statement {
        Statement(
            """
            SELECT id, id, client_id FROM page_logins WHERE id = ANY ($1::uuid[]) AND continued_session_id IS NULL
            UNION ALL
            SELECT id, continued_session_id, client_id FROM page_logins WHERE continued_session_id = ANY ($1::uuid[])
            UNION ALL
            SELECT id, id, client_id FROM phone_logins p WHERE id = ANY ($1::uuid[]) AND kind <> 'enrolment'
                AND NOT EXISTS (SELECT 1 FROM page_logins l WHERE l.id = p.id)
            """, ArrayParameter(sessions))
    }

    static func insert(_ login: PageLogin) -> Statement {
        Statement(
            """
            INSERT INTO page_logins (\(PageLoginColumns.all.list)) VALUES (\(PageLoginColumns.all.placeholders()))
            """
        ) { row in PageLoginColumns.write(login, to: &row) }
    }

    static func updateCode(of login: PageLogin) -> Statement {
        Statement(
            """
            UPDATE page_logins SET code_hash = $2::bytea, code_request = $3::bytea, code_used_at = $4::bigint,
                continued_session_id = $5::uuid
            WHERE id = $1::uuid
            """, login.id, login.codeHash, login.codeRequest, login.codeUsedAt, login.continuedID)
    }

    static func cancelCodes(of userID: Identifier<User>, client: String?) -> Statement {
        Statement(
            """
            UPDATE page_logins SET code_hash = NULL
            WHERE user_id = $1::uuid AND code_used_at IS NULL AND code_hash IS NOT NULL
                AND ($2::text IS NULL OR client_id = $2::text)
            """, userID, client)
    }

    /// Looks at old logins on the page. A login is needed by its browser as long as its session lives.
    static func sweep(before instant: Instant, limit: Int) -> Statement {
        sweep(
            "page_logins", "coalesce(continued_session_id, id) AS session_id, browser_session_id",
            isNeededAlive: "d.browser_session_id IS NOT NULL", before: instant, limit: limit)
    }

    /// Deletes old logins that nothing needs. A login that is needed counts as one of a later time: of the next look at its session
    /// less the time for which logins are kept, so that it is found again when the session may be over.
    static func sweep(
        _ table: String, _ columns: String, isNeededAlive: String, orNeeded more: String = "", before instant: Instant,
        limit: Int
    ) -> Statement {
        Statement(
            """
            WITH due AS (
                SELECT id, client_id, \(columns) FROM \(table)
                WHERE coalesce(kept_at, started_at) < $1::bigint ORDER BY coalesce(kept_at, started_at)
                LIMIT $2::bigint
            ), needed AS (
                SELECT d.id, CASE WHEN s.ended_at IS NULL THEN s.look_at - $3::bigint ELSE s.ended_at END AS kept_at
                FROM due d JOIN sessions s ON s.id = d.session_id
                WHERE s.ended_at IS NULL AND (\(isNeededAlive)) OR EXISTS (
                    SELECT 1 FROM clients c WHERE c.id = d.client_id AND c.backchannel_logout_uri IS NOT NULL
                ) \(more)
            ), kept AS (
                UPDATE \(table) l SET kept_at = greatest(n.kept_at, $1::bigint) FROM needed n WHERE l.id = n.id
            ), gone AS (
                DELETE FROM \(table) l USING due d
                WHERE l.id = d.id AND NOT EXISTS (SELECT 1 FROM needed n WHERE n.id = d.id) RETURNING l.id
            )
            SELECT (SELECT count(*) FROM due), (SELECT count(*) FROM gone)
            """, instant, limit, PageLogin.retention.wholeSeconds)
    }
}
