internal import HTTP
internal import Sessions

/// The calls by which admins set the policy of second factors, and help users that have lost theirs.
extension Endpoints {
    /// `GET /admin/v1/settings/second-factor`: the policy of the settings.
    func showSecondFactorPolicy(_ call: Call) async throws -> Response {
        try .json(SecondFactorPolicyAnswer(try await services.administration.settings()))
    }

    /// `PUT /admin/v1/settings/second-factor` `{second_factor_policy}`: sets the policy of the settings.
    func setSecondFactorPolicy(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["second_factor_policy"])
        guard let policy = try members.word("second_factor_policy", as: SecondFactorPolicy.self) else {
            throw members.refused("second_factor_policy", "is missing")
        }
        return try .json(
            SecondFactorPolicyAnswer(
                try await services.administration.setSecondFactorPolicy(policy, by: call.origin)))
    }

    /// `GET /admin/v1/users/{user}/second-factors`: what a user has.
    func listSecondFactors(_ call: Call) async throws -> Response {
        _ = try QueryParameters(call, known: [])
        return try .json(SecondFactorsAnswer(try await services.administration.secondFactors(of: try call.user())))
    }

    /// `DELETE /admin/v1/users/{user}/second-factors?id=`: removes an authenticator, or without `id` every one.
    func deleteSecondFactors(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["id"])
        let id = try query.long("id").map { text throws(ServiceError) in try Self.factorID(text) }
        try await services.administration.removeSecondFactor(id, of: try call.user(), by: call.origin)
        return .noContent
    }

    /// `PUT /admin/v1/users/{user}/second-factor` `{second_factor, keep_sessions}`: decides whether policies apply to the user.
    func requireSecondFactor(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["second_factor", "keep_sessions"])
        guard members.contains("second_factor") else { throw members.refused("second_factor", "is missing") }
        let requirement = try members.word("second_factor", as: UserDetails.SecondFactorRequirement.self)
        let ended = try await services.administration.requireSecondFactor(
            requirement, of: try call.user(), keepingSessions: try members.bool("keep_sessions") ?? false,
            by: call.origin)
        return try .json(RevokedAnswer(revoked: ended))
    }
}

/// The policy of the settings as JSON.
struct SecondFactorPolicyAnswer: Encodable {
    let policy: String

    init(_ settings: Settings) { policy = settings.secondFactorPolicy.rawValue }

    enum CodingKeys: String, CodingKey { case policy = "second_factor_policy" }
}

extension Route {
    static let showSecondFactorPolicy = Route(
        .get, "/admin/v1/settings/second-factor", on: .admin, .admin(.read) { try await $0.showSecondFactorPolicy($1) },
        Operation(
            "show_second_factor_policy", .settings, "Show the policy of second factors",
            answers: [.json("SecondFactorPolicy", "The policy.")]))

    static let setSecondFactorPolicy = Route(
        .put, "/admin/v1/settings/second-factor", on: .admin, .admin(.owner) { try await $0.setSecondFactorPolicy($1) },
        Operation(
            "set_second_factor_policy", .settings, "Set the policy of second factors",
            """
            At once, on every node. With `required` a session without a second factor is asked for it at its next \
            refresh; none ends.
            """,
            takes: .json("SecondFactorPolicy"), answers: [.json("SecondFactorPolicy", "The policy.")]))

    static let listSecondFactors = Route(
        .get, "/admin/v1/users/{user}/second-factors", on: .admin, .admin(.read) { try await $0.listSecondFactors($1) },
        Operation(
            "list_second_factors", .users, "List a user's second factors",
            "The confirmed authenticators, without their seeds.",
            answers: [.json("SecondFactors", "What the user has.")]))

    static let deleteSecondFactors = Route(
        .delete, "/admin/v1/users/{user}/second-factors", on: .admin,
        .admin(.owner) { try await $0.deleteSecondFactors($1) },
        Operation(
            "remove_second_factors", .users, "Remove a user's authenticators",
            "For a user that has lost them. Without `id` every one, with the recovery codes. Sessions go on.",
            parameters: ["id.totp"], answers: [.empty("They are removed.")]))

    static let requireSecondFactor = Route(
        .put, "/admin/v1/users/{user}/second-factor", on: .admin,
        .admin(.owner) { try await $0.requireSecondFactor($1) },
        Operation(
            "require_second_factor", .users, "Decide whether policies apply to a user",
            """
            `required` demands a second factor at each login of the user, `exempt` none, null as settings and \
            client say. The sessions that do not meet it end, unless they are kept.
            """,
            takes: .json("SecondFactorRequirement"), answers: [.json("Revoked", "The number of ended sessions.")]))
}
