internal import Cryptography
internal import HTTP
internal import Sessions
internal import Telemetry

extension Call {
    /// Reads the session id of the path.
    func sessionID() throws -> Identifier<Session> {
        guard let id = Identifier<Session>(parameter) else { throw ServiceError.notFound("session") }
        return id
    }
}

extension Endpoints {
    /// `GET /admin/v1/users/{user}/sessions?cursor=&limit=`: lists the sessions of a user and the tombstones of ended ones,
    /// newest first.
    func listSessions(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["cursor", "limit"])
        let page = try await services.administration.sessions(
            of: try call.user(), after: try query.sessionCursor(), limit: try query.limit())
        return try .json(ListAnswer(page.items.map(answer), nextCursor: page.nextCursor))
    }

    /// `GET /admin/v1/sessions/{session_id}`: answers the session, or the reason why it ended.
    func showSession(_ call: Call) async throws -> Response {
        let record = try await services.administration.session(try call.sessionID())
        var answer = answer(record)
        answer.limits = try await services.administration.limits(of: record).map(SessionAnswer.LimitPart.init)
        if record.session.confirmation != nil {
            let check = try await services.administration.providerCheck(of: record.session.id)
            answer.providerFailingSince = check?.failingSince?.secondsSinceEpoch
        }
        if answer.endedAt == nil {
            answer.pin = try await services.administration.pin(of: record.session.id).map(PINAnswer.init)
        }
        let children = try await services.phoneLogins.children(of: record.session.id)
        answer.childSessionIDs = children.isEmpty ? nil : children.map(\.description)
        return try .json(answer)
    }

    /// `PUT /admin/v1/sessions/{session_id}/attestation` `{verdict}`: records what the operator's own attestation says; null
    /// takes it away.
    func setAttestation(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["verdict"])
        guard members.contains("verdict") else { throw members.refused("verdict", "is missing") }
        let record = try await services.administration.setAttestation(
            try members.text("verdict"), of: try call.sessionID(), by: call.origin)
        return try .json(answer(record))
    }

    /// `DELETE /admin/v1/sessions/{session_id}`: ends the session. The call is idempotent.
    func endSession(_ call: Call) async throws -> Response {
        try await services.administration.endSession(try call.sessionID(), by: call.origin)
        return .noContent
    }

    /// `POST /admin/v1/users/{user}/sessions`: opens a session for a user that another backend has authenticated. A body
    /// without `device` gets a random device id. `dpop_jkt` binds the session to the key of the app (RFC 9449).
    func mintSession(_ call: Call) async throws -> Response {
        let members = try Members(call, known: Members.loginNames + ["dpop_jkt"], mayBeMissing: true)
        var request = try members.loginRequest(on: try members.device() ?? Device(id: madeUpDeviceID()))
        if let thumbprint = try members.identifier("dpop_jkt") {
            guard Base64URL.decode(thumbprint)?.count == 32 else {
                throw members.refused("dpop_jkt", "must be the SHA-256 thumbprint of a key in base64url")
            }
            request.keyThumbprint = thumbprint
        }
        let user = try call.user()
        do throws(ServiceError) {
            let response = TokenAnswer.response(
                try await services.login.mintSession(request, for: user, from: call.origin))
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }

    /// `POST /admin/v1/users/{user}/revoke`: ends every session of the user.
    func revokeSessions(_ call: Call) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try .json(
            RevokedAnswer(
                revoked: try await services.administration.revokeSessions(of: try call.user(), by: call.origin)))
    }

    /// `POST /admin/v1/revoke-all`: ends all sessions of all users, for emergencies.
    func revokeAll(_ call: Call) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        try await services.administration.revokeAllSessions(by: call.origin)
        logger.notice(
            "all sessions were revoked", ["actor": .string(call.actor), "request_id": .string(call.requestID)])
        return .noContent
    }

    private func answer(_ record: SessionRecord) -> SessionAnswer {
        SessionAnswer(record, policy: context.policy, now: context.clock.now)
    }
}

/// A session, or the tombstone of an ended one, as JSON for admins.
struct SessionAnswer: Encodable {
    /// The installation of the app that holds the session.
    struct DevicePart: Encodable {
        let id: String
        let name: String?
        let platform: String?
        let appVersion: String?

        enum CodingKeys: String, CodingKey {
            case id, name, platform
            case appVersion = "app_version"
        }
    }

    /// A limit of its life, with the place where it is set and the last change there.
    struct LimitPart: Encodable {
        let name: String
        let seconds: Int64
        let source: String
        let changedAt: Int64?
        let changedBy: String?
        let earlierSeconds: Int64?

        init(_ limit: SessionLimit) {
            name = limit.name
            seconds = limit.duration.wholeSeconds
            source = limit.source.rawValue
            changedAt = limit.change?.at.secondsSinceEpoch
            changedBy = limit.change?.actor
            earlierSeconds = limit.change?.earlier?.wholeSeconds
        }

        enum CodingKeys: String, CodingKey {
            case name, seconds, source
            case changedAt = "changed_at"
            case changedBy = "changed_by"
            case earlierSeconds = "earlier_seconds"
        }
    }

