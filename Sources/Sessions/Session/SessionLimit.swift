/// A limit of the life of a session, with the place where its value is set, as explanations name it.
public struct SessionLimit: Hashable, Sendable {
    /// The place of a value.
    public enum Source: String, CaseIterable, Sendable {
        /// The session settings, for everyone.
        case settings
        case client
        case user
        /// The configuration file.
        case configuration
    }

    /// The name of the value, which is the same everywhere.
    public let name: String
    /// The value.
    public let duration: Duration
    /// The place.
    public let source: Source
    /// The last change of the value there; nil if there was none, or if the audit trail does not know it.
    public var change: LimitChange?
}

extension RefreshPolicy {
    /// What limits the time without a refresh, and what limits the whole life, by today's values.
    public func limits(of record: SessionRecord) -> (idle: SessionLimit, maximum: SessionLimit) {
        let lifetimes = lifetimes(settings: record.settings, client: record.client, user: record.user)
        let settings = record.settings.sessions
        let idle = SessionLimit(
            name: "offline_session_idle", duration: lifetimes.idle,
            source: record.client?.offlineSessionIdle?.ifPositive == nil ? .settings : .client)
        func limit(_ name: String, _ source: SessionLimit.Source) -> SessionLimit {
            SessionLimit(name: name, duration: lifetimes.maximum, source: source)
        }
        let maximum =
            if record.client?.staysLoggedIn == false {
                limit("access_token_lifetime", .client)
            } else if record.user?.offlineSessionMax?.ifPositive == lifetimes.maximum {
                limit("offline_session_max", .user)
            } else if record.client?.offlineSessionMax?.ifPositive == lifetimes.maximum {
                limit("offline_session_max", .client)
            } else if settings.offlineSessionMaxLimited, settings.offlineSessionMax == lifetimes.maximum {
                limit("offline_session_max", .settings)
            } else {
                limit("absolute_max_lifetime", .configuration)
            }
        return (idle, maximum)
    }
}

extension Administration {
    /// The limits of a session, each with its last change.
    public func limits(of record: SessionRecord) async throws(ServiceError) -> [SessionLimit] {
        let (idle, maximum) = policy.limits(of: record)
        return [try await withChange(idle, record), try await withChange(maximum, record)]
    }

    private func withChange(
        _ limit: SessionLimit, _ record: SessionRecord
    ) async throws(ServiceError) -> SessionLimit {
        let most = LimitChange.eventsMax
        let (kind, events): (AuditEvent.Kind, [RecordedEvent])
        switch limit.source {
        case .configuration: return limit
        case .user:
            kind = .userChanged
            events = try await inStore(await store.events(ofUser: record.session.userID, before: nil, limit: most))
        case .settings:
            kind = .settingsChanged
            events = try await inStore(await store.lifetimeChanges(ofClient: nil, limit: most))
        case .client:
            kind = .clientChanged
            events = try await inStore(await store.lifetimeChanges(ofClient: record.session.clientID, limit: most))
        }
        var limit = limit
        limit.change = LimitChange(of: limit.name, by: kind, in: events)
        return limit
    }
}
