internal import Locks

// Sessions: changing one, and the lists of a user's sessions. A user may have very many sessions, so a list that reads all of
// them is a long read.

extension Store {
    /// Reads the session, lets `change` edit it, and writes the differences. Nil if there is no such session.
    public func updateSession<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let outcome = Locked<Outcome?>(nil)
        let isFound = try await changeSession(
            id,
            { edit in
                let made = change(&edit)
                outcome.withLock { $0 = made }
            }, preparing: {})
        return isFound ? outcome.withLock { $0 } : nil
    }

    /// The sessions of a user, tombstones included, newest first, after `cursor` (a `Page.nextCursor`). Each page reads all of
    /// them, so the call is not for requests of users or unauthenticated clients. An invalid cursor gives an empty page.
    public func sessions(
        of userID: Identifier<User>, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<SessionRecord> {
        let place = cursor.flatMap { SessionCursor($0) }
        guard limit > 0, (place == nil) == (cursor == nil) else { return Page(items: [], nextCursor: nil) }
        let found = try await records(.long, of: userID) { reader in
            reader.sessions(of: userID, after: place, limit: Page<Session>.rows(for: limit))
        }
        return Page(found, limit: limit) { SessionCursor(after: $0.session).description }
    }

    /// The sessions of a user on one device that have no recorded end, at most one of each client. Reads no other session,
    /// however many the user has.
    public func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(StoreError) -> [SessionRecord] {
        try await records(.short, of: userID) { reader in reader.sessions(of: userID, onDevice: deviceID) }
    }

    /// Up to `limit` sessions of a user that have no recorded end, the last refreshed first. Reads at most `lookMax` sessions,
    /// so it considers only some of the sessions of a user that has more.
    public func latestSessions(
        of userID: Identifier<User>, limit: Int, lookMax: Int
    ) async throws(StoreError) -> [SessionRecord] {
        try await records(.long, of: userID) { reader in
            reader.latestSessions(of: userID, limit: limit, lookMax: lookMax)
        }
    }

    /// Whether the user has a session on that device, or a tombstone of one, that started before `instant`. Reads at most
    /// `lookMax` tombstones, so it considers only some of the tombstones of a user that has more.
    public func hasSession(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) async throws(StoreError) -> Bool {
        try await read(.long) { (reader) throws(TransactionError) in
            let living = reader.sessions(of: userID, onDevice: deviceID)
            let tombstone = reader.hasTombstone(
                of: userID, onDevice: deviceID, before: instant, lookMax: lookMax)
            if try living.value().contains(where: { $0.startedAt < instant }) { return true }
            return try tombstone.value()
        }
    }

    /// Up to `limit` sessions after `cursor`, tombstones included, in the order of their ids. Fewer than `limit` is the end.
    public func exportSessions(
        after cursor: Identifier<Session>?, limit: Int
    ) async throws(StoreError) -> [Session] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.sessions(after: cursor, limit: limit).value()
        }
    }

    /// One step along all sessions in the order of their ids: reads up to `limit` sessions after `cursor`. Gives those that have no
    /// recorded end, of that client if one is given, and the id of the last session that was read; nil at the end of the table.
    public func livingSessions(
        after cursor: Identifier<Session>?, limit: Int, ofClient clientID: String? = nil
    ) async throws(StoreError) -> (records: [SessionRecord], last: Identifier<Session>?) {
        try await read(.long) { (reader) throws(TransactionError) in
            let (catalogue, sessions) = (reader.catalogue(), reader.sessions(after: cursor, limit: limit))
            let found = try sessions.value()
            let living = found.filter { $0.ending == nil && [nil, $0.clientID].contains(clientID) }
            let users = living.isEmpty ? [] : try reader.users(living.map(\.userID), named: []).value()
            let byID = Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
            let known = try catalogue.value()
            return (
                living.map { known.record(of: $0, byID[$0.userID]) }, found.count < limit ? nil : found.last?.id
            )
        }
    }

    private func records(
        _ length: ReadLength, of userID: Identifier<User>,
        _ ask: @escaping @Sendable (any StoreReader) -> Answer<[Session]>
    ) async throws(StoreError) -> [SessionRecord] {
        try await read(length) { (reader) throws(TransactionError) in
            let (catalogue, user, sessions) = (reader.catalogue(), reader.user(.id(userID)), ask(reader))
            let (known, owner) = (try catalogue.value(), try user.value())
            return try sessions.value().map { known.record(of: $0, owner) }
        }
    }
}
