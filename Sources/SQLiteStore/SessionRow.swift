internal import Sessions

/// Every statement about sessions, and how a row becomes a value.
enum SessionRow {
    /// The columns that `read` reads, in its order; the row's number comes first.
    private static let columns = """
        s.number, s.id, s.user_id, s.client_id, s.device_id, s.device_name, s.device_platform, s.device_app_version, \
        s.authentication_mode, s.scope, s.authentication_methods, s.key_thumbprint, s.epoch, s.started_at, s.parent, \
        s.child, s.child_answered_at, s.child_request_key, s.ended_at, s.ended_reason
        """

    /// The plus keeps SQLite from looking for the id in its index: the number leads to the row at once.
    private static let withUser = """
        SELECT \(columns), \(UserRow.columns)
        FROM sessions s LEFT JOIN users u ON u.number = s.user_number AND +u.id = s.user_id
        """

    /// A refresh reads this: the number of the session's row from the index of ids, the row by the number, the user by
    /// the number in the row. In two steps, because in one SQLite would take the id from the index and not from the row,
    /// and `read` could not find out that a damaged index led to somebody else's.
    static let selectWithUser = Query(
        """
        SELECT \(columns), \(UserRow.columns)
        FROM sessions i CROSS JOIN sessions s ON s.number = i.number
            LEFT JOIN users u ON u.number = s.user_number AND +u.id = s.user_id
        WHERE i.id = ?
        """)

    /// A refresh writes this, and nothing else.
    static let updateRotation = Query(
        """
        UPDATE sessions SET parent = ?, child = ?, child_answered_at = ?, child_request_key = ? WHERE number = ?
        """)

    /// Every other change of one session writes this: all that is not fixed at the start.
    static let update = Query(
        """
        UPDATE sessions SET device_name = ?, device_platform = ?, device_app_version = ?, authentication_mode = ?,
            parent = ?, child = ?, child_answered_at = ?, child_request_key = ?, ended_at = ?, ended_reason = ?
        WHERE number = ?
        """)

