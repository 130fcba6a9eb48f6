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
