// What an import writes. A batch of it runs alone, because what the batch meets must stay as it was found; it reads all that it meets
// at once, and takes three round trips, however many records it has.

extension Store {
    /// Adds each user, or does with the user of that id what `mode` decides (`ImportMode.decision`); `createdAt` stays. All in one
    /// transaction; a user whose username another user has is left out. What changes of a user is told (`UserChange.take`). One
    /// outcome for each, in order.
    ///
    /// This call and those that import what users have read in their transaction what the trail tells after the place of `mode`, so
    /// that what is deleted or ended while an import runs stays so, too.
    public func importUsers(_ users: [User], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        guard !users.isEmpty else { return [] }
        return try await write(.accounts) { (transaction) throws(TransactionError) in
            try transaction.importUsers(users, mode)
        }
    }

    /// Does with each session what `SessionImport.decision` says, one after the other in the order given, all in one
    /// transaction, and tells what ends by it (`SessionImport.events`). One outcome for each, in order.
    public func importSessions(
        _ sessions: [Session], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !sessions.isEmpty else { return [] }
        return try await write(.accounts) { (transaction) throws(TransactionError) in
            try transaction.importSessions(sessions, mode)
        }
    }

    /// Adds each foreign token. One that the store has already is kept as it is if it was exchanged; if not, it is replaced by one
    /// that was, and when `mode` is to replace by any. One that has ended here (`ImportMode.hasEnded`), or whose user is not there, is left
    /// out. All in one transaction; one outcome for each, in order.
    public func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(tokens, mode, userID: \.userID, isOver: { $1.hasEnded($0) }) { transaction, token in
            transaction.insert(token, replacing: mode == .replacing)
        }
    }

    /// Adds each identity. One that the store has is kept as it is; one that was unlinked here (`ImportMode.hasUnlinked`), or whose user
    /// is not there, is left out. All in one transaction; one outcome for each, in order.
    public func importIdentities(
        _ identities: [Identity], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(identities, mode, userID: \.userID, isOver: { $1.hasUnlinked($0) }) {
            transaction, identity in transaction.insert(identity)
        }
    }

    /// Adds each revocation to the feed, in order, with the next numbers. One that does not hold here (`Revocation.holds`) is
    /// left out, and counts as kept. All in one transaction; one outcome for each, in order.
    public func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome] {
        guard !revocations.isEmpty else { return [] }
        return try await write(.accounts) { (transaction) throws(TransactionError) in
            let users = transaction.users(Array(Set(revocations.compactMap(\.userID))), named: [])
            let sessions = transaction.sessions(Array(Set(revocations.compactMap(\.sessionID))))
            let usersByID = Dictionary(try users.value().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let living = Set(try sessions.value().lazy.filter { $0.ending == nil }.map(\.id))
            let written = revocations.map { revocation in
                revocation.holds(
                    user: revocation.userID.flatMap { usersByID[$0] },
                    sessionLives: revocation.sessionID.map(living.contains) ?? false)
            }
            transaction.append(zip(revocations, written).filter(\.1).map(\.0))
            return written.map { $0 ? .written : .kept }
        }
    }

    /// Adds each record of a user that is there, unless it is over.
    private func importAdded<Item: Sendable>(
        _ items: [Item], _ mode: ImportMode, userID: @escaping @Sendable (Item) -> Identifier<User>,
        isOver: @escaping @Sendable (Item, ImportMode) -> Bool,
        _ insert: @escaping @Sendable (any StoreTransaction, Item) -> Answer<Bool>
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !items.isEmpty else { return [] }
        return try await write(.accounts) { (transaction) throws(TransactionError) in
            let users = transaction.users(Array(Set(items.map(userID))), named: [])
            let news = transaction.news(for: mode)
            let ids = Set(try users.value().map(\.id))
            let mode = try mode.knowing(news)
            let answers = items.map { item in
                ids.contains(userID(item)) && !isOver(item, mode) ? insert(transaction, item) : nil
            }
            var outcomes: [ImportOutcome] = []
            for (item, answer) in zip(items, answers) {
                if let answer {
                    outcomes.append(try answer.value() ? .written : .kept)
                } else {
                    outcomes.append(ids.contains(userID(item)) ? .differs : .unknownUser)
                }
            }
            return outcomes
        }
    }

    /// Adds each user who is not there; the others stay as they are.
    public func importUsers(_ users: [User]) async throws(StoreError) -> [ImportOutcome] {
        try await importUsers(users, .keeping(ImportLedger()))
    }

    /// Adds each session, as far as it has gone further than what is there.
    public func importSessions(_ sessions: [Session]) async throws(StoreError) -> [ImportOutcome] {
        try await importSessions(sessions, .keeping(ImportLedger()))
    }

    /// Adds each identity that is not there.
    public func importIdentities(_ identities: [Identity]) async throws(StoreError) -> [ImportOutcome] {
        try await importIdentities(identities, .keeping(ImportLedger()))
    }

    /// Adds each foreign token that is not there.
    public func importForeignTokens(_ tokens: [ForeignToken]) async throws(StoreError) -> [ImportOutcome] {
        try await importForeignTokens(tokens, .keeping(ImportLedger()))
    }
}

