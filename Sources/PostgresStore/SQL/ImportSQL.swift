internal import Sessions
internal import StoreFoundation

/// Statements that read what a batch of records meets.
enum ImportSQL {
    static func users(_ ids: ArrayParameter, _ keys: ArrayParameter) -> Statement {
        Statement(selectingUsers, ids, keys)
    }

    private static let selectingUsers = Template(
        """
        SELECT \(UserColumns.all.list) FROM users WHERE id = ANY ($1::uuid[])
        UNION ALL
        SELECT \(UserColumns.all.list) FROM users WHERE username_key = ANY ($2::text[])
        """)

    static func sessions(_ ids: ArrayParameter) -> Statement { Statement(selectingSessions, ids) }

    private static let selectingSessions = Template(
        "SELECT \(SessionColumns.all.list) FROM sessions WHERE id = ANY ($1::uuid[])")

    static func living(_ users: ArrayParameter, _ clients: ArrayParameter, _ devices: ArrayParameter) -> Statement {
        Statement(selectingLiving, users, clients, devices)
    }

    private static let selectingLiving = Template(
        """
        SELECT \(SessionColumns.all.list(of: "s"))
        FROM unnest($1::uuid[], $2::text[], $3::text[]) AS v (user_id, client_id, device_id)
            JOIN sessions s ON s.user_id = v.user_id AND s.client_id = v.client_id AND s.device_id = v.device_id
        WHERE s.ended_at IS NULL
        """)

    private static let selectingExisting = Template("SELECT id FROM users WHERE id = ANY ($1::uuid[])")

    static func existing(_ ids: ArrayParameter) -> Statement { Statement(selectingExisting, ids) }

    static func named(_ keys: ArrayParameter) -> Statement { Statement(selectingNamed, keys) }

    private static let selectingNamed = Template(
        "SELECT id, username_key FROM users WHERE username_key = ANY ($1::text[])")

    /// Which of those users there are, and the mode with what the trail tells until now.
    static func existing(
        _ ids: [Identifier<User>], _ mode: ImportMode, _ transaction: Transaction
    ) throws(DatabaseError) -> (Set<Identifier<User>>, ImportMode) {
        let rows = try transaction.run([existing(array(Set(ids)))] + news(mode))
        return (try read(rows[0]), try knowing(rows.dropFirst().first, mode))
    }

    /// What reads the news of the trail for an import of that mode; nothing if they do not matter.
    static func news(_ mode: ImportMode) -> [Statement] { mode.place.map { [EventSQL.selectNews(after: $0)] } ?? [] }

    /// The mode, with the answer to `news`.
    static func knowing(_ rows: Rows?, _ mode: ImportMode) throws(DatabaseError) -> ImportMode {
        guard let rows else { return mode }
        return mode.knowing(try rows.map { (row) throws(CorruptRow) in try EventColumns.read(&row) })
    }

    static func read(_ rows: Rows) throws(DatabaseError) -> Set<Identifier<User>> {
        Set(try rows.map { (row) throws(CorruptRow) -> Identifier<User> in try row.identifier() })
    }

    static func array<Subject>(_ ids: some Sequence<Identifier<Subject>>) -> ArrayParameter {
        var array = ArrayParameter(of: .uuid)
        for id in ids { array.append(id) }
        return array
    }
}

/// The users that a batch of users meets: those with the same ids, and those with the same names. What is written is noted, so
/// that each sees what the one before has made of it.
struct MetUsers {
    private(set) var byID: [Identifier<User>: User] = [:]
    private(set) var idsByKey: [String: Identifier<User>] = [:]

    /// What reads them.
    static func selecting(_ users: [User]) -> Statement {
        var keys = ArrayParameter(of: .text)
        for user in users { keys.append(Text.key(user.username)) }
        return ImportSQL.users(ImportSQL.array(users.map(\.id)), keys)
    }

    init(_ rows: Rows) throws(DatabaseError) {
        for user in try rows.map({ (row) throws(CorruptRow) in try UserColumns.read(&row) }) { note(user) }
    }

    mutating func note(_ user: User) {
        // A name that was given up is free.
        if let old = byID.updateValue(user, forKey: user.id) { idsByKey[Text.key(old.username)] = nil }
        idsByKey[Text.key(user.username)] = user.id
    }
}

/// The sessions and users that a batch of sessions meets.
struct MetSessions {
    private struct Place: Hashable {
        let userID: Identifier<User>
        let clientID: String
        let deviceID: String

        init(_ session: Session) {
            (userID, clientID, deviceID) = (session.userID, session.clientID, session.device.id)
        }
    }

    private var byID: [Identifier<Session>: Session] = [:]
    private var living: [Place: Session] = [:]
    private let users: Set<Identifier<User>>
    private let mode: ImportMode

    init(_ sessions: [Session], _ mode: ImportMode, _ transaction: Transaction) throws(DatabaseError) {
        var clients = ArrayParameter(of: .text)
        var devices = ArrayParameter(of: .text)
        for session in sessions {
            clients.append(session.clientID)
            devices.append(session.device.id)
        }
        let rows = try transaction.run(
            [
                ImportSQL.sessions(ImportSQL.array(sessions.map(\.id))),
                ImportSQL.living(ImportSQL.array(sessions.map(\.userID)), clients, devices),
                ImportSQL.existing(ImportSQL.array(Set(sessions.map(\.userID)))),
            ] + ImportSQL.news(mode))
        self.mode = try ImportSQL.knowing(rows.dropFirst(3).first, mode)
        users = try ImportSQL.read(rows[2])
        for met in rows.prefix(2) {
            for session in try met.map({ (row) throws(CorruptRow) in try SessionColumns.read(&row) }) {
                note(session)
            }
        }
    }

    /// What a session meets, as it stands.
    func meeting(_ session: Session) -> SessionImport {
        let living = living[Place(session)]
        return SessionImport(
            session: session, stored: byID[session.id], living: living?.id == session.id ? nil : living,
            hasUser: users.contains(session.userID), isOver: mode.hasEnded(session))
    }

    mutating func note(_ session: Session) {
        byID[session.id] = session
        let place = Place(session)
        if session.ending == nil {
            living[place] = session
        } else if living[place]?.id == session.id {
            living[place] = nil
        }
    }
}
