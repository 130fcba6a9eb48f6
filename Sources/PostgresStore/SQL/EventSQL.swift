internal import Sessions
internal import StoreFoundation

/// Every statement about the audit trail. An insert comes after `FollowedTable.announce`, and numbers are read up to
/// `FollowedTable.end` where a reader follows them.
enum EventSQL {
    /// No events, column by column: the guard, the columns of the event, those of its revocation.
    static let noRows = ColumnArrays { row in
        write(AuditEvent(.userChanged, at: Instant(secondsSinceEpoch: 0), by: .system), nil, nil, to: &row)
    }

    /// Adds an event to `rows`.
    ///
    /// - Parameter session: the session that guards the event: the event is written only if the change of that session is.
    static func add(
        _ event: AuditEvent, _ revocation: Revocation?, guardedBy session: Identifier<Session>? = nil,
        to rows: inout ColumnArrays
    ) {
        rows.append { row in write(event, revocation, session, to: &row) }
    }

    private static func write(
        _ event: AuditEvent, _ revocation: Revocation?, _ session: Identifier<Session>?, to row: inout ColumnArrays
    ) {
        row.add(session)
        EventColumns.write(event, revocation, to: &row)
    }

    private static func insert(firstParameter: Int, _ condition: String) -> String {
        """
        INSERT INTO audit_events (\(EventColumns.all.list))
        SELECT \(EventColumns.all.list(of: "e"))
        FROM unnest(\(noRows.placeholders(from: firstParameter))) WITH ORDINALITY
            AS e (guard, \(EventColumns.all.list), place)
        \(condition) ORDER BY e.place
        """
    }

    /// The statement that inserts the rows with a guard among the ids of `changed`.
    static func insertGuarded(by changed: String, firstParameter: Int) -> String {
        insert(firstParameter: firstParameter, "WHERE e.guard IN (SELECT id FROM \(changed))")
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> RecordedEvent { try EventColumns.read(&row) }

    /// The statements that add `events` to the trail and their revocations to the feed. None for no events.
    static func insert(_ events: [RevokingEvent]) -> [Statement] {
        if events.isEmpty { return [] }
        var rows = noRows
        for entry in events { add(entry.event, entry.revocation, to: &rows) }
        let revocations = events.compactMap(\.revocation)
        return [
            FollowedTable.announce(revocations.isEmpty ? [.events] : [.events, .revocations]),
            Statement(insertingUnguarded, parameters: rows.parameters),
        ] + RevocationSQL.insert(revocations)
    }

    private static let insertingUnguarded = Template(insert(firstParameter: 1, "WHERE e.guard IS NULL"))

    /// The events of a user before number `cursor`, the newest first.
    static func selectLatest(of userID: Identifier<User>, before cursor: Int64, limit: Int) -> Statement {
        Statement(
            """
            SELECT number, \(EventColumns.all.list) FROM audit_events
            WHERE user_id = $1::uuid AND number < $2::bigint ORDER BY number DESC LIMIT $3::bigint
            """, userID, cursor, limit)
    }

    static func selectLatest(before cursor: Int64, limit: Int) -> Statement {
        Statement(
            """
            SELECT number, \(EventColumns.all.list) FROM audit_events
            WHERE number < $1::bigint ORDER BY number DESC LIMIT $2::bigint
            """, cursor, limit)
    }

    /// Erases the addresses and the other values that a user had, and the names of the devices.
    static func forgetValues(of userID: Identifier<User>) -> Statement {
        Statement(
            """
            UPDATE audit_events SET device_name = NULL, reason = CASE WHEN \(EventColumns.hasValues) THEN NULL ELSE reason END
            WHERE user_id = $1::uuid AND (\(EventColumns.hasValues) OR device_name IS NOT NULL)
            """, userID)
    }

    /// Reads exactly that many of the oldest rows, because the trail has no index of time.
    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM audit_events
            WHERE number IN (SELECT number FROM audit_events ORDER BY number LIMIT $1::bigint)
                AND occurred_at < $2::bigint
            """, limit, instant)
    }

    /// The statements for the end of a step along the trail, and for the events in it that an import needs.
    static func selectStep(after cursor: Int64, limit: Int) -> [Statement] {
        let step = "SELECT * FROM audit_events WHERE number > $1::bigint ORDER BY number LIMIT $2::bigint"
        return [
            Statement("SELECT coalesce(max(number), $1::bigint) FROM (\(step)) AS step", cursor, limit),
            Statement(
                """
                SELECT number, \(EventColumns.all.list) FROM (\(step)) AS step
                WHERE \(EventColumns.isGeneral) ORDER BY number
                """, cursor, limit),
        ]
    }

    static func selectRemembered(of users: ArrayParameter) -> Statement { Statement(selectingOfUsers, users) }

    private static let selectingOfUsers = Template(
        """
        SELECT number, \(EventColumns.all.list) FROM audit_events
        WHERE user_id = ANY ($1::uuid[]) AND \(EventColumns.isOfUser) ORDER BY number
        """)

    static func selectNews(after place: Int64) -> Statement { Statement(selectingNews, place) }

    private static let selectingNews = Template(
        """
        SELECT number, \(EventColumns.all.list) FROM audit_events
        WHERE number > $1::bigint AND (\(EventColumns.isGeneral) OR \(EventColumns.isOfUser)) ORDER BY number
        """)

    static func selectEnds(ofClient clientID: String, after cursor: Int64, limit: Int) -> Statement {
        Statement(
            """
            SELECT number, \(EventColumns.all.list) FROM audit_events
            WHERE number > $1::bigint AND kind = 'session_ended' AND client_id = $2::text
            ORDER BY number LIMIT $3::bigint
            """, cursor, clientID, limit)
    }

    static func selectChanges(ofClient clientID: String, limit: Int) -> Statement {
        Statement(
            """
            SELECT number, \(EventColumns.all.list) FROM audit_events
            WHERE kind = 'client_changed' AND client_id = $1::text ORDER BY number DESC LIMIT $2::bigint
            """, clientID, limit)
    }

    static func selectChangesOfSettings(limit: Int) -> Statement {
        Statement(
            """
            SELECT number, \(EventColumns.all.list) FROM audit_events
            WHERE kind = 'settings_changed' ORDER BY number DESC LIMIT $1::bigint
            """, limit)
    }

    static func select(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) -> Statement {
        Statement(
            """
            SELECT number, \(EventColumns.all.list) FROM audit_events
            WHERE number > $1::bigint AND ($2::uuid IS NULL OR user_id = $2::uuid)
                AND ($3::uuid IS NULL OR session_id = $3::uuid)
            ORDER BY number LIMIT $4::bigint
            """, cursor, userID, sessionID, limit)
    }
}
