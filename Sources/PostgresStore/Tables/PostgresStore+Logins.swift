public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`.
    public func openSession<Outcome: Sendable>(
        userID: Identifier<User>, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let (key, clock) = (Int(userID.bytes.last ?? 0), options.clock)
        return try await change(TransactionLock.doors.shared, by: key) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run(
                [UserSQL.select(.id(userID), locked: UserSQL.forChange)]
                    + Self.surroundings(of: userID, clientID: clientID, deviceID: deviceID))
            guard let user = try rows[0].first({ (row) throws(CorruptRow) in try UserColumns.read(&row) }) else {
                return nil
            }
            let (catalogue, previous) = try Self.surroundings(rows.dropFirst())
            var opening = SessionOpening(
                user: user, client: catalogue.clients[clientID], settings: catalogue.settings, previous: previous)
            let outcome = decide(&opening)
            Self.write(opening, catalogue, transaction, at: clock.now)
            return outcome
        }
    }

    /// See `Store`. The token is used up first of all, and all that is new is written, so that whoever is about to do the same
    /// waits for the outcome; when no session is started, it is taken back.
    public func openSession<Outcome: Sendable>(
        by login: IdentityLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let (key, clock) = (Int(login.token.digest[0]), options.clock)
        return try await change(TransactionLock.doors.shared, by: key) { (transaction) throws(DatabaseError) in
            transaction.add(Statement("SAVEPOINT login"))
            let isReplay = try transaction.run(UsedTokenSQL.insert(login.token)).changedCount == 0
            guard let (user, arrival) = try Self.who(login, transaction) else {
                transaction.add(Statement("ROLLBACK TO SAVEPOINT login"))
                return nil
            }
            let rows = try transaction.run(
                Self.surroundings(of: user.id, clientID: clientID, deviceID: deviceID))
            let (catalogue, previous) = try Self.surroundings(rows[...])
            var opening = SessionOpening(
                user: user, arrival: arrival, isReplay: isReplay, client: catalogue.clients[clientID],
                settings: catalogue.settings, previous: previous)
            let outcome = decide(&opening)
            if opening.session == nil { transaction.add(Statement("ROLLBACK TO SAVEPOINT login")) }
            Self.write(opening, catalogue, transaction, at: clock.now)
            return outcome
        }
    }

    /// Whose login it is: a user whose row is locked, or who was just added.
    private static func who(
        _ login: IdentityLogin, _ transaction: Transaction
    ) throws(DatabaseError) -> (User, SessionOpening.Arrival)? {
        if let known = try known(login.key, transaction) { return (known, .known) }
        let linked = try linked(login, transaction)
        guard let userID = linked?.id ?? login.newUsers.first?.id else { return nil }
        let identity = Identity(login.key, userID: userID, linkedAt: login.at)
        guard try transaction.run(IdentitySQL.insert(identity)).changedCount == 1 else {
            // Somebody was quicker by a moment, and has committed.
            guard let known = try known(login.key, transaction) else {
                throw .contradiction("an identity is there and is not")
            }
            return (known, .known)
        }
        if let linked { return (linked, .linked) }
        for user in login.newUsers where try transaction.run(UserSQL.insert(user)).changedCount == 1 {
            return (user, .new)
        }
        return nil
    }

    private static func known(_ key: Identity.Key, _ transaction: Transaction) throws(DatabaseError) -> User? {
        guard let identity = try IdentitySQL.read(try transaction.run(IdentitySQL.select(key))).first else {
            return nil
        }
        let rows = try transaction.run(UserSQL.select(.id(identity.userID), locked: UserSQL.forChange))
        guard let user = try rows.first({ (row) throws(CorruptRow) in try UserColumns.read(&row) }) else {
            throw .contradiction("an identity is nobody's")
        }
        return user
    }

    private static func linked(_ login: IdentityLogin, _ transaction: Transaction) throws(DatabaseError) -> User? {
        guard let key = login.linkingKey else { return nil }
        let found = try transaction.run(UserSQL.selectMeant(by: key, limit: IdentityLogin.namesakesMax))
        guard
            let meant = login.meant(of: try found.map { (row) throws(CorruptRow) in try UserColumns.read(&row) })
        else { return nil }
        // Of two who are about to link the same user, the second sees what the first has linked.
        let rows = try transaction.run([
            UserSQL.select(.id(meant.id), locked: UserSQL.forChange), IdentitySQL.select(of: meant.id),
        ])
        let locked = try rows[0].map { (row) throws(CorruptRow) in try UserColumns.read(&row) }
        guard let user = login.meant(of: locked), login.mayLink(user, having: try IdentitySQL.read(rows[1])) else {
            return nil
        }
        return user
    }

    /// What a login depends on beside its user.
    private static func surroundings(of userID: Identifier<User>, clientID: String, deviceID: String) -> [Statement] {
        [
            SessionSQL.selectLiving(userID, clientID, deviceID), CatalogueCache.revision, CatalogueSQL.selectSettings,
            CatalogueSQL.selectClients,
        ]
    }

    private static func surroundings(_ rows: ArraySlice<Rows>) throws(DatabaseError) -> (Catalogue, Session?) {
        let rows = Array(rows)
        let previous = try rows[0].first { (row) throws(CorruptRow) in try SessionColumns.read(&row) }
        return (try CatalogueCache.entry(rows[1], rows[2], rows[3]).catalogue, previous)
    }

    private static func write(
        _ opening: SessionOpening, _ catalogue: Catalogue, _ transaction: Transaction, at now: Instant
    ) {
        if let session = opening.session {
            if let previous = opening.previous {
                let ending = Session.Ending(reason: .replaced, at: session.startedAt)
                transaction.add(SessionSQL.end(previous.id, ending))
            }
            transaction.add(SessionSQL.insert(session))
            if let check = opening.providerCheck { transaction.add(ProviderCheckSQL.replace(check)) }
        }
        for statement in EventSQL.insert(opening.events, catalogue, at: now) { transaction.add(statement) }
    }
}
