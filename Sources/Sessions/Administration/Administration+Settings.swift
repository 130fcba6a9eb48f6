extension Administration {
    /// The session settings.
    public func settings() async throws(ServiceError) -> Settings {
        try await inStore(await store.settings())
    }

    /// Changes the session settings by `edit`, with effect on all active sessions at once. Throws `invalid` with a sentence if
    /// the values contradict each other.
    public func changeSettings(
        by origin: Origin, _ edit: @escaping @Sendable (inout SessionSettings) -> Void
    ) async throws(ServiceError) -> Settings {
        let (now, policy) = (context.clock.now, context.policy)
        let result = try await inStore(
            await store.updateSettings { change -> Result<Settings, ServiceError> in
                var sessions = change.settings.sessions
                edit(&sessions)
                let problem = Lifetimes.problem(
                    settings: sessions, clients: change.clients,
                    absoluteMaximum: policy.absoluteMaximum(beside: change.settings))
                if let problem { return .failure(.invalid(member: "settings", detail: problem)) }
                if let difference = ValueDifference(from: change.settings.sessions, to: sessions) {
                    change.setLifetimes(
                        sessions, policy, AuditEvent(.settingsChanged, at: now, by: origin, reason: difference.reason))
                }
                return .success(change.settings)
            })
        return try result.get()
    }

    /// Records that a server starts to serve with the policy of the context. If its absolute maximum is shorter than the one
    /// before, it applies to all nodes from then on, and the revocation feed has one entry for it.
    public func beginServing() async throws(ServiceError) {
        let (now, policy) = (context.clock.now, context.policy)
        if try await inStore(await store.settings()).servedMaximum == policy.absoluteMaximum { return }
        try await inStore(await store.updateSettings { $0.serve(policy, at: now) })
    }

    /// Ends all sessions of all users, and all tokens that clients got for themselves, in one write, for emergencies.
    public func revokeAllSessions(by origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        try await inStore(
            await store.updateSettings { change in change.revokeAll(at: now, by: origin) })
    }

    /// The audit trail after the event `cursor`, oldest first.
    public func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>? = nil, sessionID: Identifier<Session>? = nil
    ) async throws(ServiceError) -> [RecordedEvent] {
        try await inStore(await store.events(after: cursor, limit: limit, userID: userID, sessionID: sessionID))
    }
}

extension SettingsChange {
    /// Ends all sessions of all users, and all tokens that clients got for themselves.
    mutating func revokeAll(at now: Instant, by origin: Origin) {
        settings.epoch += 1
        settings.revokedBefore = Settings.RevokedBefore(epoch: settings.epoch, at: now)
        var event = AuditEvent(.allSessionsRevoked, at: now, by: origin)
        event.revokes = .allSessionsEnded
        events.append(event)
        if clients.contains(where: \.getsOwnTokens) {
            events.append(.tokensEnded(of: nil, before: settings.epoch, .allRevoked, event))
        }
    }
}
