public import Sessions

/// An event of the audit trail as a row.
public enum EventColumns {
    /// The columns in the order of `read`, without the event's number.
    public static let all = Columns(
        "kind", "occurred_at", "actor", "user_id", "session_id", "client_id", "device_id", "device_name",
        "token_id", "token_epoch", "reason", "remote_address", "request_id", "revokes", "revoked_at", "revoked_until")

    /// The SQL condition for events with a reason that has values of the user.
    public static let hasValues = "kind IN (\(list([.emailChanged, .userChanged])))"

    /// The SQL condition for events that `ImportLedger` records and that belong to no user.
    public static let isGeneral = "kind IN (\(list(ImportLedger.generalKinds)))"

    /// The SQL condition for events of users that `ImportLedger` records.
    public static let isOfUser: String = {
        let started = AuditEvent.Kind.sessionStarted.rawValue
        return "kind IN (\(list(ImportLedger.userKinds))) "
            + "AND (kind <> '\(started)' OR reason = '\(ForeignToken.startReason)')"
    }()

    private static func list(_ kinds: [AuditEvent.Kind]) -> String {
        kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Reads the number and the columns of an event.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> RecordedEvent {
        let number = row.integer()
        let kind = try row.word(as: AuditEvent.Kind.self)
        let at = row.instant()
        let actor = row.text()
        let userID: Identifier<User>? = try row.optionalIdentifier()
        let sessionID: Identifier<Session>? = try row.optionalIdentifier()
        let clientID = row.optionalText()
        let (deviceID, deviceName) = (row.optionalText(), row.optionalText())
        let tokenID = row.optionalText()
        let tokenEpoch = row.optional { row in row.integer() }
        let reason = row.optionalText()
        let origin = Origin(actor: actor, remoteAddress: row.optionalText(), requestID: row.optionalText())
        var event = AuditEvent(
            kind, at: at, by: origin, userID: userID, sessionID: sessionID, clientID: clientID, deviceID: deviceID,
            deviceName: deviceName, reason: reason)
        (event.tokenID, event.tokenEpoch) = (tokenID, tokenEpoch)
        let revokes = try row.optionalWord(as: Revocation.Kind.self)
        let (since, until) = (row.optionalInstant(), row.optionalInstant())
        guard let revokes, let since, let until else { return RecordedEvent(id: number, event: event) }
        return RecordedEvent(
            id: number, event: event, revocation: Revocation(revokes, of: event, at: since, until: until))
    }

    /// Writes all columns of an event and of its revocation, without their numbers.
    public static func write(_ event: AuditEvent, _ revocation: Revocation?, to row: inout some WrittenRow) {
        row.add(event.kind)
        row.add(event.at)
        row.add(event.actor)
        row.add(event.userID)
        row.add(event.sessionID)
        row.add(event.clientID)
        row.add(event.deviceID)
        row.add(event.deviceName)
        row.add(event.tokenID)
        row.add(event.tokenEpoch)
        row.add(event.reason)
        row.add(event.remoteAddress)
        row.add(event.requestID)
        row.add(revocation?.kind)
        row.add(revocation?.at)
        row.add(revocation?.until)
    }
}