extension StoreTransaction {
    fileprivate func importUsers(
        _ users: [User], _ mode: ImportMode
    ) throws(TransactionError) -> [ImportOutcome] {
        let (stored, news, catalogue) = (
            self.users(users.map(\.id), named: users.map(\.username)), news(for: mode), catalogue()
        )
        let mode = try mode.knowing(news)
        var met = MetUsers(try stored.value())
        var outcomes: [ImportOutcome] = []
        var changed: [(old: User, new: User)] = []
        var inserted: [(place: Int, answer: Answer<Bool>)] = []
        for user in users {
            let stored = met.byID[user.id]
            switch mode.decision(on: user, stored: stored, namesake: met.idsByKey[Text.key(user.username)]) {
            case .leave(let outcome): outcomes.append(outcome)
            case .write(let user, let outcome):
                if let stored {
                    update(user)
                    changed.append((stored, user))
                } else {
                    inserted.append((outcomes.count, insert(user)))
                }
                met.note(user)
                outcomes.append(outcome)
            }
        }
        // A user that is made at this moment takes no lock, and may have taken the name.
        for (place, answer) in inserted where try !answer.value() { outcomes[place] = .usernameTaken }
        let known = try catalogue.value()
        var events: [AuditEvent] = []
        for (old, new) in changed {
            var change = UserChange(user: old, settings: known.settings, clients: Array(known.clients.values))
            change.take(new, at: now)
            events += change.events
        }
        append(events, known)
        return outcomes
    }

    fileprivate func importSessions(
        _ sessions: [Session], _ mode: ImportMode
    ) throws(TransactionError) -> [ImportOutcome] {
        let stored = self.sessions(sessions.map(\.id))
        let living = livingSessions(at: sessions.map { SessionPlace(of: $0) })
        let users = users(Array(Set(sessions.map(\.userID))), named: [])
        let (news, catalogue) = (news(for: mode), catalogue())
        var met = MetSessions(
            try stored.value() + living.value(), users: Set(try users.value().map(\.id)), try mode.knowing(news))
        var outcomes: [ImportOutcome] = []
        var events: [AuditEvent] = []
        for session in sessions {
            let meeting = met.meeting(session)
            switch meeting.decision {
            case .keep: outcomes.append(.kept)
            case .leaveOut: outcomes.append(.differs)
            case .refuse: outcomes.append(.unknownUser)
            case .write(let session, let ended):
                if let ended, let ending = ended.ending {
                    end(ended.id, ending)
                    met.note(ended)
                }
                replace(session)
                if session.ending != nil { deleteProviderCheck(of: session.id) }
                met.note(session)
                events += meeting.events(session, ended: ended, at: now)
                outcomes.append(.written)
            }
        }
        append(events, try catalogue.value())
        return outcomes
    }
}

/// The users that a batch of users meets: those with the same ids, and those with the same names. What is written is noted, so
/// that each user sees what the one before has made of it.
private struct MetUsers {
    private(set) var byID: [Identifier<User>: User] = [:]
    private(set) var idsByKey: [String: Identifier<User>] = [:]

    init(_ users: [User]) { for user in users { note(user) } }

    mutating func note(_ user: User) {
        // A name that was given up is free.
        if let old = byID.updateValue(user, forKey: user.id) { idsByKey[Text.key(old.username)] = nil }
        idsByKey[Text.key(user.username)] = user.id
    }
}

/// The sessions and users that a batch of sessions meets.
private struct MetSessions {
    private var byID: [Identifier<Session>: Session] = [:]
    private var living: [SessionPlace: Session] = [:]
    private let users: Set<Identifier<User>>
    private let mode: ImportMode

    init(_ sessions: [Session], users: Set<Identifier<User>>, _ mode: ImportMode) {
        (self.users, self.mode) = (users, mode)
        for session in sessions { note(session) }
    }

    /// What a session meets, as it stands.
    func meeting(_ session: Session) -> SessionImport {
        let living = living[SessionPlace(of: session)]
        return SessionImport(
            session: session, stored: byID[session.id], living: living?.id == session.id ? nil : living,
            hasUser: users.contains(session.userID), isOver: mode.hasEnded(session))
    }

    mutating func note(_ session: Session) {
        byID[session.id] = session
        let place = SessionPlace(of: session)
        if session.ending == nil {
            living[place] = session
        } else if living[place]?.id == session.id {
            living[place] = nil
        }
    }
}
