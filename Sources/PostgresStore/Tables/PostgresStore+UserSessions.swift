public import Sessions
internal import StoreFoundation

/// The sessions of one user, of whom there may be very many: what looks at few has the connection for short reads.
extension PostgresStore {
    /// See `Store`.
    public func sessions(
        of userID: Identifier<User>, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<SessionRecord> {
        guard let place = Self.place(after: cursor), limit > 0 else { return Page(items: [], nextCursor: nil) }
        let page = SessionSQL.selectPage(
            of: userID, before: place.startedAt, place.id, limit: limit == .max ? limit : limit + 1)
        let found = try await records(of: userID, page, takesLong: true)
        let items = Array(found.prefix(limit))
        return Page(
            items: items, nextCursor: found.count > limit ? items.last.map { Self.cursor(after: $0.session) } : nil)
    }

    /// See `Store`.
    public func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(StoreError) -> [SessionRecord] {
        try await records(of: userID, SessionSQL.selectOnDevice(deviceID, of: userID))
    }

    /// See `Store`.
    public func latestSessions(
        of userID: Identifier<User>, limit: Int, lookMax: Int
    ) async throws(StoreError) -> [SessionRecord] {
        try await records(
            of: userID, SessionSQL.selectLatest(of: userID, limit: limit, lookMax: lookMax), takesLong: true)
    }

    /// See `Store`.
    public func hasSession(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) async throws(StoreError) -> Bool {
        let statements = [
            SessionSQL.selectOnDevice(deviceID, of: userID),
            SessionSQL.selectEnded(onDevice: deviceID, of: userID, before: instant, lookMax: lookMax),
        ]
        return try await read(statements, takesLong: true) { (rows) throws(DatabaseError) in
            let living = try rows[0].map { (row) throws(CorruptRow) in try SessionColumns.read(&row) }
            if living.contains(where: { $0.startedAt < instant }) { return true }
            return try rows[1].first { row in row.integer() } != nil
        }
    }

    private func records(
        of userID: Identifier<User>, _ sessions: Statement, takesLong: Bool = false
    ) async throws(StoreError) -> [SessionRecord] {
        let catalogue = try await catalogue().catalogue
        let statements = [UserSQL.select(.id(userID)), sessions]
        return try await read(statements, takesLong: takesLong) { (rows) throws(DatabaseError) in
            let user = try rows[0].first { (row) throws(CorruptRow) in try UserColumns.read(&row) }
            return try rows[1].map { (row) throws(CorruptRow) in
                let session = try SessionColumns.read(&row)
                return SessionRecord(
                    session: session, user: user, client: catalogue.clients[session.clientID],
                    settings: catalogue.settings)
            }
        }
    }

    /// Where a page of a user's sessions begins: everything below this pair. Nil: the cursor is not one of ours.
    private static func place(after cursor: String?) -> (startedAt: Int64, id: Identifier<Session>?)? {
        guard let cursor else { return (.max, nil) }
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let startedAt = Int64(parts[0]), let id = Identifier<Session>(parts[1]) else {
            return nil
        }
        return (startedAt, id)
    }

    private static func cursor(after session: Session) -> String {
        "\(session.startedAt.secondsSinceEpoch).\(session.id)"
    }
}
