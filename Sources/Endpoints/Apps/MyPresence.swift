internal import HTTP
internal import Sessions

extension Endpoints {
    /// `POST /v1/me/presence`: proves the presence of the user by an assertion of the presence key or by the password (RFC
    /// 9470).
    func showPresence(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["user_assertion", "password"])
        let evidence = try members.evidence()
        guard !evidence.isEmpty else { throw members.refused("user_assertion", "or password is missing") }
        let record = try await services.accounts.showPresence(evidence, in: session, from: call.origin)
        return try .json(ModeAnswer(record.session))
    }

    /// `PUT /v1/me/authentication-mode`: changes how the app protects its session.
    func changeMode(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(
            call, known: ["authentication_mode", "presence_key", "user_assertion", "password"])
        guard let mode = try members.word("authentication_mode", as: AuthenticationMode.self) else {
            throw members.refused("authentication_mode", "is missing")
        }
        let change = ModeChange(
            mode: mode, presenceKey: try members.publicKey("presence_key").map(DeviceKey.init),
            evidence: try members.evidence())
        let record = try await services.accounts.changeMode(change, in: session, from: call.origin)
        return try .json(ModeAnswer(record.session))
    }
}

extension Members {
    /// Reads the proof of presence from the body.
    func evidence() throws -> PresenceEvidence {
        PresenceEvidence(assertion: try string("user_assertion"), password: try string("password"))
    }
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
