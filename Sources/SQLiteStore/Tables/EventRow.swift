internal import Sessions
internal import StoreFoundation

/// Every statement about the audit trail.
enum EventRow {
    private static let select =
        "SELECT e.number, \(EventColumns.all.list(of: "e")) FROM audit_events e WHERE e.number > ?"

    static let selectAll = Query("\(select) ORDER BY e.number LIMIT ?")
    static let selectOfUser = Query("\(select) AND e.user_id = ? ORDER BY e.number LIMIT ?")
    static let selectOfSession = Query("\(select) AND e.session_id = ? ORDER BY e.number LIMIT ?")
    static let selectOfBoth = Query("\(select) AND e.session_id = ? AND e.user_id = ? ORDER BY e.number LIMIT ?")

    static let selectLatestOfUser = Query(
        """
        SELECT e.number, \(EventColumns.all.list(of: "e")) FROM audit_events e WHERE e.user_id = ? AND e.number < ?
        ORDER BY e.number DESC LIMIT ?
        """)
    static let selectLast = Query("SELECT coalesce(max(number), 0) FROM audit_events")
    static let selectLatest = Query(
        """
        SELECT e.number, \(EventColumns.all.list(of: "e")) FROM audit_events e WHERE e.number < ?
        ORDER BY e.number DESC LIMIT ?
        """)
    static let selectEnds = Query(
        "\(select) AND e.kind = 'session_ended' AND e.client_id = ? ORDER BY e.number LIMIT ?")

    static let selectChangesOfClient = Query(
        """
        SELECT e.number, \(EventColumns.all.list(of: "e")) FROM audit_events e
        WHERE e.kind = 'client_changed' AND e.client_id = ? ORDER BY e.number DESC LIMIT ?
        """)
    static let selectChangesOfSettings = Query(
        """
        SELECT e.number, \(EventColumns.all.list(of: "e")) FROM audit_events e
        WHERE e.kind = 'settings_changed' ORDER BY e.number DESC LIMIT ?
        """)

    /// The end of a step along the trail; null if there are no more events.
    static let selectStepEnd = Query(
        "SELECT max(number) FROM (SELECT number FROM audit_events WHERE number > ? ORDER BY number LIMIT ?)")
    static let selectStep = Query("\(select) AND e.number <= ? AND \(EventColumns.isGeneral) ORDER BY e.number")
    static let selectRememberedOfUser = Query(
        "\(select) AND e.user_id = ? AND \(EventColumns.isOfUser) ORDER BY e.number")
    static let selectNews = Query(
        "\(select) AND (\(EventColumns.isGeneral) OR \(EventColumns.isOfUser)) ORDER BY e.number")

    private static let insert = Query(inserting: nil, EventColumns.all, into: "audit_events")
    /// Names only columns of the first migration, because a closed database may lack the others.
    private static let insertInAnyVersion = Query(
        """
        INSERT INTO audit_events (number, kind, occurred_at, actor, reason, remote_address, request_id)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """)

    /// Erases the addresses and the other values that a user had, and the names of the devices.
    static let forgetValues = Query(
        """
        UPDATE audit_events SET device_name = NULL, reason = CASE WHEN \(EventColumns.hasValues) THEN NULL ELSE reason END
        WHERE user_id = ? AND (\(EventColumns.hasValues) OR device_name IS NOT NULL)
        """)

    /// Reads exactly that many of the oldest rows, because the trail has no index of time.
    static let deleteOld = Query(
        """
        DELETE FROM audit_events
        WHERE number IN (SELECT number FROM audit_events ORDER BY number LIMIT ?) AND occurred_at < ?
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> RecordedEvent { try EventColumns.read(&row) }

    /// Adds `events` to the trail, and their revocations to the feed. Nearly always there are none.
    static func insert(_ events: [AuditEvent], in transaction: inout Transaction) throws(DatabaseError) {
        for event in events {
            if let transition = event.transition { transaction.transitions.append(transition) }
            let revocation =
                event.revokes == nil
                ? nil : transaction.catalogue.revocation(of: event, at: transaction.clock.now)
            try insert(event, revocation, transaction.connection)
        }
    }

    /// Adds an event to the trail, and its revocation to the feed.
    static func insert(
        _ event: AuditEvent, _ revocation: Revocation?, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.execute(insert) { row in EventColumns.write(event, revocation, to: &row) }
        if let revocation { try RevocationRow.insert(revocation, connection) }
    }

    /// Adds an event that revokes nothing to the trail of a closed database with any version of the schema. `place` is its
    /// number, after which the trail continues; nil takes the next number.
    static func insertInAnyVersion(
        _ event: AuditEvent, at place: Int64?, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.execute(
            insertInAnyVersion, place, event.kind.rawValue, event.at, event.actor, event.reason, event.remoteAddress,
            event.requestID)
    }
}
