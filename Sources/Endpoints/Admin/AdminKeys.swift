internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/keys`: lists the signing keys, newest first.
    func listSigningKeys(_ call: Call) async throws -> Response {
        await services.signer.lookForKeys()
        let administration = services.administration
        return try .json(
            ListAnswer(administration.signingKeys().map { SigningKeyAnswer($0, administration.state(of: $0)) }))
    }

    /// `POST /admin/v1/keys/rotate` `{immediately?}`: makes a new signing key, which signs after one day, or at once.
    func rotateSigningKey(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["immediately"], mayBeMissing: true)
        let id = try await services.administration.rotateSigningKey(
            immediately: try members.bool("immediately") ?? false, by: call.origin)
        var response = try Response.json(["kid": id], .created)
        response.fields.append("Location", "/admin/v1/keys/\(id)")
        return response
    }

    /// `DELETE /admin/v1/keys/{kid}`: withdraws a signing key, so that tokens signed by it become invalid.
    func withdrawSigningKey(_ call: Call) async throws -> Response {
        try await services.administration.withdrawSigningKey(call.parameter, by: call.origin)
        return .noContent
    }

    /// `GET /admin/v1/admin-keys`: lists the admin keys without their secrets.
    func listAdminKeys(_ call: Call) async throws -> Response {
        try .json(ListAnswer(try await services.administration.adminKeys().map { AdminKeyAnswer($0) }))
    }

    /// `POST /admin/v1/admin-keys` `{name, scope?, expires_in?}`: creates a key, which is never shown again. Without
    /// a scope it allows all calls.
    func createAdminKey(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["name", "scope", "expires_in"])
        let (key, secret) = try await services.administration.createAdminKey(
            name: try members.requiredString("name"),
            scope: try members.word("scope", as: AdminKey.Scope.self) ?? .owner,
            lifetime: try members.seconds("expires_in"), by: call.origin)
        var response = try Response.json(AdminKeyAnswer(key, secret: secret), .created)
        response.fields.append("Location", "/admin/v1/admin-keys/\(key.id)")
        return response
    }

    /// `DELETE /admin/v1/admin-keys/{id}`: deletes an admin key, so that it allows nothing from then on.
    func deleteAdminKey(_ call: Call) async throws -> Response {
        try await services.administration.deleteAdminKey(call.parameter, by: call.origin)
        return .noContent
    }
}

/// A signing key as JSON, without its private part.
struct SigningKeyAnswer: Encodable {
    let kid: String
    let alg: String
    let state: String
    let createdAt: Int64
    let activeFrom: Int64
    let retiredAt: Int64?

    init(_ key: StoredSigningKey, _ state: StoredSigningKey.State) {
        self.state = state.rawValue
        kid = key.id
        alg = key.algorithm
        createdAt = key.createdAt.secondsSinceEpoch
        activeFrom = key.activeFrom.secondsSinceEpoch
        retiredAt = key.retiredAt?.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case kid, alg, state
        case createdAt = "created_at"
        case activeFrom = "active_from"
        case retiredAt = "retired_at"
    }
}

/// An admin key as JSON. `admin_key` is present only in the answer to the call that made the key.
struct AdminKeyAnswer: Encodable {
    let id: String
    let name: String
    let scope: String
    let createdAt: Int64
    let expiresAt: Int64?
    let lastUsedAt: Int64?
    let adminKey: String?

    init(_ key: AdminKey, secret: String? = nil) {
        id = key.id
        name = key.name
        scope = key.scope.rawValue
        expiresAt = key.expiresAt?.secondsSinceEpoch
        lastUsedAt = key.lastUsedAt?.secondsSinceEpoch
        createdAt = key.createdAt.secondsSinceEpoch
        adminKey = secret
    }

    enum CodingKeys: String, CodingKey {
        case id, name, scope
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case lastUsedAt = "last_used_at"
        case adminKey = "admin_key"
    }
}

extension Route {
    static let listSigningKeys = Route(
        .get, "/admin/v1/keys", on: .admin, .admin(.read) { try await $0.listSigningKeys($1) },
        Operation(
            "list_signing_keys", .keys, "List signing keys",
            "The newest first.",
            answers: [.json("SigningKeys", "The keys.")]))

    static let rotateSigningKey = Route(
        .post, "/admin/v1/keys/rotate", on: .admin, .admin(.owner) { try await $0.rotateSigningKey($1) },
        Operation(
            "rotate_signing_key", .keys, "Make a new signing key",
            """
            The key, and one of RSA beside it, sign a day later, so that every verifier has them by then; or at \
            once, on request.
            """,
            takes: .json("Rotate", isOptional: true), answers: [.created("NewKeyID", "The key.")]))

    static let withdrawSigningKey = Route(
        .delete, "/admin/v1/keys/{kid}", on: .admin, .admin(.owner) { try await $0.withdrawSigningKey($1) },
        Operation(
            "withdraw_signing_key", .keys, "Withdraw a signing key",
            "Tokens that it has signed are refused from then on.",
            answers: [.empty("It is withdrawn.")]))

    static let listAdminKeys = Route(
        .get, "/admin/v1/admin-keys", on: .admin, .admin(.read) { try await $0.listAdminKeys($1) },
        Operation(
            "list_admin_keys", .keys, "List admin keys",
            "Without the keys themselves.",
            answers: [.json("AdminKeys", "The keys.")]))

    static let createAdminKey = Route(
        .post, "/admin/v1/admin-keys", on: .admin, .admin(.owner) { try await $0.createAdminKey($1) },
        Operation(
            "create_admin_key", .keys, "Make an admin key",
            "The key is shown only in this answer.",
            takes: .json("NewAdminKey"), answers: [.created("AdminKey", "The key.")]))

    static let deleteAdminKey = Route(
        .delete, "/admin/v1/admin-keys/{id}", on: .admin, .admin(.owner) { try await $0.deleteAdminKey($1) },
        Operation(
            "delete_admin_key", .keys, "Delete an admin key",
            "The key is refused from then on.",
            answers: [.empty("It is deleted.")]))
}
