internal import Sessions
internal import StoreFoundation

/// Every statement about logins on the server's page.
enum PageLoginSQL {
    private static let columns = PageLoginColumns.all.list
    /// A login with a phone is one on the page once it has a code.
    private static let isOnPage = "kind = 'authorize' AND code_expires_at IS NOT NULL"

    static func read(_ row: inout Row) throws(CorruptRow) -> PageLogin { try PageLoginColumns.read(&row) }

    static func select(_ id: Identifier<Session>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM logins WHERE \(isOnPage) AND id = $1::uuid \(locked)", id)
    }

    static func select(code hash: [UInt8]) -> Statement {
        Statement("SELECT \(columns) FROM logins WHERE code_hash = $1::bytea", hash)
    }

    static func select(browser id: Identifier<Session>) -> Statement {
        Statement("SELECT \(columns) FROM logins WHERE \(isOnPage) AND browser_session_id = $1::uuid", id)
    }

    static func select(continuing id: Identifier<Session>) -> Statement {
        Statement("SELECT \(columns) FROM logins WHERE continued_session_id = $1::uuid ORDER BY id", id)
    }

    static func select(letInBy id: Identifier<Session>) -> Statement {
        Statement("SELECT \(columns) FROM logins WHERE phone_login_id = $1::uuid", id)
    }

    static func selectInOrder(after id: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM logins WHERE ($1::uuid IS NULL OR id > $1::uuid) AND state IS NULL
            ORDER BY id LIMIT $2::bigint
            """, id, limit)
    }

    static func selectWithIDToken(after id: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT id, coalesce(continued_session_id, id), client_id FROM logins
            WHERE ($1::uuid IS NULL OR id > $1::uuid) AND kind <> 'enrolment'
            ORDER BY id LIMIT $2::bigint
            """, id, limit)
    }

    static func insert(_ login: PageLogin) -> Statement {
        Statement(
            "INSERT INTO logins (\(columns)) VALUES (\(PageLoginColumns.all.placeholders()))"
        ) { row in PageLoginColumns.write(login, to: &row) }
    }

    static func updateCode(of login: PageLogin) -> Statement {
        Statement(
            """
            UPDATE logins SET code_hash = $2::bytea, code_request = $3::bytea, code_used_at = $4::bigint,
                continued_session_id = $5::uuid
            WHERE id = $1::uuid
            """, login.id, login.codeHash, login.codeRequest, login.codeUsedAt, login.continuedID)
    }

    static func cancelCodes(of userID: Identifier<User>, client: String?) -> Statement {
        Statement(
            """
            UPDATE logins SET code_hash = NULL
            WHERE user_id = $1::uuid AND code_used_at IS NULL AND code_hash IS NOT NULL
                AND ($2::text IS NULL OR client_id = $2::text)
            """, userID, client)
    }

    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM logins WHERE id IN (
                SELECT id FROM logins l
                WHERE l.started_at < $1::bigint
                AND NOT EXISTS (SELECT 1 FROM logins o WHERE o.phone_login_id = l.id)
                AND NOT EXISTS (
                    SELECT 1 FROM sessions s WHERE s.id = coalesce(l.continued_session_id, l.id) AND (
                        s.ended_at IS NULL
                        AND (l.browser_session_id IS NOT NULL OR l.state = 'signed_in')
                        OR EXISTS (
                            SELECT 1 FROM clients c WHERE c.id = l.client_id AND c.backchannel_logout_uri IS NOT NULL
                        )
                    )
                ) LIMIT $2::bigint
            )
            """, instant, limit)
    }
}
