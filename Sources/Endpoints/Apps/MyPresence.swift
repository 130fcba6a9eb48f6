internal import HTTP
internal import Sessions

extension Endpoints {
    /// `POST /v1/me/presence/options`: makes the options of a proof of presence by a passkey of the user.
    func presenceOptions(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try .json(PasskeyOptionsAnswer(try await services.passkeys.presenceOptions(in: session)))
    }

    /// `POST /v1/me/presence`: proves the presence of the user by an assertion of the presence key, by a passkey, by the
    /// password, or by an ID token (RFC 9470).
    func showPresence(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: Members.evidenceNames + ["passkey", "code"])
        let evidence = try evidence(members)
        guard !evidence.isEmpty else {
            throw members.refused("user_assertion", "or passkey or password or code or id_token is missing")
        }
        let record = try await verifying(evidence, in: session, call) { () async throws(ServiceError) in
            try await services.accounts.showPresence(evidence, in: session, from: call.origin)
        }
        return try .json(ModeAnswer(record.session))
    }

    /// `PUT /v1/me/authentication-mode`: changes how the app protects its session.
    func changeMode(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(
            call, known: ["authentication_mode", "presence_key", "passkey"] + Members.evidenceNames)
        guard let mode = try members.word("authentication_mode", as: AuthenticationMode.self) else {
            throw members.refused("authentication_mode", "is missing")
        }
        let change = ModeChange(
            mode: mode, presenceKey: try members.publicKey("presence_key").map(DeviceKey.init),
            evidence: try evidence(members))
        let record = try await verifying(change.evidence, in: session, call) { () async throws(ServiceError) in
            try await services.accounts.changeMode(change, in: session, from: call.origin)
        }
        return try .json(ModeAnswer(record.session))
    }

    /// Reads the proof of presence from the body.
    func evidence(_ members: Members) throws -> PresenceEvidence {
        PresenceEvidence(
            assertion: try members.string("user_assertion"), password: try members.string("password"),
            identity: try members.identityToken().map { IdentityEvidence($0, verifier: identityVerifier) },
            passkey: members.contains("passkey")
                ? PasskeyEvidence(try members.requiredJSON("passkey")) : nil,
            code: try members.string("code"))
    }

    /// Runs what verifies `evidence` beside an access token. Refused ID tokens count against the caller's address, and refused
    /// passkeys against the session, so that other callers at the address cannot block them.
    func verifying<Value>(
        _ evidence: PresenceEvidence, in session: AuthenticatedSession, _ call: Call,
        _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        func limited() async throws(ServiceError) -> Value {
            if evidence.passkey == nil { return try await body() }
            return try await rateLimiter.passkey(beside: session.session.id, body)
        }
        return try await evidence.identity == nil ? limited() : rateLimiter.identity(in: call, limited)
    }
}

extension Members {
    /// The members that prove the user's presence.
    static let evidenceNames = ["user_assertion", "password"] + idTokenNames
}

/// The protection of a session by its app, as JSON.
struct ModeAnswer: Encodable {
    let authenticationMode: String
    let activationPending: Bool
    let authTime: Int64

    init(_ session: Session) {
        authenticationMode = session.authenticationMode.rawValue
        activationPending = session.presence.isActivationPending
        authTime = session.authenticatedAt.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case authenticationMode = "authentication_mode"
        case activationPending = "activation_pending"
        case authTime = "auth_time"
    }
}

extension Route {
    static let changeMode = Route(
        .put, "/v1/me/authentication-mode", onProbation: false, .user([]) { try await $0.changeMode($1, $2) },
        Operation(
            "change_my_authentication_mode", .me, "Change how the app guards its session",
            """
            Refused while activation is pending. A weaker mode or a new key needs a user that authenticated at \
            most five minutes ago, or a proof in the request.
            """,
            takes: .json("ModeChange"), answers: [.json("Mode", "The changed mode.")],
            errors: [.wrongPasswordOrToken, .activationPending, .tooManyRequests]))

    static let presenceOptions = Route(
        .post, "/v1/me/presence/options", .user([]) { try await $0.presenceOptions($1, $2) },
        Operation(
            "presence_options", .me, "Options of a proof of presence by a passkey",
            """
            The argument of `PublicKeyCredential.parseRequestOptionsFromJSON`, or of the call of your platform, \
            for the user's passkeys. The challenge serves one `POST /v1/me/presence` of this session, for five \
            minutes.
            """,
            takes: .json("Nothing", isOptional: true), answers: [.json("PasskeyOptions", "Options.")],
            errors: [.notFound]))

    static let showPresence = Route(
        .post, "/v1/me/presence", .user([]) { try await $0.showPresence($1, $2) },
        Operation(
            "show_my_presence", .me, "Show that I am present",
            "The answer to `insufficient_user_authentication`. The session goes on afterwards.",
            takes: .json("Presence"), answers: [.json("Mode", "The changed mode.")],
            errors: [.wrongPasswordOrToken, .activationPending, .tooManyRequests]))
}
