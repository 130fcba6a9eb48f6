internal import Cryptography
internal import HTTP
internal import JSON
internal import Sessions
internal import WebAuthn

/// The calls by which a user's app registers, lists, renames and removes passkeys.
extension Endpoints {
    /// `POST /v1/me/passkeys/options`: makes the options of a registration, for a user who has just proved their presence.
    func passkeyRegistrationOptions(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try .json(PasskeyOptionsAnswer(try await services.passkeys.registrationOptions(in: session)))
    }

    /// `POST /v1/me/passkeys` `{credential, name}`: adds the passkey that a registration has made. A repetition gets the same
    /// answer, because the state makes it converge, so the `Idempotency-Key` is only checked for its form.
    func addPasskey(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["credential", "name"])
        _ = try call.idempotencyKey()
        let credential = try members.requiredJSON("credential")
        let passkey = try await services.passkeys.register(
            credential, name: try members.text("name"), in: session, from: call.origin)
        return try .json(PasskeyAnswer(passkey), .created)
    }

    /// `GET /v1/me/passkeys`: lists the user's passkeys, in the order of their registration.
    func passkeys(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try .json(PasskeyAnswer.list(try await services.passkeys.passkeys(of: session.user.id)))
    }

    /// `PATCH /v1/me/passkeys/{id}` `{name}`: renames a passkey.
    func renamePasskey(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["name"])
        guard let name = try members.text("name") else { throw members.refused("name", "is missing") }
        let passkey = try await services.passkeys.rename(
            try Self.credentialID(call.parameter), of: session.user.id, to: name)
        return try .json(PasskeyAnswer(passkey))
    }

    /// `DELETE /v1/me/passkeys/{id}`: removes a passkey, for a user who has just proved their presence. Sessions go on.
    func removePasskey(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try await services.passkeys.remove(try Self.credentialID(call.parameter), in: session, from: call.origin)
        return .noContent
    }

    /// Reads a credential ID. Throws `notFound` for a text that is none.
    static func credentialID(_ text: String) throws(ServiceError) -> [UInt8] {
        guard let id = Base64URL.decode(text), !id.isEmpty else { throw .notFound("passkey") }
        return id
    }
}

/// The options of a ceremony. `publicKey` is the argument of `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.
struct PasskeyOptionsAnswer: Encodable {
    let publicKey: JSONValue
    let expiresIn = PasskeyService.optionsLifetime.components.seconds

    init(_ options: JSONValue) { publicKey = options }

    enum CodingKeys: String, CodingKey {
        case publicKey
        case expiresIn = "expires_in"
    }
}

/// A passkey as JSON.
struct PasskeyAnswer: Encodable {
    let id: String
    let name: String
    let algorithm: String
    let transports: [String]
    let aaguid: String?
    let backupEligible: Bool
    let backedUp: Bool
    let createdAt: Int64
    let lastUsedAt: Int64?

    init(_ passkey: Passkey) {
        id = Base64URL.encode(passkey.id)
        name = passkey.name
        algorithm = passkey.publicKey.algorithm.verification.rawValue
        transports = passkey.transports
        aaguid = passkey.aaguid.map { bytes in
            let digits = Hex.encode(bytes)
            // The form of a UUID (RFC 9562 section 4), as lists of authenticators have it.
            return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
                .map { range in String(digits.dropFirst(range.lowerBound).prefix(range.count)) }.joined(separator: "-")
        }
        backupEligible = passkey.isBackupEligible
        backedUp = passkey.isBackedUp
        createdAt = passkey.createdAt.secondsSinceEpoch
        lastUsedAt = passkey.lastUsedAt?.secondsSinceEpoch
    }

    /// The list, in the order of registration.
    static func list(_ passkeys: [Passkey]) -> ListAnswer<PasskeyAnswer> {
        ListAnswer(passkeys.sorted { $0.createdAt < $1.createdAt }.map(PasskeyAnswer.init))
    }

    enum CodingKeys: String, CodingKey {
        case id, name, algorithm, transports, aaguid
        case backupEligible = "backup_eligible"
        case backedUp = "backed_up"
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }
}

extension Route {
    static let passkeys = Route(
        .get, "/v1/me/passkeys", .user { try await $0.passkeys($1, $2) },
        Operation(
            "list_my_passkeys", .me, "List my passkeys",
            "In the order of their registration.",
            answers: [.json("Passkeys", "All of them.")]))

    static let addPasskey = Route(
        .post, "/v1/me/passkeys", onProbation: false, .user { try await $0.addPasskey($1, $2) },
        Operation(
            "add_my_passkey", .me, "Add a passkey",
            """
            `credential` is what `PublicKeyCredential.toJSON()` gives after a registration with the options of \
            `POST /v1/me/passkeys/options`. The same registration again gets the same answer.
            """,
            takes: .json("NewPasskey"), parameters: ["Idempotency-Key"],
            answers: [.json("Passkey", "The passkey.", status: 201)], errors: [.notFound, .passkeyRefused]))

    static let passkeyRegistrationOptions = Route(
        .post, "/v1/me/passkeys/options", onProbation: false,
        .user { try await $0.passkeyRegistrationOptions($1, $2) },
        Operation(
            "passkey_registration_options", .me, "Options of a registration",
            """
            The argument of `PublicKeyCredential.parseCreationOptionsFromJSON`, or of the call of your platform. \
            The user must have logged in or proved their presence in the last five minutes. The challenge serves \
            one registration in this session, for five minutes.
            """,
            takes: .json("Nothing", isOptional: true), answers: [.json("PasskeyOptions", "Options.")],
            errors: [.notFound, .passkeyRefused]))

    static let renamePasskey = Route(
        .patch, "/v1/me/passkeys/{passkey}", onProbation: false, .user { try await $0.renamePasskey($1, $2) },
        Operation(
            "rename_my_passkey", .me, "Rename a passkey",
            "The name is for lists alone.",
            takes: .json("PasskeyRename"), answers: [.json("Passkey", "The changed passkey.")]))

    static let removePasskey = Route(
        .delete, "/v1/me/passkeys/{passkey}", onProbation: false, .user { try await $0.removePasskey($1, $2) },
        Operation(
            "remove_my_passkey", .me, "Remove a passkey",
            """
            Sessions go on. The user must have logged in or proved their presence in the last five minutes.
            """,
            answers: [.empty("It is removed.")]))
}
