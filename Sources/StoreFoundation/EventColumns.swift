public import Sessions

/// An event of the audit trail as a row.
public enum EventColumns {
    /// Those of the first version of the schema. A database that has not been brought up to date may have no others.
    public static let first = Columns(
        "kind", "occurred_at", "actor", "user_id", "session_id", "client_id", "device_id", "reason",
        "remote_address", "request_id")

    /// As `read` reads them, after the event's number.
    public static let all = Columns(first, "revokes", "revoked_at", "revoked_until")

    /// The condition that what `ImportLedger` takes up and belongs to no user fulfils.
    public static let isGeneral = "kind IN (\(list(ImportLedger.generalKinds)))"

    /// The condition that what `ImportLedger` takes up of users fulfils.
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
        let userID = try row.optional { (row) throws(CorruptRow) -> Identifier<User> in try row.identifier() }
        let sessionID = try row.optional { (row) throws(CorruptRow) -> Identifier<Session> in try row.identifier() }
        let clientID = row.optionalText()
        let deviceID = row.optionalText()
        let reason = row.optionalText()
        let origin = Origin(actor: actor, remoteAddress: row.optionalText(), requestID: row.optionalText())
        var event = AuditEvent(
            kind, at: at, by: origin, userID: userID, sessionID: sessionID, clientID: clientID, deviceID: deviceID,
            reason: reason)
        for disguise in disguises where kind == disguise.shown {
            guard let reason, reason.hasPrefix(disguise.mark) else { continue }
            event.kind = disguise.kind
            event.reason = String(reason.dropFirst(disguise.mark.count))
        }
        let revokes = try row.optional { (row) throws(CorruptRow) in try row.word(as: Revocation.Kind.self) }
        let (since, until) = (row.optional { row in row.instant() }, row.optional { row in row.instant() })
        guard let revokes, let since, let until else { return RecordedEvent(id: number, event: event) }
        return RecordedEvent(
            id: number, event: event, revocation: Revocation(revokes, of: event, at: since, until: until))
    }

    /// A kind that a node of the version before does not know, and what it is to that one.
    private struct Disguise: Sendable {
        let kind: AuditEvent.Kind
        let shown: AuditEvent.Kind
        /// The begin of the reason.
        var mark: String { kind.rawValue + " " }
    }

    private static let disguises = [
        Disguise(kind: .emailChanged, shown: .userChanged),
        Disguise(kind: .refreshTokenMisused, shown: .loginFailed),
    ]

    /// An event as it is written. A node of the version before reads the same trail, and stops at a kind that it does not know: to that
    /// one a changed address is a change of the user, for the reason that it was the address.
    public static func written(_ event: AuditEvent) -> AuditEvent {
        guard let disguise = disguises.first(where: { $0.kind == event.kind }) else { return event }
        var event = event
        event.kind = disguise.shown
        event.reason = disguise.mark + (event.reason ?? "")
        return event
    }

    /// Writes all columns of an event and of what it revokes, without their numbers.
    public static func write(_ event: AuditEvent, _ revocation: Revocation?, to row: inout some WrittenRow) {
        writeFirst(event, to: &row)
        row.add(revocation?.kind)
        row.add(revocation?.at)
        row.add(revocation?.until)
    }

    /// Writes the columns of the first version of the schema, for an event that revokes nothing, without its number.
    public static func writeFirst(_ event: AuditEvent, to row: inout some WrittenRow) {
        let event = written(event)
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
