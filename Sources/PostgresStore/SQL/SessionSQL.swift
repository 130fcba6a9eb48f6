internal import Sessions
internal import StoreFoundation

/// Every statement about sessions except those about all sessions of one user (`SessionSQL+OfUser.swift`).
enum SessionSQL {
    private static let withUser = """
        SELECT s.revision, \(SessionColumns.all.list(of: "s")), u.revision, \(UserColumns.all.list(of: "u"))
        FROM sessions s LEFT JOIN users u ON u.id = s.user_id
        """

    /// A session and its user, with the revisions that were read.
    struct Stored {
        let revision: Int64
        let session: Session
        /// Nil when the user was deleted.
        let userRevision: Int64?
        let user: User?
    }

    /// The read of a batch of refreshes.
    static func select(_ ids: ArrayParameter) -> Statement { Statement(selecting, ids) }

    private static let selecting = Template("\(withUser) WHERE s.id = ANY ($1::uuid[])")

    static func readStored(_ row: inout Row) throws(CorruptRow) -> Stored {
        let revision = row.integer()
        let session = try SessionColumns.read(&row)
        let userRevision = row.optional { row in row.integer() }
        let user = userRevision == nil ? nil : try UserColumns.read(&row)
        return Stored(revision: revision, session: session, userRevision: userRevision, user: user)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> Session { try SessionColumns.read(&row) }

    static func selectAll(_ ids: ArrayParameter) -> Statement { Statement(selectingAll, ids) }

    private static let selectingAll = Template(
        "SELECT \(SessionColumns.all.list) FROM sessions WHERE id = ANY ($1::uuid[])")

    /// The newest sessions that phones have let in with a key.
    static func selectLetIn(withKey thumbprint: String, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(SessionColumns.all.list) FROM sessions
            WHERE key_thumbprint = $1::text AND authentication_methods = 'phone'
            ORDER BY started_at DESC, id DESC LIMIT $2::bigint
            """, thumbprint, limit)
    }

    /// The one session without an end on an installation, if any; locked.
    static func selectLivingForUpdate(at place: Installation) -> Statement {
        Statement(selectingLivingForUpdate, place.userID, place.clientID, place.deviceID)
    }

    private static let selectingLivingForUpdate = Template(
        """
        SELECT \(SessionColumns.all.list) FROM sessions
        WHERE user_id = $1::uuid AND client_id = $2::text AND device_id = $3::text AND ended_at IS NULL
        FOR NO KEY UPDATE
        """)

    /// The sessions without an end on those installations.
    static func selectLiving(at places: [Installation]) -> Statement {
        var (clients, devices) = (ArrayParameter(of: .text), ArrayParameter(of: .text))
        for place in places {
            clients.append(place.clientID)
            devices.append(place.deviceID)
        }
        return Statement(selectingLiving, ArrayParameter(places.map(\.userID)), clients, devices)
    }

    private static let selectingLiving = Template(
        """
        SELECT \(SessionColumns.all.list(of: "s"))
        FROM unnest($1::uuid[], $2::text[], $3::text[]) AS v (user_id, client_id, device_id)
            JOIN sessions s ON s.user_id = v.user_id AND s.client_id = v.client_id AND s.device_id = v.device_id
        WHERE s.ended_at IS NULL
        """)

    /// Ends one locked session.
    static func end(_ id: Identifier<Session>, _ ending: Session.Ending) -> Statement {
        Statement(
            """
            WITH ended AS (
                UPDATE sessions SET ended_at = $2::bigint, ended_reason = $3::text, revision = revision + 1
                WHERE id = $1::uuid RETURNING id
            ), unlocked AS (
                DELETE FROM pins p USING ended e WHERE p.session_id = e.id
            )
            DELETE FROM provider_checks p USING ended e WHERE p.session_id = e.id
            """, id, ending.at, ending.reason.rawValue)
    }

    /// Writes confirmation and ending of a locked session after a provider's answer.
    static func updateConfirmation(of session: Session) -> Statement {
        Statement(
            """
            UPDATE sessions SET confirmed_by = $2::text, confirmed_at = $3::bigint, ended_at = $4::bigint,
                ended_reason = $5::text, revision = revision + 1
            WHERE id = $1::uuid
            """, session.id, session.confirmation?.provider, session.confirmation?.at, session.ending?.at,
            session.ending?.reason.rawValue)
    }

    /// Ends the sessions of a user: all, or those of one client or one device; one can be excepted.
    static func endAll(_ ending: UserChange.EndingSessions, of userID: Identifier<User>) -> Statement {
        Statement(
            """
            WITH ended AS (
                UPDATE sessions SET ended_at = $2::bigint, ended_reason = $3::text, revision = revision + 1
                WHERE user_id = $1::uuid AND ended_at IS NULL AND ($4::uuid IS NULL OR id <> $4::uuid)
                    AND ($5::text IS NULL OR client_id = $5::text) AND ($6::text IS NULL OR device_id = $6::text)
                RETURNING \(EndedSession.columns)
            ), released AS (
                DELETE FROM provider_checks p USING ended e WHERE p.session_id = e.id
            ), unlocked AS (
                DELETE FROM pins p USING ended e WHERE p.session_id = e.id
            )
            SELECT id, client_id, device_id, device_name FROM ended
            """, userID, ending.at, ending.reason.rawValue, ending.except, ending.clientID, ending.deviceID)
    }

    static func insert(_ session: Session, lookAt: Instant) -> Statement { insert(session, lookAt, inserting) }

    /// Adds a session, or writes the columns of the session with that id that can change, but a provider's confirmation.
    static func replace(_ session: Session, lookAt: Instant) -> Statement { insert(session, lookAt, replacing) }

    private static func insert(_ session: Session, _ lookAt: Instant, _ template: Template) -> Statement {
        var row = Parameters()
        SessionColumns.write(session, to: &row)
        row.add(lookAt)
        return Statement(template, parameters: row.all)
    }

    private static let inserting = Template(
        "INSERT INTO sessions (\(SessionColumns.inserted.list)) VALUES (\(SessionColumns.inserted.placeholders()))")
    private static let replacing = Template(
        """
        \(inserting.text)
        ON CONFLICT (id) DO UPDATE SET \(SessionColumns.imported.replacements), revision = sessions.revision + 1,
            look_at = least(sessions.look_at, excluded.look_at)
        """)

    static func selectByID(_ id: Identifier<Session>) -> Statement { Statement(selectingByID, id) }

    static func selectForUpdate(_ id: Identifier<Session>) -> Statement {
        Statement("\(selectingByID) FOR NO KEY UPDATE", id)
    }

    private static let selectingByID = "SELECT \(SessionColumns.all.list) FROM sessions WHERE id = $1::uuid"

    /// The read of one part of an export.
    static func selectInOrder(after cursor: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(SessionColumns.all.list) FROM sessions WHERE ($1::uuid IS NULL OR id > $1::uuid)
            ORDER BY id LIMIT $2::bigint
            """, cursor, limit)
    }

