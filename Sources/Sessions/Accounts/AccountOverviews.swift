/// What the account page of the devices shows, read at one moment.
public struct DevicesOverview: Sendable {
    /// The active sessions, as `AccountService.livingSessions(of:)` lists them.
    public let sessions: [SessionRecord]
    /// The last known address of each session; none if nothing knows places.
    public let addresses: [Identifier<Session>: String]
}

/// What the account page of the activity shows, read at one moment.
public struct ActivityOverview: Sendable {
    /// The events that are lines of the page, the newest first.
    public let events: [AuditEvent]
    /// Those of their sessions that are still known, by id.
    public let sessions: [Identifier<Session>: Session]
    /// Every client by its id.
    public let clients: [String: Client]
    /// The cursor of the next page; nil on the last one.
    public let next: Int64?
}

/// What the account page of the security shows beside the user, read at one moment.
public struct SecurityOverview: Sendable {
    /// The passkeys, in the order of their ids.
    public let passkeys: [Passkey]
    /// What few users have; nil: nothing.
    public let details: UserDetails?
}

extension AccountService {
    /// The overview of what guards an account.
    public func security(of userID: Identifier<User>) async throws(ServiceError) -> SecurityOverview {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let (passkeys, details) = (reader.passkeys(of: userID), reader.userDetails(userID))
                return SecurityOverview(passkeys: try passkeys.value(), details: try details.value())
            })
    }

    /// The overview of the devices of a user.
    ///
    /// - Parameter lookMax: the events that are looked at for the addresses of sessions; 0: none is needed.
    public func devices(of userID: Identifier<User>, lookMax: Int) async throws(ServiceError) -> DevicesOverview {
        let (now, policy) = (context.clock.now, context.policy)
        return try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let (catalogue, user) = (reader.catalogue(), reader.user(.id(userID)))
                let sessions = reader.latestSessions(
                    of: userID, limit: Self.listedSessionsMax, lookMax: Self.listLookMax)
                let events = lookMax > 0 ? reader.events(ofUser: userID, before: .max, limit: lookMax) : nil
                let (known, owner) = (try catalogue.value(), try user.value())
                let records = try sessions.value().map { known.record(of: $0, owner) }
                return DevicesOverview(
                    sessions: records.filter { policy.isListed($0, at: now) },
                    addresses: try events?.value().addresses ?? [:])
            })
    }

    /// The last known address of each session of a user, in the newest `lookMax` events.
    public func addresses(
        of userID: Identifier<User>, lookMax: Int
    ) async throws(ServiceError) -> [Identifier<Session>: String] {
        try await inStore(await store.events(ofUser: userID, before: nil, limit: lookMax)).addresses
    }

    /// The overview of what has happened to an account: up to `limit` of the events before number `cursor` that are shown. Many
    /// events are no line, so that a page reads up to `steps` times as many.
    public func activity(
        of userID: Identifier<User>, before cursor: Int64?, limit: Int, steps: Int,
        where isShown: @escaping @Sendable (AuditEvent) -> Bool
    ) async throws(ServiceError) -> ActivityOverview {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let catalogue = reader.catalogue()
                let (events, next) = try reader.events(
                    ofUser: userID, before: cursor ?? .max, limit: limit, steps: steps, where: isShown)
                let ids = Set(events.compactMap(\.sessionID))
                let sessions = ids.isEmpty ? [] : try reader.sessions(Array(ids)).value().filter { $0.userID == userID }
                return ActivityOverview(
                    events: events, sessions: Dictionary(sessions.map { ($0.id, $0) }) { first, _ in first },
                    clients: try catalogue.value().clients, next: next)
            })
    }
}

extension StoreReader {
    /// Up to `limit` events of a user before number `cursor` that are shown, and the cursor of the next ones; nil: there is none.
    fileprivate func events(
        ofUser userID: Identifier<User>, before cursor: Int64, limit: Int, steps: Int,
        where isShown: (AuditEvent) -> Bool
    ) throws(TransactionError) -> (shown: [AuditEvent], next: Int64?) {
        var (shown, cursor) = ([AuditEvent](), cursor)
        for _ in 0..<steps {
            let events = try events(ofUser: userID, before: cursor, limit: limit).value()
            for recorded in events {
                if isShown(recorded.event) { shown.append(recorded.event) }
                cursor = recorded.id
                if shown.count == limit { return (shown, cursor) }
            }
            if events.count < limit { return (shown, nil) }
        }
        return (shown, cursor)
    }
}

extension RefreshPolicy {
    /// Whether a user's list of active sessions has a session. A browser that was not used for half an hour is none of them,
    /// unless its user stays logged in.
    func isListed(_ record: SessionRecord, at now: Instant) -> Bool {
        ending(of: record, at: now) == nil && record.session.browserEnd(record.settings).map { now < $0 } ?? true
    }
}
