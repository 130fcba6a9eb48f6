// The writes of an import. A batch runs alone, because the rows that it compares with must not change. It reads all of them at
// once, and takes three round trips for any number of records.

extension Store {
    /// Adds each user, or applies the decision of `mode` to the stored user with that id (`ImportMode.decision`); `createdAt`
    /// is kept. All in one transaction. A user is left out if another user has its username. Changes of users are recorded as
    /// events (`UserChange.take`). Returns one outcome for each user, in order.
    ///
    /// This call and the imports of users' records read the events of the audit trail after the number `mode.place` in their
    /// transaction, so that deletions and endings during an import stay in force, too.
    ///
    /// `sources` are those of the users by their ids. A user without sources comes from the import.
    public func importUsers(
        _ users: [User], sources: [Identifier<User>: UserSources] = [:], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !users.isEmpty else { return [] }
        return try await write(.everything) { (transaction) throws(TransactionError) in
            try transaction.importUsers(users, sources, mode)
        }
    }

    /// Applies `SessionImport.decision` to each session, in order and in one transaction, and records the endings that follow
    /// (`SessionImport.events`). Returns one outcome for each session, in order.
    public func importSessions(
        _ sessions: [Session], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !sessions.isEmpty else { return [] }
        return try await write(.everything) { (transaction) throws(TransactionError) in
            try transaction.importSessions(sessions, mode)
        }
    }

