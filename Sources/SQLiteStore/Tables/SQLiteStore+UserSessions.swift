public import Sessions
internal import StoreFoundation

/// The sessions of one user, of whom there may be very many: what looks at few has the reader for short reads.
extension SQLiteStore {
    /// See `Store`.
    public func sessions(
        of userID: Identifier<User>, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<SessionRecord> {
        guard let place = Self.place(after: cursor), limit > 0 else { return Page(items: [], nextCursor: nil) }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> Page<SessionRecord> in
            let user = try UserRow.find(.id(userID), snapshot.connection)
            let sessions = try snapshot.connection.all(
                SessionRow.selectPage, user?.number, userID, place.startedAt, place.id, Self.oneMore(than: limit)
            ) { (row) throws(CorruptRow) in try SessionRow.read(&row).session }
            let items = sessions.prefix(limit).map { snapshot.record(of: $0, user?.user) }
            let next = sessions.count > limit ? items.last.map { Self.cursor(after: $0.session) } : nil
            return Page(items: items, nextCursor: next)
        }
    }

    /// See `Store`.
    public func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(StoreError) -> [SessionRecord] {
        try await read { (snapshot) throws(DatabaseError) -> [SessionRecord] in
            guard let user = try UserRow.find(.id(userID), snapshot.connection) else { return [] }
            return try Self.sessions(of: user, onDevice: deviceID, snapshot).map { snapshot.record(of: $0, user.user) }
        }
    }

    /// See `Store`.
    public func latestSessions(
        of userID: Identifier<User>, limit: Int, lookMax: Int
    ) async throws(StoreError) -> [SessionRecord] {
        try await readAtLength { (snapshot) throws(DatabaseError) -> [SessionRecord] in
            guard let user = try UserRow.find(.id(userID), snapshot.connection) else { return [] }
            return try snapshot.connection.all(SessionRow.selectLatest, user.number, lookMax, limit) {
                (row) throws(CorruptRow) in try SessionRow.read(&row).session
            }.map { snapshot.record(of: $0, user.user) }
        }
    }

    /// See `Store`.
    public func hasSession(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) async throws(StoreError) -> Bool {
        try await readAtLength { (snapshot) throws(DatabaseError) -> Bool in
            if let user = try UserRow.find(.id(userID), snapshot.connection) {
                let living = try Self.sessions(of: user, onDevice: deviceID, snapshot)
                if living.contains(where: { $0.startedAt < instant }) { return true }
            }
            let found = try snapshot.connection.first(SessionRow.selectEnded, userID, lookMax, deviceID, instant) {
                row in row.integer()
            }
            return found != nil
        }
    }

    private static func sessions(
        of user: UserRow.Numbered, onDevice deviceID: String, _ snapshot: Snapshot
    ) throws(DatabaseError) -> [Session] {
        try snapshot.connection.all(SessionRow.selectOnDevice, user.number, deviceID) {
            (row) throws(CorruptRow) in try SessionRow.read(&row).session
        }
    }

    /// Where a page of a user's sessions begins: everything below this pair. Nil: the cursor is not one of ours.
    private static func place(after cursor: String?) -> (startedAt: Int64, id: [UInt8])? {
        guard let cursor else { return (.max, [UInt8](repeating: 0xFF, count: Identifier<Session>.byteCount + 1)) }
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let startedAt = Int64(parts[0]), let id = Identifier<Session>(parts[1]) else {
            return nil
        }
        return (startedAt, id.bytes)
    }

    private static func cursor(after session: Session) -> String {
        "\(session.startedAt.secondsSinceEpoch).\(session.id)"
    }
}

extension Snapshot {
    fileprivate func record(of session: Session, _ user: User?) -> SessionRecord {
        SessionRecord(
            session: session, user: user, client: catalogue.clients[session.clientID], settings: catalogue.settings)
    }
}
