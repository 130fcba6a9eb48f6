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
