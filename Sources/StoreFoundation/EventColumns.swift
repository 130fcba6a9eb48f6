public import Sessions

/// An event of the audit trail as a row.
public enum EventColumns {
    /// As `read` reads them, after the event's number.
    public static let all = Columns(
        "kind", "occurred_at", "actor", "user_id", "session_id", "client_id", "device_id", "reason",
        "remote_address", "request_id")

    /// Reads the number and the columns of an event.
    public static func read(_ row: inout some StoredRow) throws(Contradiction) -> RecordedEvent {
        let number = row.integer()
        let kind = try row.word(as: AuditEvent.Kind.self)
        let at = row.instant()
        let actor = row.text()
        let userID = try row.optional { (row) throws(Contradiction) -> Identifier<User> in try row.identifier() }
        let sessionID = try row.optional { (row) throws(Contradiction) -> Identifier<Session> in try row.identifier() }
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

    /// Writes all columns of an event, without its number.
    public static func write(_ event: AuditEvent, to row: inout some WrittenRow) {
        row.add(event.kind)
        row.add(event.at)
        row.add(event.actor)
        row.add(event.userID)
        row.add(event.sessionID)
        row.add(event.clientID)
        row.add(event.deviceID)
        row.add(event.reason)
        row.add(event.remoteAddress)
        row.add(event.requestID)
    }
}
