public import Sessions

/// A session as a row.
public enum SessionColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "user_id", "client_id", "device_id", "device_name", "device_platform", "device_app_version",
        "authentication_mode", "scope", "authentication_methods", "key_thumbprint", "epoch", "started_at", "parent",
        "child", "child_answered_at", "child_request_key", "ended_at", "ended_reason", "device_key",
        "presence_key", "presence_proven_at", "password_proven_at", "resources", "confirmed_by", "confirmed_at",
        "child_confirmed_at", "renewed_at", "identity_proven_at", "attestation", "parent_session_id", "probation_until",
        "encryption_key")

    /// The columns of an existing session that an import may change.
    public static let changing = Columns(
        "id", "device_name", "device_platform", "device_app_version", "authentication_mode", "authentication_methods",
        "parent", "child", "child_answered_at", "renewed_at", "child_request_key", "child_confirmed_at", "ended_at",
        "ended_reason",
        "presence_key", "presence_proven_at", "password_proven_at", "identity_proven_at", "attestation",
        "parent_session_id", "probation_until", "encryption_key")

    /// Reads the columns of a session. Its id must be `known`, if that is given.
    public static func read(
        _ row: inout some StoredRow, known: Identifier<Session>? = nil
    ) throws(CorruptRow) -> Session {
        let id = try row.identifier(known)
        let userID: Identifier<User> = try row.identifier()
        let clientID = row.text()
        let device = row.device()
        let authenticationMode = try row.word(as: AuthenticationMode.self)
        let scope = try row.scope()
        let authenticationMethods = row.list()
        let keyThumbprint = row.optionalText()
        let epoch = row.integer()
        let startedAt = row.instant()
        let parent = row.unsigned()
        let child = row.unsigned()
        let childAnsweredAt = row.instant()
        let childRequestKey = row.optional { row in row.unsigned() }
        let endedAt = row.optional { row in row.instant() }
        let reason = try row.optional { (row) throws(CorruptRow) in try row.word(as: EndReason.self) }
        let deviceKey = row.optionalText()
        var presence = UserPresence(
            key: row.optionalText(), provenAt: row.optional { row in row.instant() },
            passwordAt: row.optional { row in row.instant() })
        let resources = row.list()
        let confirmedBy = row.optionalText()
        let confirmedAt = row.optional { row in row.instant() }
        let confirmation = confirmedBy.flatMap { by in confirmedAt.map { ProviderConfirmation(provider: by, at: $0) } }
        let childConfirmedAt = row.optional { row in row.instant() }
        let renewedAt = row.instant()
        presence.identityAt = row.optional { row in row.instant() }
        let attestation = row.optionalText()
        let phoneID = try row.optional { (row) throws(CorruptRow) -> Identifier<Session> in try row.identifier() }
        let probationUntil = row.optional { row in row.instant() }
        let encryptionKey = row.optionalText()
        guard (endedAt == nil) == (reason == nil) else { throw CorruptRow("session \(id) has half an ending") }
        var ending: Session.Ending?
        if let endedAt, let reason { ending = Session.Ending(reason: reason, at: endedAt) }
        var session = Session(
            id: id, userID: userID, clientID: clientID, device: device, authenticationMode: authenticationMode,
            scope: scope, resources: resources, authenticationMethods: authenticationMethods,
            keyThumbprint: keyThumbprint, deviceKey: deviceKey, startedAt: startedAt, epoch: epoch, parent: parent,
            child: child, childAnsweredAt: childAnsweredAt, renewedAt: renewedAt, childRequestKey: childRequestKey,
            childConfirmedAt: childConfirmedAt, ending: ending, presence: presence, confirmation: confirmation)
        session.attestation = attestation
        session.phoneID = phoneID
        session.probationUntil = probationUntil
        session.encryptionKey = encryptionKey
        return session
    }

    /// Writes all columns of a session.
    public static func write(_ session: Session, to row: inout some WrittenRow) {
        row.add(session.id)
        row.add(session.userID)
        row.add(session.clientID)
        row.add(session.device)
        row.add(session.authenticationMode)
        row.add(session.scope)
        row.add(list: session.authenticationMethods)
        row.add(session.keyThumbprint)
        row.add(session.epoch)
        row.add(session.startedAt)
        row.add(session.parent)
        row.add(session.child)
        row.add(session.childAnsweredAt)
        row.add(session.childRequestKey)
        row.add(session.ending?.at)
        row.add(session.ending?.reason)
        row.add(session.deviceKey)
        row.add(session.presence.key)
        row.add(session.presence.provenAt)
        row.add(session.presence.passwordAt)
        row.add(list: session.resources)
        row.add(session.confirmation?.provider)
        row.add(session.confirmation?.at)
        row.add(session.childConfirmedAt)
        row.add(session.renewedAt)
        row.add(session.presence.identityAt)
        row.add(session.attestation)
        row.add(session.phoneID)
        row.add(session.probationUntil)
        row.add(session.encryptionKey)
    }
}
