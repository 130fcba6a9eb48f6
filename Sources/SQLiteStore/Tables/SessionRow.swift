internal import Sessions
internal import StoreFoundation

/// Every statement about sessions. A read row has its number before the columns.
enum SessionRow {
    private static let columns = "s.number, \(SessionColumns.all.list(of: "s"))"

    /// Joins the user with the session's user number. `readWithUser` takes it for the session's user only if the id matches.
    private static let withUser = """
        SELECT \(columns), \(UserRow.columns) FROM sessions s LEFT JOIN users u ON u.number = s.user_number
        """

    /// The read of a refresh: the number of the session's row from the index of ids, the row by the number, the user by the
    /// number in the row. The number comes from a separate select, because in one select SQLite would take the id from the
    /// index instead of the row, and `read` could not detect that a damaged index led to another session.
    static let selectWithUser = Query("\(withUser) WHERE s.number = (SELECT number FROM sessions WHERE id = ?)")

    /// The write of a refresh that moves serials and times only (`Session.isRotation`).
    static let updateRotation = Query(updating: SessionColumns.rotation, of: "sessions", "number = ?")

    /// The write of every other change of one session.
    static let update = Query(updating: SessionColumns.changing, of: "sessions", "number = ?")

    /// Writes confirmation and ending of a session after a provider's answer.
    static let updateConfirmation = Query(
        "UPDATE sessions SET confirmed_by = ?, confirmed_at = ?, ended_at = ?, ended_reason = ? WHERE id = ?")

    private static let insert = Query(inserting: "user_number", SessionColumns.inserted, into: "sessions")

    private static let replace = Query(
        inserting: "user_number", SessionColumns.inserted, into: "sessions",
        onConflict: """
            ON CONFLICT (id) DO UPDATE SET \(SessionColumns.imported.replacements),
                look_at = min(look_at, excluded.look_at)
            """)

    /// Ends one session, as a theft does. The caller has found that it has no end.
    static let end = Query("UPDATE sessions SET ended_at = ?, ended_reason = ? WHERE id = ?")

    /// The one session without an end on an installation, if any.
    private static let selectLiving = Query(
        """
        SELECT \(columns) FROM sessions s
        WHERE s.user_number = (SELECT number FROM users WHERE id = ?) AND s.client_id = ? AND s.device_id = ?
            AND s.ended_at IS NULL
        """)

    /// Ends the sessions of a user: all, or those of one client or one device; one can be excepted.
    static let endAll = Query(
        """
        UPDATE sessions SET ended_at = ?1, ended_reason = ?2
        WHERE user_number = ?3 AND ended_at IS NULL
            AND (?4 IS NULL OR id <> ?4) AND (?5 IS NULL OR client_id = ?5) AND (?6 IS NULL OR device_id = ?6)
        RETURNING \(EndedSession.columns)
        """)

    /// A page of a user's sessions, newest first. Active sessions and tombstones each have a partial index; a deleted user has
    /// no number, and only tombstones. Only the rows of the page are read whole.
    static let selectPage = Query(
        """
        SELECT \(columns) FROM sessions s WHERE s.number IN (
            SELECT number FROM (
                SELECT number, started_at, id FROM sessions
                WHERE user_number = ?1 AND ended_at IS NULL AND (started_at, id) < (?3, ?4)
                UNION ALL SELECT number, started_at, id FROM sessions
                WHERE user_id = ?2 AND ended_at IS NOT NULL AND (started_at, id) < (?3, ?4)
            ) ORDER BY started_at DESC, id DESC LIMIT ?5
        ) ORDER BY s.started_at DESC, s.id DESC
        """)

    /// The sessions without an end of a user on a device. The index has the client before the device, so the query steps from
    /// client to client instead of reading every session.
    static let selectOnDevice = Query(
        """
        WITH RECURSIVE apps (id) AS (
            SELECT min(client_id) FROM sessions WHERE user_number = ?1 AND ended_at IS NULL
            UNION ALL SELECT (
                SELECT min(client_id) FROM sessions
                WHERE user_number = ?1 AND client_id > apps.id AND ended_at IS NULL
            ) FROM apps WHERE apps.id IS NOT NULL
        )
        SELECT \(columns) FROM apps CROSS JOIN sessions s
        WHERE s.user_number = ?1 AND s.client_id = apps.id AND s.device_id = ?2 AND s.ended_at IS NULL
        """)

    /// Those of up to a given number of a user's sessions without an end that were refreshed last.
    static let selectLatest = Query(
        """
        SELECT \(columns) FROM sessions s WHERE s.number IN (
            SELECT number FROM (
                SELECT number, renewed_at, id FROM sessions
                WHERE user_number = ?1 AND ended_at IS NULL LIMIT ?2
            ) ORDER BY renewed_at DESC, id DESC LIMIT ?3
        ) ORDER BY s.renewed_at DESC, s.id DESC
        """)