    /// Adds each foreign token. A stored token that was exchanged is kept. A stored token that was not exchanged is replaced by
    /// an exchanged one, or, when `mode` replaces, by any. A token is left out if it has ended here (`ImportMode.hasEnded`) or
    /// its user does not exist. All in one transaction. Returns one outcome for each token, in order.
    public func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(tokens, mode, userID: \.userID, isOver: { $1.hasEnded($0) }) { transaction, token in
            transaction.insert(token, replacing: mode == .replacing)
        }
    }

    /// Adds each identity. A stored identity is kept. An identity is left out if it was unlinked here
    /// (`ImportMode.hasUnlinked`) or its user does not exist. All in one transaction. Returns one outcome for each identity, in
    /// order.
    public func importIdentities(
        _ identities: [Identity], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(identities, mode, userID: \.userID, isOver: { $1.hasUnlinked($0) }) {
            transaction, identity in transaction.insert(identity)
        }
    }

    /// Adds each passkey. A stored passkey is kept. A passkey is left out if it was removed here (`ImportMode.hasRemoved`) or its
    /// user does not exist. All in one transaction. Returns one outcome for each passkey, in order.
    public func importPasskeys(_ passkeys: [Passkey], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(passkeys, mode, userID: \.userID, isOver: { $1.hasRemoved($0) }) {
            transaction, passkey in transaction.insert(passkey)
        }
    }

    /// Adds each login on the page. A stored login is kept. A login is left out if its user does not exist. All in one
    /// transaction. Returns one outcome for each login, in order.
    public func importLogins(_ logins: [PageLogin], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await importAdded(logins, mode, userID: \.userID, isOver: { _, _ in false }) { transaction, login in
            let known = transaction.login(login.id)
            return Answer { () throws(TransactionError) in
                if try known.value() != nil { return false }
                transaction.insert(login)
                return true
            }
        }
    }

    /// Adds each login with a phone, which a phone has claimed. A stored login is kept, unless only the other one is over. A
    /// login is left out if its user does not exist, or if its session should live and is not there. All in one transaction.
    /// Returns one outcome for each login, in order.
    public func importPhoneLogins(
        _ logins: [PhoneLogin], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        let owned = logins.compactMap { login in login.claim.map { (userID: $0.userID, login: login) } }
        return try await importAdded(owned, mode, userID: \.userID, isOver: { _, _ in false }) { transaction, item in
            let login = item.login
            let (known, session) = (transaction.phoneLoginForUpdate(login.id), transaction.sessionForUpdate(login.id))
            return Answer { () throws(TransactionError) in
                try transaction.take(login, over: try known.value(), session: try session.value())
            }
        }
    }

    /// Adds each revocation to the feed, in order, with the next numbers. One that does not hold here (`Revocation.holds`) is
    /// left out, with the outcome `kept`. All in one transaction. Returns one outcome for each revocation, in order.
    public func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome] {
        guard !revocations.isEmpty else { return [] }
        return try await write(.everything) { (transaction) throws(TransactionError) in
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

    /// Adds each record of an existing user, unless `isOver` is true for it.
    func importAdded<Item: Sendable>(
        _ items: [Item], _ mode: ImportMode, userID: @escaping @Sendable (Item) -> Identifier<User>,
        isOver: @escaping @Sendable (Item, ImportMode) -> Bool,
        _ insert: @escaping @Sendable (any StoreTransaction, Item) -> Answer<Bool>
    ) async throws(StoreError) -> [ImportOutcome] {
        guard !items.isEmpty else { return [] }
        return try await write(.everything) { (transaction) throws(TransactionError) in
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

    /// Adds each user that does not exist, and keeps the others.
    public func importUsers(_ users: [User]) async throws(StoreError) -> [ImportOutcome] {
        try await importUsers(users, .keeping(ImportLedger()))
    }

    /// Adds each session that does not exist or has progressed further than the stored one.
    public func importSessions(_ sessions: [Session]) async throws(StoreError) -> [ImportOutcome] {
        try await importSessions(sessions, .keeping(ImportLedger()))
    }

    /// Adds each identity that does not exist.
    public func importIdentities(_ identities: [Identity]) async throws(StoreError) -> [ImportOutcome] {
        try await importIdentities(identities, .keeping(ImportLedger()))
    }

    /// Adds each foreign token that does not exist.
    public func importForeignTokens(_ tokens: [ForeignToken]) async throws(StoreError) -> [ImportOutcome] {
        try await importForeignTokens(tokens, .keeping(ImportLedger()))
    }
}

extension StoreTransaction {
    /// Writes an imported login. Its session may have ended here meanwhile. False: the stored one is kept.
    fileprivate func take(
        _ imported: PhoneLogin, over known: PhoneLogin?, session: Session?
    ) throws(TransactionError) -> Bool {
        var login = imported
        if login.isLoggedIn {
            guard let session else { return false }
            if let ending = session.ending {
                let end = PhoneLoginAttempt(.sessionEnded(ending.reason))
                login = PhoneLoginPolicy().decide(end, on: login, at: ending.at).login
            }
        }
        guard let known else {
            insert(login)
            return true
        }
        if known.state.isFinal || !login.state.isFinal { return false }
        update(login)
        return true
    }

    fileprivate func importUsers(
        _ users: [User], _ sources: [Identifier<User>: UserSources], _ mode: ImportMode
    ) throws(TransactionError) -> [ImportOutcome] {
        let (stored, news, catalogue) = (
            self.users(
                users.map(\.id), named: users.map(\.username), orAddresses: users.compactMap(\.profile.provenKey)),
            news(for: mode), catalogue()
        )
        let mode = try mode.knowing(news)
        var met = MetUsers(try stored.value())
        var outcomes: [ImportOutcome] = []
        var changed: [(old: User, new: User)] = []
        var inserted: [(place: Int, user: User, answer: Answer<Bool>)] = []
        func writeSources(of user: User) { replace(sources[user.id] ?? UserSources(of: user, from: .import)) }
        for user in users {
            let stored = met.byID[user.id]
            let decision = mode.decision(
                on: user, stored: stored, namesake: met.idsByKey[Text.key(user.username)],
                owner: user.profile.provenKey.flatMap { met.idsByMailbox[$0] })
            switch decision {
            case .leave(let outcome): outcomes.append(outcome)
            case .write(let user, let outcome):
                if let stored {
                    update(user)
                    lookEarlier(under: user, than: stored)
                    if mode == .replacing { writeSources(of: user) }
                    changed.append((stored, user))
                } else {
                    inserted.append((outcomes.count, user, insert(user)))
                }
                met.note(user)
                outcomes.append(outcome)
            }
        }
        // A concurrent insertion of a user takes no lock, and may have taken the name.
        for (place, user, answer) in inserted {
            if try answer.value() { writeSources(of: user) } else { outcomes[place] = .usernameTaken }
        }
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
        let places = sessions.map { Installation(of: $0) }
        let living = livingSessions(at: places)
        let users = users(Array(Set(sessions.map(\.userID))), named: [])
        let (news, catalogue) = (news(for: mode), catalogue())
        let owners = Dictionary(try users.value().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let known = try catalogue.value()
        var met = MetSessions(
            try stored.value() + living.value(), users: Set(owners.keys), try mode.knowing(news),
            count: sessions.count)
        var outcomes: [ImportOutcome] = []
        outcomes.reserveCapacity(sessions.count)
        var events: [AuditEvent] = []
        for (session, place) in zip(sessions, places) {
            let meeting = met.meeting(session, at: place)
            switch meeting.decision {
            case .keep: outcomes.append(.kept)
            case .leaveOut: outcomes.append(.differs)
            case .refuse: outcomes.append(.unknownUser)
            case .write(let session, let ended):
                if let ended, let ending = ended.ending {
                    end(ended.id, ending)
                    met.note(ended, at: place)
                }
                replace(session, lookAt: known.record(of: session, owners[session.userID]).firstLook)
                if session.ending != nil {
                    deleteProviderCheck(of: session.id)
                    deletePIN(of: session.id)
                }
                met.note(session, at: place)
                events += meeting.events(session, ended: ended, at: now)
                outcomes.append(.written)
            }
        }
        append(events, known)
        return outcomes
    }
}

/// The stored users with the same ids or the same names as a batch of users. Writes are noted, so that each user is compared
/// with the result of the one before.
private struct MetUsers {
    private(set) var byID: [Identifier<User>: User] = [:]
    private(set) var idsByKey: [String: Identifier<User>] = [:]
    private(set) var idsByMailbox: [String: Identifier<User>] = [:]

    init(_ users: [User]) { for user in users { note(user) } }

    mutating func note(_ user: User) {
        // The old name of a renamed user is free, and so is the old mailbox.
        if let old = byID.updateValue(user, forKey: user.id) {
            idsByKey[Text.key(old.username)] = nil
            if let key = old.profile.provenKey { idsByMailbox[key] = nil }
        }
        idsByKey[Text.key(user.username)] = user.id
        if let key = user.profile.provenKey { idsByMailbox[key] = user.id }
    }
}

/// The stored sessions and users that a batch of sessions is compared with.
///
/// The dictionaries hold places in an array. A session is 400 bytes long, and a dictionary moves its values whenever it grows.
private struct MetSessions {
    private var sessions: [Session]
    private var placesByID: [Identifier<Session>: Int]
    private var living: [Installation: Int]
    private let users: Set<Identifier<User>>
    private let mode: ImportMode

    /// The sessions before a batch of `count` sessions.
    init(_ stored: [Session], users: Set<Identifier<User>>, _ mode: ImportMode, count: Int) {
        (self.users, self.mode) = (users, mode)
        (sessions, placesByID, living) = ([], Dictionary(minimumCapacity: count), Dictionary(minimumCapacity: count))
        sessions.reserveCapacity(stored.count + count)
        for session in stored { note(session, at: Installation(of: session)) }
    }

    /// The comparison of a session with the present state.
    func meeting(_ session: Session, at place: Installation) -> SessionImport {
        let living = living[place].map { sessions[$0] }
        return SessionImport(
            session: session, stored: placesByID[session.id].map { sessions[$0] },
            living: living?.id == session.id ? nil : living, hasUser: users.contains(session.userID),
            isOver: mode.hasEnded(session))
    }

    mutating func note(_ session: Session, at place: Installation) {
        let index = sessions.count
        sessions.append(session)
        placesByID[session.id] = index
        if session.ending == nil {
            living[place] = index
        } else if let other = living[place], sessions[other].id == session.id {
            living[place] = nil
        }
    }
}
