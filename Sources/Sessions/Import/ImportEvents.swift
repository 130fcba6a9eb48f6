// What an import changes of what lived here is told as the same thing is that an admin does: in the trail, in the feed, by webhooks. What
// is only added has no event: what became of it elsewhere, the trail of the other database has.

extension Origin {
    /// Whoever imports.
    public static let importing = Origin(actor: "admin:local")
}

extension SessionImport {
    /// What the trail gets at `now` when the store does `Decision.write(written, ended:)`: which sessions lived, here or where they come
    /// from, and have ended by it. When each ended stands in the session. Pure.
    public func events(_ written: Session, ended: Session?, at now: Instant) -> [AuditEvent] {
        let lived = session.ending == nil || stored != nil
        return [ended, lived ? written : nil].compactMap { session in
            guard let session, let ending = session.ending else { return nil }
            return .ended(session, ending.reason, at: now, by: .importing)
        }
    }
}

extension UserChange {
    /// Puts the user who comes from another store in the place of the one who is here, with what the trail gets at `now`.
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
        tellEmailChange(from: profile, at: now, by: .importing)
    }
}
