// Ends of sessions that no request has recorded: by the clock, and by a revocation of all sessions.

extension Store {
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
