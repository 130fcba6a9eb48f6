public import Sessions
internal import StoreFoundation

/// Who logs in, as a transaction has found out.
struct LoggingIn {
    let user: User
    /// The number of the row; nil for a user who is not there yet.
    let number: Int64?
    let arrival: SessionOpening.Arrival

    /// A user who is there.
    init(_ user: UserRow.Numbered, _ arrival: SessionOpening.Arrival = .known) {
        (self.user, number, self.arrival) = (user.user, user.number, arrival)
    }

    /// A user who is not there yet.
    init(new user: User) { (self.user, number, arrival) = (user, nil, .new) }
}

extension SQLiteStore {
    /// See `Store`.
    public func openSession<Outcome: Sendable>(
        by login: IdentityLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write { (transaction) throws(DatabaseError) -> Outcome? in
            guard let who = try Self.who(login, transaction.connection) else { return nil }
            return try Self.open(who, by: login, clientID: clientID, deviceID: deviceID, decide, in: transaction)
        }
    }

    private static func who(_ login: IdentityLogin, _ connection: Connection) throws(DatabaseError) -> LoggingIn? {
        if let known = try identity(login.key, connection) {
            guard let user = try UserRow.find(.id(known.userID), connection) else {
                throw .contradiction("an identity is nobody's")
            }
            return LoggingIn(user)
        }
        if let linked = try linked(login, connection) { return LoggingIn(linked, .linked) }
        for user in login.newUsers where try UserRow.find(.username(user.username), connection) == nil {
            return LoggingIn(new: user)
        }
        return nil
    }

    private static func linked(
        _ login: IdentityLogin, _ connection: Connection
    ) throws(DatabaseError) -> UserRow.Numbered? {
        guard let key = login.linkingKey else { return nil }
        let found = try connection.all(UserRow.selectMeant, key, IdentityLogin.namesakesMax) {
            (row) throws(CorruptRow) in try UserRow.read(&row)
        }
        guard let meant = login.meant(of: found.map(\.user)) else { return nil }
        let identities = try connection.all(IdentityRow.selectOfUser, meant.id) {
            (row) throws(CorruptRow) in try IdentityColumns.read(&row)
        }
        return login.mayLink(meant, having: identities) ? found.first { $0.user.id == meant.id } : nil
    }

    /// Lets `decide` start a session, and writes it with all that is new.
    static func open<Outcome>(
        _ who: LoggingIn, by login: IdentityLogin? = nil, clientID: String, deviceID: String,
        _ decide: (inout SessionOpening) -> Outcome, in transaction: Transaction
    ) throws(DatabaseError) -> Outcome {
        let connection = transaction.connection
        var previous: SessionRow.Numbered?
        if let number = who.number {
            previous = try connection.first(SessionRow.selectLiving, number, clientID, deviceID) {
                (row) throws(CorruptRow) in try SessionRow.read(&row)
            }
        }
        var isReplay = false
        if let login { isReplay = try UsedTokenRow.holds(login.token, connection) }
        var opening = SessionOpening(
            user: who.user, arrival: who.arrival, isReplay: isReplay, client: transaction.catalogue.clients[clientID],
            settings: transaction.catalogue.settings, previous: previous?.session)
        let outcome = decide(&opening)
        if let session = opening.session {
            if let previous {
                var ended = previous.session
                ended.end(.replaced, at: session.startedAt)
                try SessionRow.write(ended, over: previous.session, number: previous.number, connection)
            }
            if let login { try add(login, of: who, connection) }
            var number = who.number
            if number == nil { number = try UserRow.number(of: who.user.id, connection) }
            guard let number else {
                throw .contradiction("a user was added and is not there")
            }
            try SessionRow.insert(session, userNumber: number, connection)
            if let check = opening.providerCheck { try ProviderCheckRow.replace(check, connection) }
        }
        try EventRow.insert(opening.events, in: transaction)
        return outcome
    }

    private static func add(
        _ login: IdentityLogin, of who: LoggingIn, _ connection: Connection
    ) throws(DatabaseError) {
        if who.arrival == .new { try UserRow.insert(who.user, connection) }
        if who.arrival != .known {
            _ = try IdentityRow.insert(
                Identity(login.key, userID: who.user.id, linkedAt: login.at), connection)
        }
        _ = try UsedTokenRow.insert(login.token, connection)
    }
}