    /// Whether one of a user's newest tombstones, up to a given number by row, is of a session on that device that started
    /// before that time.
    static let selectEnded = Query(
        """
        SELECT 1 FROM (
            SELECT device_id, started_at FROM sessions WHERE user_id = ?1 AND ended_at IS NOT NULL
            ORDER BY number DESC LIMIT ?2
        ) WHERE device_id = ?3 AND started_at < ?4 LIMIT 1
        """)

    private static let looking = "SELECT \(columns), s.look_at FROM sessions s"

    /// The reads of one step of clean-up.
    static let selectTombstones = Query(
        "\(looking) WHERE s.ended_at IS NOT NULL AND s.ended_at <= ? ORDER BY s.ended_at LIMIT ?")
    static let selectDue = Query("\(looking) WHERE s.ended_at IS NULL AND s.look_at <= ? ORDER BY s.look_at LIMIT ?")
    static let selectAfter = Query("\(looking) WHERE s.id > ? ORDER BY s.id LIMIT ?")

    /// Moves the look at a session, to a later time only if it is as it was found.
    static let move = Query(
        """
        UPDATE sessions SET look_at = ?1
        WHERE number = ?2 AND ended_at IS NULL AND (look_at = ?3 OR (?1 < ?3 AND ?1 < look_at))
        """)

    /// Moves the looks at the sessions of a user forward.
    static let lookEarlier = Query(
        "UPDATE sessions SET look_at = min(look_at - 1, ?1) WHERE user_number = ?2 AND ended_at IS NULL")

    /// The read of one part of an export.
    static let selectInOrder = Query("SELECT \(columns) FROM sessions s WHERE s.id > ? ORDER BY s.id LIMIT ?")

    /// The newest sessions that phones have let in with a key.
    static let selectLetIn = Query(
        """
        SELECT \(columns) FROM sessions s WHERE s.key_thumbprint = ? AND s.authentication_methods = 'phone'
        ORDER BY s.started_at DESC, s.number DESC LIMIT ?
        """)

    static let selectByID = Query("SELECT \(columns) FROM sessions s WHERE s.id = ?")

    static let delete = Query("DELETE FROM sessions WHERE number = ?")

    static func readSession(_ row: inout Row) throws(CorruptRow) -> Session {
        row.skip(1)
        return try SessionColumns.read(&row)
    }

    static func readLook(_ row: inout Row) throws(CorruptRow) -> SessionLook {
        let number = row.integer()
        let session = try SessionColumns.read(&row)
        return SessionLook(session: session, lookAt: row.instant(), row: number)
    }

    /// The session without a recorded end on an installation.
    static func living(at place: Installation, _ connection: Connection) throws(DatabaseError) -> Session? {
        try connection.first(
            selectLiving, place.userID, place.clientID, place.deviceID
        ) { (row) throws(CorruptRow) in
            let session = try readSession(&row)
            // The index of ids gives the number alone, and a damaged one that of another user.
            guard session.userID == place.userID else { throw CorruptRow("session \(session.id) has another user") }
            return session
        }
    }

    /// A session with the number of its row, and its user.
    struct Found {
        let number: Int64
        let session: Session
        /// Nil when the user was deleted.
        let user: User?
    }

    /// Reads a session and its user. The session must be the one that `known` names.
    static func readWithUser(_ row: inout Row, known: Identifier<Session>? = nil) throws(CorruptRow) -> Found {
        let number = row.integer()
        let session = try SessionColumns.read(&row, known: known)
        let user = row.isNull ? nil : try UserRow.read(&row).user
        return Found(number: number, session: session, user: user?.id == session.userID ? user : nil)
    }

    /// Finds the session with that id, and its user.
    static func find(_ id: Identifier<Session>, _ connection: Connection) throws(DatabaseError) -> Found? {
        try connection.first(selectWithUser, id) { (row) throws(CorruptRow) in try readWithUser(&row, known: id) }
    }

    /// Writes the differences between a stored session and `new`.
    static func write(_ new: Session, over old: Session, number: Int64, _ connection: Connection) throws(DatabaseError)
    {
        if new == old { return }
        if new.isRotation(of: old) {
            try connection.execute(updateRotation) { row in
                SessionColumns.writeRotation(new, to: &row)
                row.add(number)
            }
        } else {
            try connection.execute(update) { row in
                SessionColumns.writeChanging(new, to: &row)
                row.add(number)
            }
            if new.ending != nil, old.ending == nil { try connection.execute(ProviderCheckRow.delete, new.id) }
        }
    }

    /// Adds a session.
    static func insert(
        _ session: Session, lookAt: Instant, userNumber: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.execute(insert) { row in write(session, lookAt, userNumber, to: &row) }
    }

    /// Adds a session, or writes the columns of the session with that id that can change, but a provider's confirmation.
    static func replace(
        _ session: Session, lookAt: Instant, userNumber: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.execute(replace) { row in write(session, lookAt, userNumber, to: &row) }
    }

    private static func write(_ session: Session, _ lookAt: Instant, _ userNumber: Int64, to row: inout Parameters) {
        row.add(userNumber)
        SessionColumns.write(session, to: &row)
        row.add(lookAt)
    }
}
