internal import HTTP
internal import Sessions

/// The calls by which admins read and change the links between users and identities of identity providers.
extension Endpoints {
    /// `GET /admin/v1/users/{user}/identities`: lists the identities of a user.
    func listIdentities(_ call: Call) async throws -> Response {
        _ = try QueryParameters(call, known: [])
        let identities = try await services.administration.identities(of: try call.user())
        return try .json(ListAnswer(identities.map(IdentityAnswer.init), nextCursor: nil))
    }

    /// `PUT /admin/v1/users/{user}/identities` `{provider, subject}`: links an identity, with which the user can log in from
    /// then on.
    func linkIdentity(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["provider", "subject"])
        let key = try Self.key(
            try members.requiredString("provider"), try members.requiredString("subject"))
        _ = try await services.administration.link(key, to: try call.user(), by: call.origin)
        return .noContent
    }

    /// `DELETE /admin/v1/users/{user}/identities?provider=&subject=`: removes an identity. The user's sessions continue.
    func unlinkIdentity(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["provider", "subject"])
        guard let provider = try query.text("provider") else { throw RequestProblem.invalid("provider", "is missing") }
        guard let subject = try query.text("subject") else { throw RequestProblem.invalid("subject", "is missing") }
        try await services.administration.unlink(
            try Self.key(provider, subject), from: try call.user(), by: call.origin)
        return .noContent
    }

    private static func key(_ provider: String, _ subject: String) throws -> Identity.Key {
        guard Identity.Key.isValid(provider: provider) else {
            throw RequestProblem.invalid("provider", "must have 1 to 64 lower-case letters, digits and hyphens")
        }
        guard let key = Identity.Key(provider: provider, subject: subject) else {
            throw RequestProblem.invalid("subject", "must have 1 to 255 printable ASCII characters")
        }
        return key
    }
}

/// A linked identity as JSON.
struct IdentityAnswer: Encodable {
    let provider: String
    let subject: String
    let linkedAt: Int64

    init(_ identity: Identity) {
        provider = identity.key.provider
        subject = identity.key.subject
        linkedAt = identity.linkedAt.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case provider, subject
        case linkedAt = "linked_at"
    }
}

extension Route {
    static let listIdentities = Route(
        .get, "/admin/v1/users/{user}/identities", on: .admin, .admin(.read) { try await $0.listIdentities($1) },
        Operation(
            "list_identities", .users, "List a user's identities",
            answers: [.json("Identities", "All of them.")]))

    static let linkIdentity = Route(
        .put, "/admin/v1/users/{user}/identities", on: .admin, .admin(.owner) { try await $0.linkIdentity($1) },
        Operation(
            "link_identity", .users, "Link a user to an identity",
            "The user can then log in with it.",
            takes: .json("NewIdentity"), answers: [.empty("The identity is linked.")], errors: [.identityTaken]))

    static let unlinkIdentity = Route(
        .delete, "/admin/v1/users/{user}/identities", on: .admin, .admin(.owner) { try await $0.unlinkIdentity($1) },
        Operation(
            "unlink_identity", .users, "Unlink an identity",
            "Sessions go on.",
            parameters: ["provider", "subject"], answers: [.empty("It is deleted.")]))
}
