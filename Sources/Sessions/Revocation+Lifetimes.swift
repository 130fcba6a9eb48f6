// Lifetimes that become shorter end sessions at once, but not the tokens that are out, which say when they end. How many
// sessions these are does not matter: resource servers are told to take no token of before.

extension SettingsChange {
    /// Sets `sessions` with `event`, which tells resource servers if sessions end earlier by it.
    public mutating func setLifetimes(_ sessions: SessionSettings, _ policy: RefreshPolicy, _ event: AuditEvent) {
        let old = settings
        settings.sessions = sessions
        // A user's own maximum can only make the difference smaller.
        let endsSooner = clients.contains { client in
            policy.lifetimes(settings: settings, client: client, user: nil)
                .endsBefore(policy.lifetimes(settings: old, client: client, user: nil))
        }
        events.append(event.shortening(endsSooner))
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
        let endsSooner = clients.contains { client in
            policy.lifetimes(settings: settings, client: client, user: user)
                .endsBefore(policy.lifetimes(settings: settings, client: client, user: old))
        }
        events.append(event.shortening(endsSooner))
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