    static let insert = Query(
        """
        INSERT INTO sessions (id, user_id, user_number, client_id, device_id, device_name, device_platform, device_app_version,
            authentication_mode, scope, authentication_methods, key_thumbprint, epoch, started_at, parent, child,
            child_answered_at, child_request_key, ended_at, ended_reason)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    /// The one session that lives on a device, if any.
    static let selectLiving = Query(
        """
        SELECT \(columns) FROM sessions s
        WHERE s.user_number = ? AND s.client_id = ? AND s.device_id = ? AND s.ended_at IS NULL
        """)

    /// Ends the sessions of a user: all, or those of one client, one device; one can be spared.
    static let endAll = Query(
        """
        UPDATE sessions SET ended_at = ?1, ended_reason = ?2
        WHERE user_number = ?3 AND ended_at IS NULL
            AND (?4 IS NULL OR id <> ?4) AND (?5 IS NULL OR client_id = ?5) AND (?6 IS NULL OR device_id = ?6)
        """)

    /// A page of a user's sessions, newest first. Each half has its partial index; a deleted user has no number, and
    /// only tombstones.
    static let selectPage = Query(
        """
        SELECT \(columns) FROM sessions s WHERE s.number IN (
            SELECT number FROM sessions WHERE user_number = ?1 AND ended_at IS NULL
            UNION ALL SELECT number FROM sessions WHERE user_id = ?2 AND ended_at IS NOT NULL
        ) AND (s.started_at, s.id) < (?3, ?4)
        ORDER BY s.started_at DESC, s.id DESC LIMIT ?5
        """)

    /// A step of clean-up reads this.
    static let selectStep = Query(
        "\(withUser) WHERE s.id > ? ORDER BY s.id LIMIT ?")

    /// A part of an export reads this.
    static let selectInOrder = Query("SELECT \(columns) FROM sessions s WHERE s.id > ? ORDER BY s.id LIMIT ?")

    static let selectByID = Query("SELECT \(columns) FROM sessions s WHERE s.id = ?")

    static let delete = Query("DELETE FROM sessions WHERE number = ?")

    /// A session with the number of its row.
    struct Numbered {
        let number: Int64
        let session: Session
    }

    /// Reads the columns of a session; its id is compared with the one that is `known`.
    static func read(
        _ row: inout Row, known: Identifier<Session>? = nil
    ) throws(DatabaseError) -> Numbered {
        let number = row.integer()
        let id = try row.identifier(known)
        let userID = try row.identifier(nil as Identifier<User>?)
        let clientID = row.text()
        let device = Device(
            id: row.text(), name: row.optionalText(), platform: row.optionalText(), appVersion: row.optionalText())
        let authenticationMode = try row.word(as: AuthenticationMode.self)
        guard let scope = Scope(row.text()) else { throw .contradiction("session \(id) has an impossible scope") }
        let authenticationMethods = row.words()
        let keyThumbprint = row.optionalText()
        let epoch = row.integer()
        let startedAt = row.instant()
        let parent = row.unsigned()
        let child = row.unsigned()
        let childAnsweredAt = row.instant()
        let childRequestKey = try row.optional { row in row.unsigned() }
        let endedAt = try row.optional { row in row.instant() }
        let reason = try row.optional { (row) throws(DatabaseError) in try row.word(as: EndReason.self) }
        guard (endedAt == nil) == (reason == nil) else {
            throw .contradiction("session \(id) has half an ending")
        }
        var ending: Session.Ending?
        if let endedAt, let reason { ending = Session.Ending(reason: reason, at: endedAt) }
        return Numbered(
            number: number,
            session: Session(
                id: id, userID: userID, clientID: clientID, device: device, authenticationMode: authenticationMode,
                scope: scope, authenticationMethods: authenticationMethods, keyThumbprint: keyThumbprint,
                startedAt: startedAt, epoch: epoch, parent: parent, child: child, childAnsweredAt: childAnsweredAt,
                childRequestKey: childRequestKey, ending: ending))
    }

    /// Reads the columns of a session and those of its user.
    static func readRecord(
        _ row: inout Row, known: Identifier<Session>? = nil, _ catalogue: Catalogue
    ) throws(DatabaseError) -> (number: Int64, record: SessionRecord) {
        let stored = try read(&row, known: known)
        let user = row.isNull ? nil : try UserRow.read(&row, known: stored.session.userID).user
        return (
            stored.number,
            SessionRecord(
                session: stored.session, user: user, client: catalogue.clients[stored.session.clientID],
                settings: catalogue.settings)
        )
    }

    /// Writes what differs between a stored session and `new`.
    static func write(_ new: Session, over old: Session, number: Int64, _ connection: Connection) throws(DatabaseError)
    {
        if new == old { return }
        if new.ending == old.ending, new.device == old.device, new.authenticationMode == old.authenticationMode {
            try connection.execute(
                updateRotation, new.parent, new.child, new.childAnsweredAt, new.childRequestKey, number)
        } else {
            try connection.execute(
                update, new.device.name, new.device.platform, new.device.appVersion, new.authenticationMode.rawValue,
                new.parent, new.child, new.childAnsweredAt, new.childRequestKey, new.ending?.at,
                new.ending?.reason.rawValue, number)
        }
    }

    /// Adds a session.
    static func insert(
        _ session: Session, userNumber: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.execute(
            insert, session.id, session.userID, userNumber, session.clientID, session.device.id, session.device.name,
            session.device.platform, session.device.appVersion, session.authenticationMode.rawValue,
            session.scope.description, session.authenticationMethods.joined(separator: " "), session.keyThumbprint,
            session.epoch, session.startedAt, session.parent, session.child, session.childAnsweredAt,
            session.childRequestKey, session.ending?.at, session.ending?.reason.rawValue)
    }
}

extension Row {
    /// A list of words parted by spaces.
    mutating func words() -> [String] { text().split(separator: " ").map(String.init) }
}
