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

    /// Each arm has a limit of its own, because PostgreSQL sorts a whole arm that joins.
    static func selectWithIDToken(after id: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            (SELECT id, coalesce(continued_session_id, id), client_id FROM page_logins
            WHERE $1::uuid IS NULL OR id > $1::uuid ORDER BY id LIMIT $2::bigint)
            UNION ALL
            (SELECT id, id, client_id FROM phone_logins p
            WHERE ($1::uuid IS NULL OR id > $1::uuid) AND kind <> 'enrolment'
                AND NOT EXISTS (SELECT 1 FROM page_logins l WHERE l.id = p.id)
            ORDER BY id LIMIT $2::bigint)
            ORDER BY 1 LIMIT $2::bigint
            """, id, limit)
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

    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM page_logins WHERE id IN (
                SELECT id FROM page_logins l WHERE l.started_at < $1::bigint AND NOT EXISTS (
                    SELECT 1 FROM sessions s WHERE s.id = coalesce(l.continued_session_id, l.id) AND (
                        s.ended_at IS NULL AND l.browser_session_id IS NOT NULL
                        OR EXISTS (
                            SELECT 1 FROM clients c WHERE c.id = l.client_id AND c.backchannel_logout_uri IS NOT NULL
                        )
                    )
                ) LIMIT $2::bigint
            )
            """, instant, limit)
    }
}
