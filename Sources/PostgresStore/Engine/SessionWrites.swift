internal import Sessions
internal import StoreFoundation

/// The changes of a batch of sessions, column by column, as two statements: one for sessions that only rotated, which are
/// nearly all, and one for the others. Each statement compares and swaps: if another node has changed the session, its user,
/// settings or clients since the read, the session is not written and its id is not returned.
struct SessionWrites {
    private var ids = ArrayParameter(of: .uuid)
    /// The numbers of the locks of the sessions' users.
    private var users: Set<Int32> = []
    private var rotations = Self.noRotations
    private var others = Self.noChanges
    private var events = EventSQL.noRows
    private var revocations = RevocationSQL.noRows

    private static let noRotations = ColumnArrays { row in
        write(example.session, over: example, to: &row, SessionColumns.writeRotation)
    }
    private static let noChanges = ColumnArrays { row in
        write(example.session, over: example, to: &row, SessionColumns.writeChanging)
    }

    /// A session that gives the columns their types.
    private static let example: SessionSQL.Stored = {
        let session = Session(
            id: Identifier(words: (0, 0)), userID: Identifier(words: (0, 0)), clientID: "", device: Device(id: ""),
            startedAt: Instant(secondsSinceEpoch: 0), epoch: 0)
        return SessionSQL.Stored(revision: 0, session: session, userRevision: nil, user: nil)
    }()

    /// Writes the id and the revisions that the statement compares, and the columns that `change` writes.
    private static func write(
        _ session: Session, over stored: SessionSQL.Stored, to row: inout ColumnArrays,
        _ change: (Session, inout ColumnArrays) -> Void
    ) {
        row.add(session.id)
        row.add(stored.revision)
        row.add(stored.userRevision)
        change(session, &row)
    }

    var isEmpty: Bool { rotations.count == 0 && others.count == 0 }

    /// Shares the locks of the users of all sessions.
    var sharingUsers: Statement { UserLocks(sharing: users).taking }

    /// What the statements need beforehand: the rows locked in the order of ids, as in every transaction, and then the numbers of
    /// the events announced. A batch that only rotates locks each row as it writes it.
    var locks: [Statement] {
        if others.count == 0 { return [] }
        if events.count == 0 { return [Statement(Self.locking, ids)] }
        let tables: Set<FollowedTable> = revocations.count > 0 ? [.events, .revocations] : [.events]
        return [Statement(Self.locking, ids), FollowedTable.announce(tables)]
    }

    private static let locking = Template(
        "SELECT FROM sessions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE")

    /// Adds the change from `stored` to `session` and `events`, if there is one. Must be called in the order of ids.
    mutating func add(
        _ session: Session, _ events: [(AuditEvent, Revocation?)], over stored: SessionSQL.Stored
    ) {
        let old = stored.session
        if session == old, events.isEmpty { return }
        ids.append(session.id)
        users.insert(UserLocks.number(of: session.userID))
        if events.isEmpty, session.isRotation(of: old) {
            rotations.append { row in
                Self.write(session, over: stored, to: &row, SessionColumns.writeRotation)
            }
            return
        }
        others.append { row in Self.write(session, over: stored, to: &row, SessionColumns.writeChanging) }
        for (event, revocation) in events {
            EventSQL.add(event, revocation, guardedBy: session.id, to: &self.events)
            if let revocation { RevocationSQL.add(revocation, guardedBy: session.id, to: &revocations) }
        }
    }

    /// The condition that session, user and catalogue are unchanged and the decision deadline has not passed. The deadline is
    /// compared with the server's own clock, in microseconds, so that a request that was delayed on its way is not decided when
    /// it arrives.
    private static let isUnchanged = """
        s.id = v.id AND s.revision = v.revision
            AND v.user_revision IS NOT DISTINCT FROM (SELECT u.revision FROM users u WHERE u.id = s.user_id)
            AND (SELECT revision FROM catalogue_revision) = $1::bigint
            AND clock_timestamp() < (SELECT to_timestamp($2::bigint / 1000000.0::double precision))
        """

    /// The statements. Each returns the ids that it wrote.
    func statements(catalogue: Int64, before end: Int64) -> [Statement] {
        (rotations.count > 0 ? [rotate(catalogue, end)] : []) + (others.count > 0 ? [change(catalogue, end)] : [])
    }

    private func rotate(_ catalogue: Int64, _ end: Int64) -> Statement {
        Statement(Self.rotating, parameters: [catalogue.parameter, end.parameter] + rotations.parameters)
    }

    private static let rotating = Template("\(updating(SessionColumns.rotation, from: noRotations)) RETURNING s.id")

    /// Assigns `columns` in the sessions that are unchanged.
    private static func updating(_ columns: Columns, from rows: ColumnArrays) -> String {
        """
        UPDATE sessions s SET \(columns.assignments(of: "v")), revision = s.revision + 1
        FROM unnest(\(rows.placeholders(from: 3))) AS v (id, revision, user_revision, \(columns.list))
        WHERE \(isUnchanged)
        """
    }

    private func change(_ catalogue: Int64, _ end: Int64) -> Statement {
        Statement(
            Self.changing,
            parameters: [catalogue.parameter, end.parameter] + others.parameters + events.parameters
                + revocations.parameters)
    }

    private static let changing: Template = {
        let firstOfEvents = 3 + noChanges.width
        let firstOfRevocations = firstOfEvents + EventSQL.noRows.width
        return Template(
            """
            WITH changed AS (
                \(updating(SessionColumns.changing, from: noChanges)) RETURNING s.id, s.ended_at
            ), released AS (
                DELETE FROM provider_checks p USING changed c WHERE p.session_id = c.id AND c.ended_at IS NOT NULL
            ), noted AS (
                \(EventSQL.insertGuarded(by: "changed", firstParameter: firstOfEvents))
            ), revoked AS (
                \(RevocationSQL.insertGuarded(by: "changed", firstParameter: firstOfRevocations))
            )
            SELECT id FROM changed
            """)
    }()
}