    let sessionID: String
    let userID: String
    let clientID: String
    let device: DevicePart
    let authenticationMode: String
    let activationPending: Bool?
    let attestation: String?
    let startedAt: Int64
    let lastRefreshedAt: Int64
    let sessionIdleExpiresAt: Int64
    let sessionExpiresAt: Int64
    let endedAt: Int64?
    let endedReason: String?
    /// False while only the clock has ended the session, so that a longer limit lets it go on; nil: it has not ended.
    let isEndRecorded: Bool?
    /// The limits without a refresh and in any case. Only `GET /admin/v1/sessions/{session_id}` sets them.
    var limits: [LimitPart]?
    /// The session of the phone on which this one depends.
    let parentSessionID: String?
    let probationUntil: Int64?
    /// The sessions that this one has let in as a phone. Only `GET /admin/v1/sessions/{session_id}` sets it.
    var childSessionIDs: [String]?
    /// The PIN of the app. Only `GET /admin/v1/sessions/{session_id}` sets it.
    var pin: PINAnswer?
    let provider: String?
    let providerConfirmedAt: Int64?
    /// The time since which the identity provider fails to confirm the session. Only `GET /admin/v1/sessions/{session_id}` sets
    /// it.
    var providerFailingSince: Int64?

    /// Describes the session at `now` under the current settings.
    init(_ record: SessionRecord, policy: RefreshPolicy, now: Instant) {
        let session = record.session
        let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: record.user)
        let ending = policy.ending(of: record, at: now)
        sessionID = session.id.description
        userID = session.userID.description
        clientID = session.clientID
        device = DevicePart(
            id: session.device.id, name: session.device.name, platform: session.device.platform,
            appVersion: session.device.appVersion)
        authenticationMode = session.authenticationMode.rawValue
        activationPending = session.presence.isActivationPending ? true : nil
        attestation = session.attestation
        startedAt = session.startedAt.secondsSinceEpoch
        lastRefreshedAt = session.renewedAt.secondsSinceEpoch
        sessionIdleExpiresAt = lifetimes.idleEnd(of: session).secondsSinceEpoch
        sessionExpiresAt = lifetimes.finalEnd(of: session).secondsSinceEpoch
        endedAt = ending?.at.secondsSinceEpoch
        endedReason = ending?.reason.rawValue
        isEndRecorded = ending.map { ending in
            session.ending != nil || ![.idleExpired, .maxLifetimeReached].contains(ending.reason)
        }
        parentSessionID = session.phoneID?.description
        probationUntil = session.probationUntil.flatMap { $0 > now ? $0.secondsSinceEpoch : nil }
        provider = session.confirmation?.provider
        providerConfirmedAt = session.confirmation?.at.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case userID = "user_id"
        case clientID = "client_id"
        case device
        case authenticationMode = "authentication_mode"
        case activationPending = "activation_pending"
        case attestation
        case startedAt = "started_at"
        case lastRefreshedAt = "last_refreshed_at"
        case sessionIdleExpiresAt = "session_idle_expires_at"
        case sessionExpiresAt = "session_expires_at"
        case endedAt = "ended_at"
        case endedReason = "ended_reason"
        case isEndRecorded = "end_recorded"
        case limits
        case parentSessionID = "parent_session_id"
        case probationUntil = "probation_until"
        case childSessionIDs = "child_session_ids"
        case pin
        case provider
        case providerConfirmedAt = "provider_confirmed_at"
        case providerFailingSince = "provider_failing_since"
    }
}

extension Route {
    static let listSessions = Route(
        .get, "/admin/v1/users/{user}/sessions", on: .admin, .admin(.read) { try await $0.listSessions($1) },
        Operation(
            "list_sessions", .sessions, "List a user's sessions",
            """
            The newest session comes first. Sessions that ended in the last 30 days are included.
            """,
            parameters: ["cursor", "limit"], answers: [.json("Sessions", "A page.")]))

    static let mintSession = Route(
        .post, "/admin/v1/users/{user}/sessions", on: .admin, .admin(.owner) { try await $0.mintSession($1) },
        Operation(
            "mint_session", .sessions, "Log a user in",
            """
            Tokens for a user that your own backend has authenticated. The call is refused while logins are off.
            """,
            takes: .json("MintSession", isOptional: true),
            answers: [.json("TokenAnswer", "Tokens.", headers: ["Cache-Control"])], errors: [.mintForbidden]))

    static let revokeSessions = Route(
        .post, "/admin/v1/users/{user}/revoke", on: .admin, .admin(.support) { try await $0.revokeSessions($1) },
        Operation(
            "revoke_sessions", .sessions, "End every session of a user",
            takes: .json("Nothing", isOptional: true), answers: [.json("Revoked", "The number of ended sessions.")]))

    static let showSession = Route(
        .get, "/admin/v1/sessions/{session_id}", on: .admin, .admin(.read) { try await $0.showSession($1) },
        Operation(
            "show_session", .sessions, "Show a session",
            "An ended session is shown for 30 days, with the reason of its end.",
            answers: [.json("Session", "The session.")]))

    static let endSession = Route(
        .delete, "/admin/v1/sessions/{session_id}", on: .admin, .admin(.support) { try await $0.endSession($1) },
        Operation(
            "end_session", .sessions, "End a session",
            "A repeated call is no error.",
            answers: [.empty("The session is over.")]))

    static let setAttestation = Route(
        .put, "/admin/v1/sessions/{session_id}/attestation", on: .admin,
        .admin(.owner) { try await $0.setAttestation($1) },
        Operation(
            "set_attestation", .sessions, "Set the verdict of your attestation",
            """
            Records what your own attestation of app and device says of the session. The next access tokens have \
            it as the claim `attestation`.
            """,
            takes: .json("Attestation"), answers: [.json("Session", "The session.")], errors: [.sessionEnded]))

    static let revokeAll = Route(
        .post, "/admin/v1/revoke-all", on: .admin, .admin(.owner) { try await $0.revokeAll($1) },
        Operation(
            "revoke_all", .sessions, "End every session of every user",
            "For emergencies. The tokens that clients got for themselves end, too.",
            takes: .json("Nothing", isOptional: true), answers: [.empty("All sessions are over.")]))
}
