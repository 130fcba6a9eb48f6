internal import Sessions
internal import StoreFoundation

/// Every statement about logins with a phone.
enum PhoneLoginSQL {
    private static let select = "SELECT \(PhoneLoginColumns.all.list) FROM phone_logins WHERE"

    static func read(_ row: inout Row) throws(CorruptRow) -> PhoneLogin { try PhoneLoginColumns.read(&row) }

    static func select(_ key: PhoneLogin.Lookup, locked: String = "") -> Statement {
        switch key {
        case .id(let id): Statement("\(select) id = $1::uuid \(locked)", id)
        case .handle(let handle):
            Statement("\(select) code_handle = $1::bytea AND ended_at IS NULL \(locked)", handle)
        case .userCode(let code): Statement("\(select) user_code = $1::text AND ended_at IS NULL \(locked)", code)
        case .poll(let hash): Statement("\(select) secret_hash = $1::bytea \(locked)", hash)
        case .session(let id):
            Statement(
                "\(select) id = coalesce((SELECT phone_login_id FROM page_logins WHERE id = $1::uuid), $1::uuid) \(locked)",
                id)
        }
    }

    static func select(ofPhone sessionID: Identifier<Session>, locked: String = "") -> Statement {
        Statement("\(select) phone_session_id = $1::uuid AND ended_at IS NULL ORDER BY id \(locked)", sessionID)
    }

    static func select(browser id: Identifier<Session>) -> Statement {
        Statement("\(select) browser_session_id = $1::uuid ORDER BY started_at DESC, id DESC", id)
    }

    static func selectAny(ofPhone sessionID: Identifier<Session>) -> Statement {
        Statement(
            """
            SELECT 1::bigint FROM phone_logins WHERE phone_session_id = $1::uuid AND ended_at IS NULL LIMIT 1
            """, sessionID)
    }

    static func selectLivingForUpdate(ofUser userID: Identifier<User>) -> Statement {
        Statement("\(select) of_user_id = $1::uuid AND ended_at IS NULL ORDER BY id FOR UPDATE", userID)
    }

    static func selectPage(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, before startedAt: Int64,
        _ id: Identifier<Session>?,
        limit: Int
    ) -> Statement {
        Statement(
            """
            \(select) \(userID == nil ? "$1::uuid IS NULL" : "of_user_id = $1::uuid")
                AND \(phase == nil ? "$2::text IS NULL" : "state = $2::text")
                AND (started_at, id) < ($3::bigint, coalesce($4::uuid, '00000000-0000-0000-0000-000000000000'))
            ORDER BY started_at DESC, id DESC LIMIT $5::bigint
            """, userID, phase?.rawValue, startedAt, id, limit)
    }

    static func selectDue(by now: Instant, limit: Int) -> Statement {
        Statement("SELECT id FROM phone_logins WHERE due_at <= $1::bigint ORDER BY due_at LIMIT $2::bigint", now, limit)
    }

    static func selectPings(by now: Instant, limit: Int) -> Statement {
        Statement(
            "SELECT id, client_id FROM phone_logins WHERE ping_at <= $1::bigint ORDER BY ping_at LIMIT $2::bigint", now,
            limit
        )
    }

    static func countWaiting(_ areInvitations: Bool, limit: Int) -> Statement {
        Statement(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM phone_logins WHERE state = 'requested' AND (kind = 'enrolment') = $1::boolean LIMIT $2::bigint
            ) AS waiting
            """, areInvitations, limit)
    }

    static func countPushes(to userID: Identifier<User>, at now: Instant, since: Instant) -> Statement {
        Statement(
            """
            SELECT count(*) FROM phone_logins
            WHERE of_user_id = $1::uuid AND started_at > $2::bigint AND kind = 'backchannel'
                AND state IN ('requested', 'claimed', 'confirming', 'proving') AND input_until > $3::bigint
            """, userID, since, now)
    }

    static func markDeleted(of userID: Identifier<User>) -> Statement {
        Statement(
            """
            UPDATE phone_logins SET state = 'deleted'
            WHERE of_user_id = $1::uuid AND user_id = $1::uuid AND ended_at IS NOT NULL
            """, userID)
    }

    static func insert(_ login: PhoneLogin) -> Statement {
        Statement(
            """
            INSERT INTO phone_logins (\(PhoneLoginColumns.all.list)) VALUES (\(PhoneLoginColumns.all.placeholders()))
            """
        ) { row in PhoneLoginColumns.write(login, to: &row) }
    }

    static func update(_ login: PhoneLogin) -> Statement {
        Statement("UPDATE phone_logins SET \(PhoneLoginColumns.variable.assignments(from: 2)) WHERE id = $1::uuid") {
            row in
            row.add(login.id)
            PhoneLoginColumns.writeVariable(login, to: &row)
        }
    }

    /// Looks at old logins with a phone. A login by which others on the page were answered is looked at again a day later.
    static func sweep(before instant: Instant, limit: Int) -> Statement {
        PageLoginSQL.sweep(
            "phone_logins", "id AS session_id, browser_session_id, state",
            isNeededAlive: "d.browser_session_id IS NOT NULL OR d.state = 'signed_in'",
            orNeeded: """
                UNION ALL
                SELECT d.id, $1::bigint + 86400 FROM due d
                WHERE EXISTS (SELECT 1 FROM page_logins p WHERE p.phone_login_id = d.id)
                """, before: instant, limit: limit)
    }
}
