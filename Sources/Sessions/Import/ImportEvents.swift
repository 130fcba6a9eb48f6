// Events of an import. A change of existing data is recorded like the same change by an admin: in the trail, in the feed, by
// webhooks. An addition has no event, because the trail of the other database has its history.

extension Origin {
    /// The origin of the events of an import.
    public static let importing = Origin(actor: "admin:local")
}

extension SessionImport {
    /// The events at `now` of the store's `Decision.write(written, ended:)`: one for each session that was active, here or in
    /// the other store, and has ended by it. The session contains the time of its end. Pure.
    public func events(_ written: Session, ended: Session?, at now: Instant) -> [AuditEvent] {
        let lived = session.ending == nil || stored != nil
        return [ended, lived ? written : nil].compactMap { session in
            guard let session, let ending = session.ending else { return nil }
            return .ended(session, ending.reason, at: now, by: .importing)
        }
    }
}

extension UserChange {
    /// Replaces the user with the one from another store, and appends the events at `now`.
    public mutating func take(_ imported: User, at now: Instant) {
        if (imported.disabledByAdmin, imported.disabledByUser) != (user.disabledByAdmin, user.disabledByUser) {
            switchLogins(
                imported.loginRefusal == nil ? .loginsEnabled : .loginsDisabled, at: now, by: .importing,
                reason: imported.disabledByAdmin?.note
            ) { user in
                (user.disabledByAdmin, user.disabledByUser) = (imported.disabledByAdmin, imported.disabledByUser)
            }
        }
        if imported == user { return }
        let profile = user.profile
        replaceUser(
            by: imported, .ofSettingsAlone,
            AuditEvent(.userChanged, at: now, by: .importing, userID: user.id, reason: "import"))
        recordEmailChange(from: profile, at: now, by: .importing)
    }
}
