internal import Sessions
internal import StoreFoundation

/// Every statement about the audit trail. An insert needs `TransactionLock.trail`.
enum EventSQL {
    /// Events, column by column.
    struct Rows {
        private(set) var count = 0
        private var guards = ArrayParameter(of: .uuid)
        private var kinds = ArrayParameter(of: .text)
        private var times = ArrayParameter(of: .bigint)
        private var actors = ArrayParameter(of: .text)
        private var users = ArrayParameter(of: .uuid)
        private var sessions = ArrayParameter(of: .uuid)
        private var clients = ArrayParameter(of: .text)
        private var devices = (ids: ArrayParameter(of: .text), names: ArrayParameter(of: .text))
        private var tokens = (ids: ArrayParameter(of: .text), epochs: ArrayParameter(of: .bigint))
        private var reasons = ArrayParameter(of: .text)
        private var addresses = ArrayParameter(of: .text)
        private var requests = ArrayParameter(of: .text)
        private var revocations = (
            kinds: ArrayParameter(of: .text), times: ArrayParameter(of: .bigint), ends: ArrayParameter(of: .bigint)
        )

        /// - Parameter session: the session that guards the event: the event is written only if the change of that session is.
        mutating func append(
            _ event: AuditEvent, _ revocation: Revocation?, guardedBy session: Identifier<Session>? = nil
        ) {
            count += 1
            guards.append(session)
            kinds.append(event.kind.rawValue)
            times.append(event.at)
            actors.append(event.actor)
            users.append(event.userID)
            sessions.append(event.sessionID)
            clients.append(event.clientID)
            devices.ids.append(event.deviceID)
            devices.names.append(event.deviceName)
            tokens.ids.append(event.tokenID)
            tokens.epochs.append(event.tokenEpoch)
            reasons.append(event.reason)
            addresses.append(event.remoteAddress)
            requests.append(event.requestID)
            revocations.kinds.append(revocation?.kind.rawValue)
            revocations.times.append(revocation?.at)
            revocations.ends.append(revocation?.until)
        }

        var parameters: [Parameter] {
            [
                guards, kinds, times, actors, users, sessions, clients, devices.ids, devices.names, tokens.ids,
                tokens.epochs, reasons, addresses, requests, revocations.kinds, revocations.times, revocations.ends,
            ].map(\.parameter)
        }
    }

    static let selectLast = Statement(Template("SELECT coalesce(max(number), 0) FROM audit_events"))

    private static let types = [
        "uuid", "text", "bigint", "text", "uuid", "uuid", "text", "text", "text", "text", "bigint", "text", "text",
        "text", "text", "bigint", "bigint",
    ]
    /// The number of parameters of `Rows`.
    static var parameterCount: Int { types.count }

    private static func insert(firstParameter: Int, _ condition: String) -> String {
        let arrays = types.enumerated().map { "$\(firstParameter + $0)::\($1)[]" }.joined(separator: ", ")
        return """
            INSERT INTO audit_events (\(EventColumns.all.list))
            SELECT \(EventColumns.all.list(of: "e"))
            FROM unnest(\(arrays)) WITH ORDINALITY AS e (guard, \(EventColumns.all.list), place)
            \(condition) ORDER BY e.place
            """
    }

    /// The statement that inserts the rows with a guard among the ids of `changed`.
    static func insertGuarded(by changed: String, firstParameter: Int) -> String {
        insert(firstParameter: firstParameter, "WHERE e.guard IN (SELECT id FROM \(changed))")
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> RecordedEvent { try EventColumns.read(&row) }

    /// The statements that add `events` to the trail and their revocations to the feed, with the lock. None for no events.
    static func insert(_ events: [RevokingEvent]) -> [Statement] {
        if events.isEmpty { return [] }
        var rows = Rows()
        for entry in events { rows.append(entry.event, entry.revocation) }
        return [TransactionLock.trail.alone, Statement(insertingUnguarded, parameters: rows.parameters)]
            + RevocationSQL.insert(events.compactMap(\.revocation))
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
