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
}

/// A signing key as a row.
public enum SigningKeyColumns {
    /// In the order in which `read` reads them.
    public static let all = Columns(
        "id", "algorithm", "sealed_private_key", "created_at", "active_at", "retired_at")

    /// Reads the columns of a signing key.
    public static func read(_ row: inout some StoredRow) -> StoredSigningKey {
        StoredSigningKey(
            id: row.text(), algorithm: row.text(), sealedPrivateKey: row.bytes(), createdAt: row.instant(),
            activeFrom: row.instant(), retiredAt: row.optional { row in row.instant() })
    }
}

/// An admin key as a row.
public enum AdminKeyColumns {
    /// In the order in which `read` reads them.
    public static let all = Columns("id", "name", "hash", "created_at")

    /// Reads the columns of an admin key.
    public static func read(_ row: inout some StoredRow) -> AdminKey {
        AdminKey(id: row.text(), name: row.text(), hash: row.bytes(), createdAt: row.instant())
    }
}
