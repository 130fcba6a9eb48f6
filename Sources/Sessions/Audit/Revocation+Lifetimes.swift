// Lifetimes that become shorter end sessions at once, but not the tokens that are out, which say when they end. How many
// sessions these are does not matter: resource servers are told to take no token of before.

extension SettingsChange {
    /// Sets `sessions` with `event`, which tells resource servers if sessions end earlier by it.
    public mutating func setLifetimes(_ sessions: SessionSettings, _ policy: RefreshPolicy, _ event: AuditEvent) {
        var settings = settings
        settings.sessions = sessions
        replaceSettings(by: settings, policy, event)
    }

    /// Takes note at `now` that a server begins to serve with `policy`, and tells resource servers if sessions end earlier by it than
    /// by that of the server that began before it. Of servers that begin together with the same, the first one tells.
    public mutating func serve(_ policy: RefreshPolicy, at now: Instant) {
        let (old, new) = (settings.servedMaximum, policy.absoluteMaximum)
        if old == new { return }
        var settings = settings
        settings.servedMaximum = new
        guard old != nil else { return self.settings = settings }
        let event = AuditEvent(
            .settingsChanged, at: now, by: .system, reason: "absolute_max_lifetime=\(new.wholeSeconds)")
        // What it was and what it becomes both stand in the settings.
        replaceSettings(by: settings, .ofSettingsAlone, event)
    }

    private mutating func replaceSettings(by settings: Settings, _ policy: RefreshPolicy, _ event: AuditEvent) {
        let old = self.settings
        self.settings = settings
        // A user's own maximum can only make the difference smaller.
        events.append(
            event.shortening(
                policy.endsSooner(in: clients, with: (settings, nil), than: (old, nil))))
    }
}

extension ClientChange {
    /// Puts `client` in the place of `old` with `event`, which tells resource servers if sessions end earlier by it.
    public mutating func replace(
        _ old: Client, by client: Client, _ policy: RefreshPolicy, _ event: AuditEvent
    ) {
        self.client = client
        let endsSooner = policy.lifetimes(settings: settings, client: client, user: nil)
            .endsBefore(policy.lifetimes(settings: settings, client: old, user: nil))
        events.append(event.shortening(endsSooner))
    }
}

extension UserChange {
    /// Puts `user` in the place of what it was with `event`, which tells resource servers if sessions end earlier by it.
    mutating func replaceUser(by user: User, _ policy: RefreshPolicy, _ event: AuditEvent) {
        let old = self.user
        self.user = user
        events.append(
            event.shortening(policy.endsSooner(in: clients, with: (settings, user), than: (settings, old))))
    }
}

extension RefreshPolicy {
    /// Whether there is a client among `clients` whose sessions end sooner with those settings and that user than with the others.
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
    /// The event, with what it revokes if it `endsSooner` what sessions there are.
    fileprivate func shortening(_ endsSooner: Bool) -> AuditEvent {
        var event = self
        if endsSooner { event.revokes = .lifetimesShortened }
        return event
    }
}
