// Ends of sessions that no request has recorded: by the clock, and by a revocation of all sessions.

/// One step along the logins with an ID token.
public struct UnrecordedEnds: Sendable {
    /// The sessions of these logins that have ended without a record.
    public let sessions: [Identifier<Session>]
    /// Where the next step begins; nil at the end.
    public let cursor: Identifier<Session>?
}

extension Store {
    /// Reads up to `limit` logins with an ID token after `cursor`, and finds the sessions of them that have ended without a record.
    ///
    /// - Parameter isWanted: whether the ends of a client's sessions are looked for.
    public func unrecordedEnds(
        after cursor: Identifier<Session>?, limit: Int, by policy: RefreshPolicy, at now: Instant,
        _ isWanted: @escaping @Sendable (Client) -> Bool
    ) async throws(StoreError) -> UnrecordedEnds {
        try await read(.long) { (reader) throws(TransactionError) in
            let (page, catalogue) = (reader.idTokenLogins(after: cursor, limit: limit), reader.catalogue())
            let (logins, known) = (try page.value(), try catalogue.value())
            let next = logins.count < limit ? nil : logins.last?.id
            let wanted = logins.filter { known.clients[$0.clientID].map(isWanted) == true }
            if wanted.isEmpty { return UnrecordedEnds(sessions: [], cursor: next) }
            let found = try reader.sessions(wanted.map(\.sessionID)).value()
            let owners = reader.users(Array(Set(found.map(\.userID))), named: [])
            let users = Dictionary(try owners.value().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let ended = found.filter { session in
                session.ending == nil
                    && policy.ending(of: known.record(of: session, users[session.userID]), at: now) != nil
            }
            return UnrecordedEnds(sessions: ended.map(\.id), cursor: next)
        }
    }

    /// Records the end of a session that has ended without a record. False if it goes on, or its end is recorded.
    public func recordEnd(
        of id: Identifier<Session>, by policy: RefreshPolicy, at now: Instant
    ) async throws(StoreError) -> Bool {
        try await updateSession(id) { change in
            guard change.session.ending == nil, let ending = policy.ending(of: change.record, at: now) else {
                return false
            }
            var session = change.session
            session.end(ending.reason, at: ending.at)
            change.keep(session, endedBy: .system, at: now)
            return true
        } ?? false
    }
}
