public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`.
    public func exportSessions(
        after cursor: Identifier<Session>?, limit: Int
    ) async throws(StoreError) -> [Session] {
        guard limit > 0 else { return [] }
        return try await readAtLength { (snapshot) throws(DatabaseError) -> [Session] in
            try snapshot.connection.all(
                SessionRow.selectInOrder, cursor?.bytes ?? [], limit
            ) { (row) throws(CorruptRow) in try SessionRow.read(&row).session }
        }
    }

    /// See `Store`.
    public func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep {
        try await readAtLength { (snapshot) throws(DatabaseError) -> LedgerStep in
            let end = try snapshot.connection.first(EventRow.selectStepEnd, cursor, limit) { row in
                row.optional { row in row.integer() }
            }
            guard let end = end ?? nil else { return LedgerStep([], to: cursor) }
            let events = try snapshot.connection.all(EventRow.selectStep, cursor, end) { (row) throws(CorruptRow) in
                try EventColumns.read(&row)
            }
            return LedgerStep(events, to: end)
        }
    }

    /// See `Store`.
    public func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent] {
        try await readAtLength { (snapshot) throws(DatabaseError) -> [RecordedEvent] in
            var events: [RecordedEvent] = []
            for user in users {
                events += try snapshot.connection.all(
                    EventRow.selectRememberedOfUser, 0, user
                ) { (row) throws(CorruptRow) in try EventColumns.read(&row) }
            }
            return events.sorted { $0.id < $1.id }
        }
    }

    /// See `Store`.
    public func importUsers(_ users: [User], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await write { (transaction) throws(DatabaseError) -> [ImportOutcome] in
            let mode = try Self.knowingNews(mode, transaction.connection)
            var outcomes: [ImportOutcome] = []
            for user in users { outcomes.append(try Self.importUser(user, mode, transaction)) }
            return outcomes
        }
    }

    /// See `Store`.
    public func importSessions(
        _ sessions: [Session], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await write { (transaction) throws(DatabaseError) -> [ImportOutcome] in
            let mode = try Self.knowingNews(mode, transaction.connection)
            var outcomes: [ImportOutcome] = []
            for session in sessions { outcomes.append(try Self.importSession(session, mode, transaction)) }
            return outcomes
        }
    }

    /// See `Store`.
    public func userIDs(named usernames: Set<String>) async throws(StoreError) -> [String: Identifier<User>] {
        try await read { (snapshot) throws(DatabaseError) -> [String: Identifier<User>] in
            var ids: [String: Identifier<User>] = [:]
            for name in usernames { ids[name] = try UserRow.find(.username(name), snapshot.connection)?.user.id }
            return ids
        }
    }

    /// See `Store`.
    public func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await write { (transaction) throws(DatabaseError) -> [ImportOutcome] in
            let connection = transaction.connection
            let mode = try Self.knowingNews(mode, connection)
            var outcomes: [ImportOutcome] = []
            for token in tokens {
                if try UserRow.number(of: token.userID, connection) == nil {
                    outcomes.append(.unknownUser)
                } else if mode.hasEnded(token) {
                    outcomes.append(.differs)
                } else {
                    let changed = try ForeignTokenRow.insert(token, replacing: mode == .replacing, connection)
                    outcomes.append(changed > 0 ? .written : .kept)
                }
            }
            return outcomes
        }
    }

    /// The mode, with what the trail tells until now.
    static func knowingNews(_ mode: ImportMode, _ connection: Connection) throws(DatabaseError) -> ImportMode {
        guard let place = mode.place else { return mode }
        return mode.knowing(
            try connection.all(EventRow.selectNews, place) { (row) throws(CorruptRow) in
                try EventColumns.read(&row)
            })
    }

    /// See `Store`.
    public func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome] {
        try await write { (transaction) throws(DatabaseError) -> [ImportOutcome] in
            let connection = transaction.connection
            var outcomes: [ImportOutcome] = []
            for revocation in revocations {
                let user = try revocation.userID.flatMap { (id) throws(DatabaseError) in
                    try UserRow.find(.id(id), connection)?.user
                }
                let session = try revocation.sessionID.flatMap { (id) throws(DatabaseError) in
                    try connection.first(SessionRow.selectByID, id) { (row) throws(CorruptRow) in
                        try SessionRow.read(&row).session
                    }
                }
                let holds = revocation.holds(user: user, sessionLives: session.map { $0.ending == nil } ?? false)
                if holds { try RevocationRow.insertImported(revocation, connection) }
                outcomes.append(holds ? .written : .kept)
            }
            return outcomes
        }
    }

    private static func importUser(
        _ user: User, _ mode: ImportMode, _ transaction: Transaction
    ) throws(DatabaseError) -> ImportOutcome {
        let connection = transaction.connection
        if !mode.hasDeleted(user.id), try UserRow.insertIfNew(user, connection) { return .written }
        let stored = try UserRow.find(.id(user.id), connection)?.user
        let namesake = try UserRow.find(.username(user.username), connection)?.user.id
        switch mode.decision(on: user, stored: stored, namesake: namesake) {
        case .leave(let outcome): return outcome
        case .write(let user, let outcome):
            guard let stored else {
                try UserRow.insert(user, connection)
                return outcome
            }
            try UserRow.update(user, connection)
            let catalogue = transaction.catalogue
            var change = UserChange(
                user: stored, settings: catalogue.settings, clients: Array(catalogue.clients.values))
            change.take(user, at: transaction.clock.now)
            try EventRow.insert(change.events, in: transaction)
            return outcome
        }
    }

    private static func importSession(
        _ session: Session, _ mode: ImportMode, _ transaction: Transaction
    ) throws(DatabaseError) -> ImportOutcome {
        let connection = transaction.connection
        let userNumber = try UserRow.number(of: session.userID, connection)
        // What meets nothing, as nearly all do in an import, is added without looking; if its user is gone, only a tombstone.
        let isOver = mode.hasEnded(session)
        if userNumber != nil && !isOver || session.ending != nil,
            try SessionRow.insertIfNew(session, userNumber: userNumber ?? UserRow.nobody, connection)
        {
            return .written
        }
        let stored = try connection.first(SessionRow.selectByID, session.id) { (row) throws(CorruptRow) in
            try SessionRow.read(&row)
        }
        var living = try connection.first(
            SessionRow.selectLiving, userNumber, session.clientID, session.device.id
        ) { (row) throws(CorruptRow) in try SessionRow.read(&row) }
        if living?.session.id == session.id { living = nil }
        let meeting = SessionImport(
            session: session, stored: stored?.session, living: living?.session, hasUser: userNumber != nil,
            isOver: isOver)
        switch meeting.decision {
        case .keep: return .kept
        case .leaveOut: return .differs
        case .refuse: return .unknownUser
        case .write(let session, let ended):
            if let ended, let living {
                try SessionRow.write(ended, over: living.session, number: living.number, connection)
            }
            if let stored {
                try SessionRow.write(session, over: stored.session, number: stored.number, connection)
            } else {
                try SessionRow.insert(session, userNumber: userNumber ?? UserRow.nobody, connection)
            }
            try EventRow.insert(
                meeting.events(session, ended: ended, at: transaction.clock.now), in: transaction)
            return .written
        }
    }
}
