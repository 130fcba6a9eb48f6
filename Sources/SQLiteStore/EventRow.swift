internal import Sessions

/// Every statement about the audit trail, and how a row becomes a value.
enum EventRow {
    private static let columns = """
        e.number, e.kind, e.occurred_at, e.actor, e.user_id, e.session_id, e.client_id, e.device_id, e.reason, \
        e.remote_address, e.request_id
        """

    static let insert = Query(
        """
        INSERT INTO audit_events (kind, occurred_at, actor, user_id, session_id, client_id, device_id, reason,
            remote_address, request_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    static let selectAll = Query(
        "SELECT \(columns) FROM audit_events e WHERE e.number > ? ORDER BY e.number LIMIT ?")
    static let selectOfUser = Query(
        "SELECT \(columns) FROM audit_events e WHERE e.number > ? AND e.user_id = ? ORDER BY e.number LIMIT ?")
    static let selectOfSession = Query(
        "SELECT \(columns) FROM audit_events e WHERE e.number > ? AND e.session_id = ? ORDER BY e.number LIMIT ?")
    static let selectOfBoth = Query(
        """
        SELECT \(columns) FROM audit_events e WHERE e.number > ? AND e.session_id = ? AND e.user_id = ?
        ORDER BY e.number LIMIT ?
        """)

    static let insertAt = Query(
        """
        INSERT INTO audit_events (number, kind, occurred_at, actor, user_id, session_id, client_id, device_id, reason,
            remote_address, request_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    /// Looks at so many rows and no more, whatever it finds: the trail has no index of time.
    static let deleteOld = Query(
        """
        DELETE FROM audit_events
        WHERE number IN (SELECT number FROM audit_events ORDER BY number LIMIT ?) AND occurred_at < ?
        """)

    /// Adds `events` to the trail.
    static func insert(_ events: [AuditEvent], _ connection: Connection) throws(DatabaseError) {
        for event in events {
            try connection.execute(
                insert, event.kind.rawValue, event.at, event.actor, event.userID, event.sessionID, event.clientID,
                event.deviceID, event.reason, event.remoteAddress, event.requestID)
        }
    }

    /// Adds an event at a place of its own, from which the trail goes on.
    static func insert(_ event: AuditEvent, at place: Int64, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(
            insertAt, place, event.kind.rawValue, event.at, event.actor, event.userID, event.sessionID,
            event.clientID, event.deviceID, event.reason, event.remoteAddress, event.requestID)
    }

    /// Reads the columns of an event.
    static func read(_ row: inout Row) throws(DatabaseError) -> RecordedEvent {
        let number = row.integer()
        let kind = try row.word(as: AuditEvent.Kind.self)
        let at = row.instant()
        let actor = row.text()
        let userID = try row.optional { (row) throws(DatabaseError) in try row.identifier(nil as Identifier<User>?) }
        let sessionID = try row.optional { (row) throws(DatabaseError) in
            try row.identifier(nil as Identifier<Session>?)
        }
        let clientID = row.optionalText()
        let deviceID = row.optionalText()
        let reason = row.optionalText()
        let origin = Origin(actor: actor, remoteAddress: row.optionalText(), requestID: row.optionalText())
        return RecordedEvent(
            id: number,
            event: AuditEvent(
                kind, at: at, by: origin, userID: userID, sessionID: sessionID, clientID: clientID, deviceID: deviceID,
                reason: reason))
    }
}
