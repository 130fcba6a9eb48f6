internal import HTTP
internal import QRCode
internal import Sessions

/// The calls by which a user's app adds, confirms and removes authenticators, and makes recovery codes.
extension Endpoints {
    /// `GET /v1/me/totp`: what the user has.
    func secondFactors(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try .json(SecondFactorsAnswer(try await services.secondFactors.overview(of: session.user.id)))
    }

    /// `POST /v1/me/totp` `{name}`: adds an authenticator, which the user confirms by a code.
    func addFactor(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["name"], mayBeMissing: true)
        let enrolment = try await services.secondFactors.add(name: try members.text("name"), in: session)
        return try .json(TOTPEnrolmentAnswer(enrolment), .created)
    }

    /// `POST /v1/me/totp/{id}/confirm` `{code, end_others}`: confirms an authenticator by one of its codes.
    func confirmFactor(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["code", "end_others"])
        let code = try members.requiredString("code")
        let endsOthers = try members.bool("end_others") ?? false
        let confirmation = try await services.secondFactors.confirm(
            try Self.factorID(call.parameter), code: code, of: session.user.id, in: session.session, from: call.origin)
        if endsOthers {
            _ = try await services.accounts.endSessions(
                of: session.user.id, onDevice: nil, except: session.session.id, from: call.origin)
        }
        return try .json(FactorConfirmationAnswer(confirmation))
    }

    /// `DELETE /v1/me/totp/{id}`: removes an authenticator.
    func removeFactor(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try await services.secondFactors.remove(
            try Self.factorID(call.parameter), of: session.user, in: session.session, from: call.origin)
        return .noContent
    }

    /// `POST /v1/me/recovery-codes`: makes new recovery codes; the old ones are worth nothing from then on.
    func makeRecoveryCodes(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        let codes = try await services.secondFactors.makeRecoveryCodes(
            of: session.user, in: session.session, from: call.origin)
        return try .json(RecoveryCodesAnswer(recoveryCodes: codes), .created)
    }

    /// Reads the id of an authenticator. Throws `notFound` for a text that is none.
    static func factorID(_ text: String) throws(ServiceError) -> Identifier<TOTPFactor> {
        guard let id = Identifier<TOTPFactor>(text) else { throw .notFound("authenticator") }
        return id
    }
}

/// An authenticator as JSON.
struct TOTPAnswer: Encodable {
    let id: String
    let name: String
    let createdAt: Int64
    let lastUsedAt: Int64?

    init(_ factor: TOTPFactor) {
        (id, name) = (factor.id.description, factor.name)
        createdAt = factor.createdAt.secondsSinceEpoch
        lastUsedAt = factor.lastUsedAt?.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case id, name
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }
}

/// The second factors of a user as JSON.
struct SecondFactorsAnswer: Encodable {
    let items: [TOTPAnswer]
    let recoveryCodesLeft: Int
    let blocked: Bool
    let requirement: String?

    init(_ overview: SecondFactorService.Overview) {
        items = overview.factors.map(TOTPAnswer.init)
        (recoveryCodesLeft, blocked) = (overview.codesLeft, overview.isBlocked)
        requirement = overview.requirement?.rawValue
    }

    enum CodingKeys: String, CodingKey {
        case items, blocked
        case recoveryCodesLeft = "recovery_codes_left"
        case requirement = "second_factor"
    }
}

/// A new authenticator as JSON, with its seed, which no other answer has.
struct TOTPEnrolmentAnswer: Encodable {
    let id: String
    let secret: String
    let uri: String
    let svg: String?
    let expiresIn = SecondFactorRules.confirmationLifetime.components.seconds

    init(_ enrolment: SecondFactorService.Enrolment) {
        (id, secret, uri) = (enrolment.factor.id.description, enrolment.secret, enrolment.uri)
        svg = QRMatrix(enrolment.uri)?.svg
    }

    enum CodingKeys: String, CodingKey {
        case id, secret, uri, svg
        case expiresIn = "expires_in"
    }
}

/// A confirmed authenticator as JSON.
struct FactorConfirmationAnswer: Encodable {
    let totp: TOTPAnswer
    let recoveryCodes: [String]?

    init(_ confirmation: SecondFactorService.Confirmation) {
        (totp, recoveryCodes) = (TOTPAnswer(confirmation.factor), confirmation.recoveryCodes)
    }

    enum CodingKeys: String, CodingKey {
        case totp
        case recoveryCodes = "recovery_codes"
    }
}

/// New recovery codes as JSON.
struct RecoveryCodesAnswer: Encodable {
    let recoveryCodes: [String]

    enum CodingKeys: String, CodingKey { case recoveryCodes = "recovery_codes" }
}

extension Route {
    static let secondFactors = Route(
        .get, "/v1/me/totp", .user { try await $0.secondFactors($1, $2) },
        Operation(
            "list_my_totp", .me, "List my authenticators",
            "With the number of recovery codes that are left.",
            answers: [.json("SecondFactors", "What the user has.")]))

    static let addFactor = Route(
        .post, "/v1/me/totp", onProbation: false, .user { try await $0.addFactor($1, $2) },
        Operation(
            "add_my_totp", .me, "Add an authenticator",
            """
            The answer has the seed (RFC 6238: SHA-1, 6 digits, 30 seconds), its address for an authenticator app \
            and a picture of it, this once. The user must have authenticated in the last five minutes, with two \
            factors if there is an authenticator already. It counts after `confirm`, within ten minutes.
            """,
            takes: .json("NewTOTP", isOptional: true),
            answers: [.json("TOTPEnrolment", "The new authenticator.", status: 201)], errors: [.secondFactorConflict]))

    static let confirmFactor = Route(
        .post, "/v1/me/totp/{totp}/confirm", onProbation: false, .user { try await $0.confirmFactor($1, $2) },
        Operation(
            "confirm_my_totp", .me, "Confirm an authenticator",
            """
            The code is used up. The first authenticator comes with recovery codes, shown this once. With \
            `end_others` the user's other sessions end.
            """,
            takes: .json("TOTPConfirmation"), answers: [.json("TOTPConfirmed", "The authenticator counts.")],
            errors: [.wrongPasswordOrToken, .tooManyRequests]))

    static let removeFactor = Route(
        .delete, "/v1/me/totp/{totp}", onProbation: false, .user { try await $0.removeFactor($1, $2) },
        Operation(
            "remove_my_totp", .me, "Remove an authenticator",
            """
            Sessions go on. The user must have proved two factors in the last five minutes. The last second factor \
            stays while the policy of the settings demands one.
            """,
            answers: [.empty("It is removed.")], errors: [.secondFactorConflict]))

    static let makeRecoveryCodes = Route(
        .post, "/v1/me/recovery-codes", onProbation: false, .user { try await $0.makeRecoveryCodes($1, $2) },
        Operation(
            "make_my_recovery_codes", .me, "Make recovery codes",
            """
            Eight codes that stand in for a lost authenticator at a login, each once, shown this once. The old ones \
            are worth nothing. The user must have proved two factors in the last five minutes.
            """,
            takes: .json("Nothing", isOptional: true),
            answers: [.json("RecoveryCodes", "The new codes.", status: 201)], errors: [.secondFactorConflict]))
}
