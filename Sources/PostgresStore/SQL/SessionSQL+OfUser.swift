internal import Sessions
internal import StoreFoundation

/// Every statement about the sessions of one user. Active sessions and tombstones each have a partial index. The planner uses
/// it only for a condition that names the one half; for a condition on the user alone, it reads the whole table.
extension SessionSQL {
    /// A page of a user's sessions, newest first.
    static func selectPage(
        of userID: Identifier<User>, before startedAt: Int64, _ id: Identifier<Session>?, limit: Int
    ) -> Statement {
        Statement(selectingPage, userID, startedAt, id, limit)
    }

    private static let selectingPage = Template(
        """
        SELECT \(SessionColumns.all.list) FROM (
            (\(half("ended_at IS NULL"))) UNION ALL (\(half("ended_at IS NOT NULL")))
        ) s ORDER BY started_at DESC, id DESC LIMIT $4::bigint
        """)

    private static func half(_ condition: String) -> String {
        """
        SELECT * FROM sessions WHERE user_id = $1::uuid AND \(condition)
            AND (started_at < $2::bigint OR (started_at = $2::bigint AND id < $3::uuid))
        ORDER BY started_at DESC, id DESC LIMIT $4::bigint
        """
    }

    /// The sessions without an end of a user on a device.
    static func selectOnDevice(_ deviceID: String, of userID: Identifier<User>) -> Statement {
        Statement(selectingOnDevice, userID, deviceID)
    }

    /// The index has the client before the device, so the query steps from client to client instead of reading every session.
    private static let selectingOnDevice = Template(
        """
        WITH RECURSIVE apps (id) AS (
            (SELECT client_id FROM sessions WHERE user_id = $1::uuid AND ended_at IS NULL ORDER BY client_id LIMIT 1)
            UNION ALL SELECT (
                SELECT client_id FROM sessions
                WHERE user_id = $1::uuid AND client_id > apps.id AND ended_at IS NULL ORDER BY client_id LIMIT 1
            ) FROM apps WHERE apps.id IS NOT NULL
        )
        SELECT \(SessionColumns.all.list(of: "s")) FROM apps CROSS JOIN LATERAL (
            SELECT * FROM sessions
            WHERE user_id = $1::uuid AND client_id = apps.id AND device_id = $2::text AND ended_at IS NULL LIMIT 1
        ) s
        """)

    /// Those of up to `lookMax` of a user's sessions without an end that were refreshed last.
    static func selectLatest(of userID: Identifier<User>, limit: Int, lookMax: Int) -> Statement {
        Statement(selectingLatest, userID, lookMax, limit)
    }

    private static let selectingLatest = Template(
        """
        SELECT \(SessionColumns.all.list) FROM (
            SELECT * FROM sessions WHERE user_id = $1::uuid AND ended_at IS NULL LIMIT $2::bigint
        ) s ORDER BY renewed_at DESC, id DESC LIMIT $3::bigint
        """)

    /// Whether one of up to `lookMax` tombstones of a user is of a session on that device that started before that time.
    static func selectEnded(
        onDevice deviceID: String, of userID: Identifier<User>, before instant: Instant, lookMax: Int
    ) -> Statement {
        Statement(selectingEnded, userID, lookMax, deviceID, instant)
    }

    private static let selectingEnded = Template(
        """
        SELECT 1::bigint FROM (
            SELECT device_id, started_at FROM sessions
            WHERE user_id = $1::uuid AND ended_at IS NOT NULL LIMIT $2::bigint
        ) s WHERE device_id = $3::text AND started_at < $4::bigint LIMIT 1
        """)
}
