internal import Sessions

/// The changes of a batch of sessions, column by column, as two statements: one for sessions that only rotated, which are
/// nearly all, and one for the others. Each statement compares and swaps: if another node has changed the session, its user,
/// settings or clients since the read, the session is not written and its id is not returned.
struct SessionWrites {
    private var ids = ArrayParameter(of: .uuid)
    private var rotations = Rows()
    private var others = Rows()
    private var devices = (
        name: ArrayParameter(of: .text), platform: ArrayParameter(of: .text), appVersion: ArrayParameter(of: .text)
    )
    private var modes = ArrayParameter(of: .text)
    private var presences = (
        key: ArrayParameter(of: .text), provenAt: ArrayParameter(of: .bigint), passwordAt: ArrayParameter(of: .bigint),
        identityAt: ArrayParameter(of: .bigint)
    )
    private var attestations = ArrayParameter(of: .text)
    private var encryptionKeys = ArrayParameter(of: .text)
    private var methods = ArrayParameter(of: .text)
    private var confirmed = (by: ArrayParameter(of: .text), at: ArrayParameter(of: .bigint))
    private var phones = (id: ArrayParameter(of: .uuid), probationUntil: ArrayParameter(of: .bigint))
    private var endings = (at: ArrayParameter(of: .bigint), reason: ArrayParameter(of: .text))
    private var events = EventSQL.Rows()
    private var revocations = RevocationSQL.Rows()

    /// The columns that both kinds of changes write.
    private struct Rows {
        var count = 0
        var ids = ArrayParameter(of: .uuid)
        var revisions = ArrayParameter(of: .bigint)
        var userRevisions = ArrayParameter(of: .bigint)
        var parents = ArrayParameter(of: .bigint)
        var children = ArrayParameter(of: .bigint)
        var answers = ArrayParameter(of: .bigint)
        var renewals = ArrayParameter(of: .bigint)
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
            renewals.append(session.renewedAt)
            keys.append(session.childRequestKey)
            confirmations.append(session.childConfirmedAt)
        }
    }

    var isEmpty: Bool { rotations.count == 0 && others.count == 0 }

    /// The locks that the statements need beforehand: rows in the order of ids first, the trail last, as in every transaction.
    /// A login that has locked one of these sessions waits for the trail, so the holder of the trail must not wait for that
    /// login. A batch that only rotates locks each row as it writes it.
    var locks: [Statement] {
        if others.count == 0 { return [] }
        return [Statement(Self.locking, ids)] + (events.count > 0 ? [TransactionLock.trail.alone] : [])
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
        if events.isEmpty, session.isRotation(of: old) {
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
        presences.identityAt.append(session.presence.identityAt)
        attestations.append(session.attestation)
        encryptionKeys.append(session.encryptionKey)
        methods.append(session.authenticationMethods.joined(separator: " "))
        confirmed.by.append(session.confirmation?.provider)
        confirmed.at.append(session.confirmation?.at)
        phones.id.append(session.phoneID)
        phones.probationUntil.append(session.probationUntil)
        for (event, revocation) in events {
            self.events.append(event, revocation, guardedBy: session.id)
            if let revocation { revocations.append(revocation, guardedBy: session.id) }
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
        Statement(
            Self.rotating, catalogue, end, rotations.ids, rotations.revisions, rotations.userRevisions,
            rotations.parents, rotations.children, rotations.answers, rotations.renewals, rotations.keys,
            rotations.confirmations)
    }

    private static let rotating = Template(
        """
        UPDATE sessions s SET parent = v.parent, child = v.child, child_answered_at = v.child_answered_at,
            renewed_at = v.renewed_at, child_request_key = v.child_request_key, child_confirmed_at = v.child_confirmed_at,
            revision = s.revision + 1
        FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
            $10::bigint[], $11::bigint[])
            AS v (id, revision, user_revision, parent, child, child_answered_at, renewed_at, child_request_key,
                child_confirmed_at)
        WHERE \(isUnchanged)
        RETURNING s.id
        """)

    private func change(_ catalogue: Int64, _ end: Int64) -> Statement {
        let own: [any PostgresValue] = [
            catalogue, end, others.ids, others.revisions, others.userRevisions, others.parents, others.children,
            others.answers, others.renewals, others.keys, others.confirmations, devices.name, devices.platform,
            devices.appVersion,
            modes, endings.at,
            endings.reason, presences.key, presences.provenAt, presences.passwordAt,
            presences.identityAt, attestations, encryptionKeys, methods, confirmed.by, confirmed.at, phones.id,
            phones.probationUntil,
        ]
        return Statement(Self.changing, parameters: own.map(\.parameter) + events.parameters + revocations.parameters)
    }

    private static let changing = Template(
        """
        WITH changed AS (
            UPDATE sessions s SET parent = v.parent, child = v.child, child_answered_at = v.child_answered_at,
                renewed_at = v.renewed_at, child_request_key = v.child_request_key, child_confirmed_at = v.child_confirmed_at,
                device_name = v.device_name, device_platform = v.device_platform, device_app_version = v.device_app_version,
                authentication_mode = v.authentication_mode, ended_at = v.ended_at, ended_reason = v.ended_reason,
                presence_key = v.presence_key, presence_proven_at = v.presence_proven_at,
                password_proven_at = v.password_proven_at, identity_proven_at = v.identity_proven_at,
                attestation = v.attestation, encryption_key = v.encryption_key,
                authentication_methods = v.authentication_methods, confirmed_by = v.confirmed_by,
                confirmed_at = v.confirmed_at, parent_session_id = v.parent_session_id,
                probation_until = v.probation_until, revision = s.revision + 1
            FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[], $15::text[],
                $16::bigint[], $17::text[], $18::text[], $19::bigint[], $20::bigint[], $21::bigint[], $22::text[], $23::text[],
                $24::text[], $25::text[], $26::bigint[], $27::uuid[], $28::bigint[])
                AS v (id, revision, user_revision, parent, child, child_answered_at, renewed_at, child_request_key,
                    child_confirmed_at, device_name, device_platform, device_app_version, authentication_mode, ended_at, ended_reason,
                    presence_key, presence_proven_at, password_proven_at, identity_proven_at, attestation,
                    encryption_key, authentication_methods, confirmed_by, confirmed_at, parent_session_id,
                    probation_until)
            WHERE \(isUnchanged)
            RETURNING s.id, s.ended_at
        ), released AS (
            DELETE FROM provider_checks p USING changed c WHERE p.session_id = c.id AND c.ended_at IS NOT NULL
        ), noted AS (
            \(EventSQL.insertGuarded(by: "changed", firstParameter: 29))
        ), revoked AS (
            \(RevocationSQL.insertGuarded(by: "changed", firstParameter: 29 + EventSQL.parameterCount))
        )
        SELECT id FROM changed
        """)
}