    private static let looking = "SELECT revision, \(SessionColumns.all.list), look_at FROM sessions"

    /// The read of one step of clean-up.
    static func selectLooks(_ selection: SessionSelection, limit: Int) -> Statement {
        switch selection {
        case .ended(let instant):
            Statement(
                """
                \(looking) WHERE ended_at IS NOT NULL AND ended_at <= $1::bigint ORDER BY ended_at LIMIT $2::bigint
                """, instant, limit)
        case .due(let instant):
            Statement(
                "\(looking) WHERE ended_at IS NULL AND look_at <= $1::bigint ORDER BY look_at LIMIT $2::bigint",
                instant, limit)
        case .after(let id):
            Statement("\(looking) WHERE id > $1::uuid ORDER BY id LIMIT $2::bigint", id, limit)
        }
    }

    static func readLook(_ row: inout Row) throws(CorruptRow) -> SessionLook {
        let revision = row.integer()
        let session = try SessionColumns.read(&row)
        return SessionLook(session: session, lookAt: row.instant(), row: revision)
    }

    /// Locks the sessions that clean-up is about to write, in the order of their ids, as every transaction does.
    static func lock(_ looks: [SessionLook]) -> Statement {
        Statement(
            "SELECT FROM sessions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE",
            ArrayParameter(looks.map(\.session.id)))
    }

    /// Moves looks. The revision stays, because no other node decides by the time of a look. A look is moved to a later time only
    /// if it is as it was found, and to an earlier one from any later.
    static func move(_ looks: [(look: SessionLook, next: Instant)]) -> Statement {
        var (old, new) = (ArrayParameter(of: .bigint), ArrayParameter(of: .bigint))
        for (look, next) in looks {
            old.append(look.lookAt)
            new.append(next)
        }
        return Statement(
            """
            UPDATE sessions s SET look_at = v.new
            FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS v (id, old, new)
            WHERE s.id = v.id AND s.ended_at IS NULL
                AND (s.look_at = v.old OR (v.new < v.old AND v.new < s.look_at))
            """, ArrayParameter(looks.map(\.look.session.id)), old, new)
    }

    /// Moves the looks at the sessions of a user forward to `instant`. A look that is due changes too, which keeps a step of
    /// clean-up that has read the user before from moving it to the end of before.
    static func lookEarlier(at userID: Identifier<User>, by instant: Instant) -> Statement {
        Statement(
            """
            UPDATE sessions s SET look_at = least(s.look_at - 1, $2::bigint)
            FROM (
                SELECT id FROM sessions WHERE user_id = $1::uuid AND ended_at IS NULL
                ORDER BY id FOR NO KEY UPDATE
            ) v WHERE s.id = v.id
            """, userID, instant)
    }

    /// Deletes the sessions that are as they were found.
    static func forget(_ looks: [SessionLook]) -> Statement {
        var revisions = ArrayParameter(of: .bigint)
        for look in looks { revisions.append(look.row) }
        return Statement(
            """
            WITH forgotten AS (
                DELETE FROM sessions s USING unnest($1::uuid[], $2::bigint[]) AS v (id, revision)
                WHERE s.id = v.id AND s.revision = v.revision RETURNING s.id
            ), released AS (
                DELETE FROM provider_checks p USING forgotten f WHERE p.session_id = f.id
            ), unlocked AS (
                DELETE FROM pins p USING forgotten f WHERE p.session_id = f.id
            )
            SELECT id FROM forgotten
            """, ArrayParameter(looks.map(\.session.id)), revisions)
    }
}
