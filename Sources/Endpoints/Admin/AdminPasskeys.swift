internal import HTTP
internal import Sessions

/// The calls by which admins read and remove the passkeys of a user.
extension Endpoints {
    /// `GET /admin/v1/users/{user}/passkeys`: lists the passkeys of a user, in the order of their registration.
    func listPasskeys(_ call: Call) async throws -> Response {
        _ = try QueryParameters(call, known: [])
        return try .json(PasskeyAnswer.list(try await services.administration.passkeys(of: try call.user())))
    }

    /// `DELETE /admin/v1/users/{user}/passkeys?id=`: removes a passkey. The user's sessions continue.
    func deletePasskey(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["id"])
        guard let id = try query.long("id") else { throw RequestProblem.invalid("id", "is missing") }
        try await services.administration.removePasskey(
            try Self.credentialID(id), of: try call.user(), by: call.origin)
        return .noContent
    }
}

extension Route {
    static let listPasskeys = Route(
        .get, "/admin/v1/users/{user}/passkeys", on: .admin, .admin(.read) { try await $0.listPasskeys($1) },
        Operation(
            "list_passkeys", .users, "List a user's passkeys",
            "In the order of their registration.",
            answers: [.json("Passkeys", "All of them.")]))

    static let deletePasskey = Route(
        .delete, "/admin/v1/users/{user}/passkeys", on: .admin, .admin(.owner) { try await $0.deletePasskey($1) },
        Operation(
            "remove_passkey", .users, "Remove a passkey",
            "Sessions go on.",
            parameters: ["id.passkey"], answers: [.empty("It is removed.")]))
}
