// Shorter lifetimes end sessions at once, but not the issued access tokens, which carry the old expiry. Resource servers
// therefore get one revocation for all tokens of before, however many sessions are affected.

extension SettingsChange {
    /// Sets `sessions` with `event`, which also revokes earlier tokens if sessions now end earlier.
    public mutating func setLifetimes(_ sessions: SessionSettings, _ policy: RefreshPolicy, _ event: AuditEvent) {
        var settings = settings
        settings.sessions = sessions
        replaceSettings(by: settings, policy, event)
    }

    /// Records at `now` that a server starts with `policy`. The event revokes earlier tokens if sessions end earlier than under
    /// the policy of the server that started before. Of several servers with equal policies, the first one records the event.
    public mutating func serve(_ policy: RefreshPolicy, at now: Instant) {
        let (old, new) = (settings.servedMaximum, policy.absoluteMaximum)
        if old == new { return }
        var settings = settings
        settings.servedMaximum = new
        guard old != nil else { return self.settings = settings }
        let event = AuditEvent(
            .settingsChanged, at: now, by: .system, reason: "absolute_max_lifetime=\(new.wholeSeconds)")
        // `ofSettingsAlone` suffices, because the settings hold the old and the new maximum.
        replaceSettings(by: settings, .ofSettingsAlone, event)
    }

    private mutating func replaceSettings(by settings: Settings, _ policy: RefreshPolicy, _ event: AuditEvent) {
        let old = self.settings
        self.settings = settings
        // The comparison ignores users, because a user's own maximum can only make the difference smaller.
        events.append(
            event.shortening(
                policy.endsSooner(in: clients, with: (settings, nil), than: (old, nil))))
    }
}

extension ClientChange {
    /// Replaces `old` by `client` with `event`, which also revokes earlier tokens if sessions now end earlier. If a secret or a
    /// key of the client ends, its own tokens do, too.
    public mutating func replace(
        _ old: Client, by client: Client, _ policy: RefreshPolicy, _ event: AuditEvent
    ) {
        let (client, tokensEnd) = old.becoming(client, settings, event)
        self.client = client
        let endsSooner = policy.lifetimes(settings: settings, client: client, user: nil)
            .endsBefore(policy.lifetimes(settings: settings, client: old, user: nil))
        events.append(event.shortening(endsSooner))
        if let tokensEnd { events.append(tokensEnd) }
    }
}

extension UserChange {
    /// Replaces the user with `event`, which also revokes earlier tokens if sessions now end earlier.
    mutating func replaceUser(by user: User, _ policy: RefreshPolicy, _ event: AuditEvent) {
        let old = self.user
        self.user = user
        events.append(
            event.shortening(policy.endsSooner(in: clients, with: (settings, user), than: (settings, old))))
    }
}

extension RefreshPolicy {
    /// Returns true if the sessions of one of `clients` end sooner under `new` than under `old`.
    fileprivate func endsSooner(
        in clients: [Client], with new: (settings: Settings, user: User?), than old: (settings: Settings, user: User?)
    ) -> Bool {
        clients.contains { client in
            lifetimes(settings: new.settings, client: client, user: new.user)
                .endsBefore(lifetimes(settings: old.settings, client: client, user: old.user))
        }
    }
}

extension AuditEvent {
    /// The event, which revokes earlier tokens if `endsSooner`.
    fileprivate func shortening(_ endsSooner: Bool) -> AuditEvent {
        var event = self
        if endsSooner { event.revokes = .lifetimesShortened }
        return event
    }
}
