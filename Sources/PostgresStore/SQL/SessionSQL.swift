internal import Sessions
internal import StoreFoundation

/// Every statement about sessions but those about all of one user (`SessionSQL+OfUser.swift`).
enum SessionSQL {
    private static let withUser = """
        SELECT s.revision, \(SessionColumns.all.list(of: "s")), u.revision, \(UserColumns.all.list(of: "u"))
        FROM sessions s LEFT JOIN users u ON u.id = s.user_id
        """

    /// A session with the revisions of what was read.
    struct Stored {
        let revision: Int64
        let session: Session
        /// Nil when the user was deleted.
        let userRevision: Int64?
        let user: User?

        func record(_ catalogue: Catalogue) -> SessionRecord {
            SessionRecord(
                session: session, user: user, client: catalogue.clients[session.clientID], settings: catalogue.settings)
        }
    }

    /// A batch of refreshes reads this.
    static func select(_ ids: ArrayParameter) -> Statement { Statement(selecting, ids) }

    private static let selecting = Template("\(withUser) WHERE s.id = ANY ($1::uuid[])")

    /// A step of clean-up reads this.
    static func selectStep(after cursor: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            "\(withUser) WHERE ($1::uuid IS NULL OR s.id > $1::uuid) ORDER BY s.id LIMIT $2::bigint", cursor, limit)
    }

    static func readStored(_ row: inout Row) throws(CorruptRow) -> Stored {
        let revision = row.integer()
        let session = try SessionColumns.read(&row)
        let userRevision = row.optional { row in row.integer() }
        let user = userRevision == nil ? nil : try UserColumns.read(&row)
        return Stored(revision: revision, session: session, userRevision: userRevision, user: user)
    }

    /// The one session that lives on a device, if any; locked.
    static func selectLiving(_ userID: Identifier<User>, _ clientID: String, _ deviceID: String) -> Statement {
        Statement(selectingLiving, userID, clientID, deviceID)
    }

    private static let selectingLiving = Template(
        """
        SELECT \(SessionColumns.all.list) FROM sessions
        WHERE user_id = $1::uuid AND client_id = $2::text AND device_id = $3::text AND ended_at IS NULL
        FOR NO KEY UPDATE
        """)

    /// Ends one session that is locked.
    static func end(_ id: Identifier<Session>, _ ending: Session.Ending) -> Statement {
        Statement(
            """
            WITH ended AS (
                UPDATE sessions SET ended_at = $2::bigint, ended_reason = $3::text, revision = revision + 1
                WHERE id = $1::uuid RETURNING id
            )
            DELETE FROM provider_checks p USING ended e WHERE p.session_id = e.id
            """, id, ending.at, ending.reason.rawValue)
    }

    /// Writes what a provider's answer has changed of a session that is locked.
    static func update(
        _ id: Identifier<Session>, _ ending: Session.Ending?, _ confirmation: ProviderConfirmation?
    ) -> Statement {
        Statement(
            """
            UPDATE sessions SET confirmed_by = $2::text, confirmed_at = $3::bigint, ended_at = $4::bigint,
                ended_reason = $5::text, revision = revision + 1
            WHERE id = $1::uuid
            """, id, confirmation?.provider, confirmation?.at, ending?.at, ending?.reason.rawValue)
    }

    /// Ends the sessions of a user: all, or those of one client, one device; one can be spared.
    static func endAll(_ ending: UserChange.EndingSessions, of userID: Identifier<User>) -> Statement {
        Statement(
            """
            WITH ended AS (
                UPDATE sessions SET ended_at = $2::bigint, ended_reason = $3::text, revision = revision + 1
                WHERE user_id = $1::uuid AND ended_at IS NULL AND ($4::uuid IS NULL OR id <> $4::uuid)
                    AND ($5::text IS NULL OR client_id = $5::text) AND ($6::text IS NULL OR device_id = $6::text)
                RETURNING id, client_id, device_id
            ), released AS (
                DELETE FROM provider_checks p USING ended e WHERE p.session_id = e.id
            )
            SELECT id, client_id, device_id FROM ended
            """, userID, ending.at, ending.reason.rawValue, ending.except, ending.clientID, ending.deviceID)
    }

    static func insert(_ session: Session) -> Statement { insert(session, inserting) }

    /// Adds a session, or gives the one with that id everything that can change of it.
    static func replace(_ session: Session) -> Statement { insert(session, replacing) }

    private static func insert(_ session: Session, _ template: Template) -> Statement {
        Statement(
            template, session.id, session.userID, session.clientID, session.device.id, session.device.name,
            session.device.platform, session.device.appVersion, session.authenticationMode.rawValue,
            session.scope.description, session.authenticationMethods.joined(separator: " "), session.keyThumbprint,
            session.epoch, session.startedAt, session.parent, session.child, session.childAnsweredAt,
            session.childRequestKey, session.ending?.at, session.ending?.reason.rawValue, session.deviceKey,
            session.presence.key, session.presence.provenAt, session.presence.passwordAt,
            session.resources.joined(separator: " "), session.confirmation?.provider, session.confirmation?.at,
            session.childConfirmedAt)
    }

    private static let inserting = Template(
        """
        INSERT INTO sessions (\(SessionColumns.all.list))
        VALUES ($1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text,
            $11::text, $12::bigint, $13::bigint, $14::bigint, $15::bigint, $16::bigint, $17::bigint, $18::bigint,
            $19::text, $20::text, $21::text, $22::bigint, $23::bigint, $24::text, $25::text, $26::bigint,
            $27::bigint)
        """)
    private static let replacing = Template(
        """
        \(inserting.text)
        ON CONFLICT (id) DO UPDATE SET device_name = excluded.device_name,
            device_platform = excluded.device_platform, device_app_version = excluded.device_app_version,
            authentication_mode = excluded.authentication_mode, parent = excluded.parent, child = excluded.child,
            child_answered_at = excluded.child_answered_at, child_request_key = excluded.child_request_key,
            child_confirmed_at = excluded.child_confirmed_at, ended_at = excluded.ended_at,
            ended_reason = excluded.ended_reason, presence_key = excluded.presence_key,
            presence_proven_at = excluded.presence_proven_at,
            password_proven_at = excluded.password_proven_at, revision = sessions.revision + 1
        """)

    static func selectByID(_ id: Identifier<Session>, locked: String = "") -> Statement {
        Statement("SELECT \(SessionColumns.all.list) FROM sessions WHERE id = $1::uuid \(locked)", id)
    }

    /// A part of an export reads this.
    static func selectInOrder(after cursor: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(SessionColumns.all.list) FROM sessions WHERE ($1::uuid IS NULL OR id > $1::uuid)
            ORDER BY id LIMIT $2::bigint
            """, cursor, limit)
    }

    static func delete(_ ids: ArrayParameter, _ revisions: ArrayParameter) -> Statement {
        Statement(
            """
            WITH forgotten AS (
                DELETE FROM sessions s USING unnest($1::uuid[], $2::bigint[]) AS v (id, revision)
                WHERE s.id = v.id AND s.revision = v.revision RETURNING s.id
            ), released AS (
                DELETE FROM provider_checks p USING forgotten f WHERE p.session_id = f.id
            )
            SELECT id FROM forgotten
            """, ids, revisions)
    }
}
