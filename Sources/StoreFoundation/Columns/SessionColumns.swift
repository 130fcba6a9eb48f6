public import Sessions

/// A session as a row. A new member of `Session` gets a column in one of the groups, a line where the group is read and one
/// where it is written; every statement follows from these.
public enum SessionColumns {
    /// The columns that never change.
    public static let origin = Columns(
        "id", "user_id", "client_id", "device_id", "scope", "resources", "key_thumbprint", "device_key", "epoch",
        "started_at")

    /// The columns that a refresh writes.
    public static let rotation = Columns(
        "parent", "child", "child_answered_at", "renewed_at", "child_request_key", "child_confirmed_at")

    /// The columns that any other change writes, except those of a provider's confirmation.
    public static let standing = Columns(
        "device_name", "device_platform", "device_app_version", "authentication_mode", "authentication_methods",
        "presence_key", "presence_proven_at", "password_proven_at", "identity_proven_at", "attestation",
        "encryption_key", "parent_session_id", "probation_until", "ended_at", "ended_reason")

    /// The columns of a provider's confirmation. An import leaves them as they are.
    public static let confirmation = Columns("confirmed_by", "confirmed_at")

    /// The time at which clean-up looks at a session next. Only clean-up reads it.
    private static let look = Columns("look_at")

    /// The time of a look that changes no earlier one.
    public static let noLook = Instant(secondsSinceEpoch: .max)

    /// All columns but that of the look, in the order of `read` and `write`.
    public static let all = origin + rotation + standing + confirmation

    /// The columns of a new row.
    public static let inserted = all + look

    /// The columns that can change, in the order of `writeChanging`.
    public static let changing = rotation + standing + confirmation

    /// The columns of an existing session that an import may change, after the key.
    public static let imported = Columns("id") + rotation + standing

    /// Reads the columns of a session. Its id must be `known`, if that is given.
    public static func read(
        _ row: inout some StoredRow, known: Identifier<Session>? = nil
    ) throws(CorruptRow) -> Session {
        let id = try row.identifier(known)
        let userID: Identifier<User> = try row.identifier()
        let (clientID, deviceID) = (row.text(), row.text())
        let (scope, resources) = (try row.scope(), row.list())
        let (keyThumbprint, deviceKey) = (row.optionalText(), row.optionalText())
        let (epoch, startedAt) = (row.integer(), row.instant())

        let (parent, child) = (row.unsigned(), row.unsigned())
        let (childAnsweredAt, renewedAt) = (row.instant(), row.instant())
        let childRequestKey = row.optional { row in row.unsigned() }
        let childConfirmedAt = row.optionalInstant()

        let device = Device(
            id: deviceID, name: row.optionalText(), platform: row.optionalText(), appVersion: row.optionalText())
        let authenticationMode = try row.word(as: AuthenticationMode.self)
        let authenticationMethods = row.list()
        var presence = UserPresence(
            key: row.optionalText(), provenAt: row.optionalInstant(), passwordAt: row.optionalInstant())
        presence.identityAt = row.optionalInstant()
        let (attestation, encryptionKey) = (row.optionalText(), row.optionalText())
        let phoneID: Identifier<Session>? = try row.optionalIdentifier()
        let probationUntil = row.optionalInstant()
        let (endedAt, reason) = (row.optionalInstant(), try row.optionalWord(as: EndReason.self))
        guard (endedAt == nil) == (reason == nil) else { throw CorruptRow("session \(id) has half an ending") }

        let (confirmedBy, confirmedAt) = (row.optionalText(), row.optionalInstant())
        return Session(
            id: id, userID: userID, clientID: clientID, device: device, authenticationMode: authenticationMode,
            scope: scope, resources: resources, authenticationMethods: authenticationMethods,
            keyThumbprint: keyThumbprint, deviceKey: deviceKey, startedAt: startedAt, epoch: epoch, parent: parent,
            child: child, childAnsweredAt: childAnsweredAt, renewedAt: renewedAt, childRequestKey: childRequestKey,
            childConfirmedAt: childConfirmedAt,
            ending: reason.flatMap { reason in endedAt.map { Session.Ending(reason: reason, at: $0) } },
            presence: presence,
            confirmation: confirmedBy.flatMap { by in confirmedAt.map { ProviderConfirmation(provider: by, at: $0) } },
            phoneID: phoneID, probationUntil: probationUntil, attestation: attestation, encryptionKey: encryptionKey)
    }

    /// Writes all columns of a session.
    public static func write(_ session: Session, to row: inout some WrittenRow) {
        row.add(session.id)
        row.add(session.userID)
        row.add(session.clientID)
        row.add(session.device.id)
        row.add(session.scope)
        row.add(list: session.resources)
        row.add(session.keyThumbprint)
        row.add(session.deviceKey)
        row.add(session.epoch)
        row.add(session.startedAt)
        writeChanging(session, to: &row)
    }

    /// Writes the columns that a refresh writes.
    public static func writeRotation(_ session: Session, to row: inout some WrittenRow) {
        row.add(session.parent)
        row.add(session.child)
        row.add(session.childAnsweredAt)
        row.add(session.renewedAt)
        row.add(session.childRequestKey)
        row.add(session.childConfirmedAt)
    }

    /// Writes the columns that can change.
    public static func writeChanging(_ session: Session, to row: inout some WrittenRow) {
        writeRotation(session, to: &row)
        row.add(session.device.name)
        row.add(session.device.platform)
        row.add(session.device.appVersion)
        row.add(session.authenticationMode)
        row.add(list: session.authenticationMethods)
        row.add(session.presence.key)
        row.add(session.presence.provenAt)
        row.add(session.presence.passwordAt)
        row.add(session.presence.identityAt)
        row.add(session.attestation)
        row.add(session.encryptionKey)
        row.add(session.phoneID)
        row.add(session.probationUntil)
        row.add(session.ending?.at)
        row.add(session.ending?.reason)
        row.add(session.confirmation?.provider)
        row.add(session.confirmation?.at)
    }
}
