internal import Sessions

/// The changes of a batch of sessions, column by column, as two statements: one for those that only rotated, which are nearly
/// all, and one for everything else. Each compares and swaps: what another node has changed since it was read (the session,
/// its user, settings or clients) is left as it is, and its id does not come back.
struct SessionWrites {
    private var ids = ArrayParameter(of: .uuid)
    private var rotations = Rows()
    private var others = Rows()
    private var devices = (
        name: ArrayParameter(of: .text), platform: ArrayParameter(of: .text), appVersion: ArrayParameter(of: .text)
    )
    private var modes = ArrayParameter(of: .text)
    private var presences = (
        key: ArrayParameter(of: .text), provenAt: ArrayParameter(of: .bigint), passwordAt: ArrayParameter(of: .bigint)
    )
    private var endings = (at: ArrayParameter(of: .bigint), reason: ArrayParameter(of: .text))
    private var events = EventSQL.Rows()
    private var revocations = RevocationSQL.Rows()

    /// What both kinds of changes write.
    private struct Rows {
        var count = 0
        var ids = ArrayParameter(of: .uuid)
        var revisions = ArrayParameter(of: .bigint)
        var userRevisions = ArrayParameter(of: .bigint)
        var parents = ArrayParameter(of: .bigint)
        var children = ArrayParameter(of: .bigint)
        var answers = ArrayParameter(of: .bigint)
        var keys = ArrayParameter(of: .bigint)
        var confirmations = ArrayParameter(of: .bigint)

        mutating func append(_ session: Session, over stored: SessionSQL.Stored) {
            count += 1
            ids.append(session.id)
            revisions.append(stored.revision)
            userRevisions.append(stored.userRevision)
            parents.append(session.parent)
            children.append(session.child)
            answers.append(session.childAnsweredAt)
            keys.append(session.childRequestKey)
            confirmations.append(session.childConfirmedAt)
        }
    }

    var isEmpty: Bool { rotations.count == 0 && others.count == 0 }

    /// What they take beforehand. Rows first and in the order of ids, the trail last, as everybody else does: a login that has
    /// locked one of these sessions waits for the trail, and must not be waited for by who has it. Who only rotates takes
    /// each row as it is written.
    var locks: [Statement] {
        if others.count == 0 { return [] }
        return [Statement(Self.locking, ids)] + (events.count > 0 ? [TransactionLock.trail.alone] : [])
    }

    private static let locking = Template(
        "SELECT FROM sessions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE")

    /// Adds what `session` and `events` have become, if that is anything to write. Called in the order of ids.
    mutating func add(
        _ session: Session, _ events: [(AuditEvent, Revocation?)], over stored: SessionSQL.Stored
    ) {
        let old = stored.session
        if session == old, events.isEmpty { return }
        ids.append(session.id)
        if events.isEmpty, session.ending == old.ending, session.device == old.device,
            session.authenticationMode == old.authenticationMode, session.presence == old.presence
        {
            rotations.append(session, over: stored)
            return
        }
        others.append(session, over: stored)
        devices.name.append(session.device.name)
        devices.platform.append(session.device.platform)
        devices.appVersion.append(session.device.appVersion)
        modes.append(session.authenticationMode.rawValue)
        endings.at.append(session.ending?.at)
        endings.reason.append(session.ending?.reason.rawValue)
        presences.key.append(session.presence.key)
        presences.provenAt.append(session.presence.provenAt)
        presences.passwordAt.append(session.presence.passwordAt)
        for (event, revocation) in events {
            self.events.append(event, revocation, guardedBy: session.id)
            if let revocation { revocations.append(revocation, guardedBy: session.id) }
        }
    }

    /// Whether nothing but the session, its user and the catalogue can have changed, and the time for deciding is not over: by
    /// the server's own clock, in microseconds, so that a request which got stuck on its way is not decided when it arrives.
    private static let isUnchanged = """
        s.id = v.id AND s.revision = v.revision
            AND v.user_revision IS NOT DISTINCT FROM (SELECT u.revision FROM users u WHERE u.id = s.user_id)
            AND (SELECT revision FROM catalogue_revision) = $1::bigint
            AND clock_timestamp() < (SELECT to_timestamp($2::bigint / 1000000.0::double precision))
        """

    /// The statements, each of which gives the ids that it wrote.
    func statements(catalogue: Int64, before end: Int64) -> [Statement] {
        (rotations.count > 0 ? [rotate(catalogue, end)] : []) + (others.count > 0 ? [change(catalogue, end)] : [])
    }

    private func rotate(_ catalogue: Int64, _ end: Int64) -> Statement {
        Statement(
            Self.rotating, catalogue, end, rotations.ids, rotations.revisions, rotations.userRevisions,
            rotations.parents, rotations.children, rotations.answers, rotations.keys,
            rotations.confirmations)
    }

    private static let rotating = Template(
        """
        UPDATE sessions s SET parent = v.parent, child = v.child, child_answered_at = v.child_answered_at,
            child_request_key = v.child_request_key, child_confirmed_at = v.child_confirmed_at,
            revision = s.revision + 1
        FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
            $10::bigint[])
            AS v (id, revision, user_revision, parent, child, child_answered_at, child_request_key,
                child_confirmed_at)
        WHERE \(isUnchanged)
        RETURNING s.id
        """)

    private func change(_ catalogue: Int64, _ end: Int64) -> Statement {
        let own: [any PostgresValue] = [
            catalogue, end, others.ids, others.revisions, others.userRevisions, others.parents, others.children,
            others.answers, others.keys, others.confirmations, devices.name, devices.platform, devices.appVersion,
            modes, endings.at,
            endings.reason, presences.key, presences.provenAt, presences.passwordAt,
        ]
        return Statement(Self.changing, parameters: own.map(\.parameter) + events.parameters + revocations.parameters)
    }

    private static let changing = Template(
        """
        WITH changed AS (
            UPDATE sessions s SET parent = v.parent, child = v.child, child_answered_at = v.child_answered_at,
                child_request_key = v.child_request_key, child_confirmed_at = v.child_confirmed_at,
                device_name = v.device_name, device_platform = v.device_platform, device_app_version = v.device_app_version,
                authentication_mode = v.authentication_mode, ended_at = v.ended_at, ended_reason = v.ended_reason,
                presence_key = v.presence_key, presence_proven_at = v.presence_proven_at,
                password_proven_at = v.password_proven_at, revision = s.revision + 1
            FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[],
                $16::text[], $17::text[], $18::bigint[], $19::bigint[])
                AS v (id, revision, user_revision, parent, child, child_answered_at, child_request_key,
                    child_confirmed_at, device_name, device_platform, device_app_version, authentication_mode, ended_at, ended_reason,
                    presence_key, presence_proven_at, password_proven_at)
            WHERE \(isUnchanged)
            RETURNING s.id, s.ended_at
        ), released AS (
            DELETE FROM provider_checks p USING changed c WHERE p.session_id = c.id AND c.ended_at IS NOT NULL
        ), noted AS (
            \(EventSQL.insertGuarded(by: "changed", firstParameter: 20))
        ), revoked AS (
            \(RevocationSQL.insertGuarded(by: "changed", firstParameter: 20 + EventSQL.parameterCount))
        )
        SELECT id FROM changed
        """)
}
