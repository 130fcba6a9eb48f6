internal import HTTP
internal import Sessions

/// The calls of an app about the key of its encrypted messages.
extension Endpoints {
    /// `PUT /v1/me/encryption-key` `{encryption_key}`: registers the key to which messages to this device are encrypted.
    func setEncryptionKey(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["encryption_key"])
        guard let key = try members.encryptionKey("encryption_key") else {
            throw members.refused("encryption_key", "is missing")
        }
        _ = try await services.accounts.setEncryptionKey(key, in: session)
        return try .json(EncryptionKeyAnswer(kid: key.thumbprint))
    }

    /// `DELETE /v1/me/encryption-key`: messages to this device are encrypted no more, and carry nothing.
    func removeEncryptionKey(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        _ = try await services.accounts.setEncryptionKey(nil, in: session)
        return .noContent
    }
}

extension Members {
    /// Reads a public key for encryption, as a JWK (RFC 7517); nil when the member is absent.
    fileprivate func encryptionKey(_ name: String) throws -> EncryptionKey? {
        guard let jwk = try object(name, known: Self.jwkNames) else { return nil }
        let rule = "must be a public key on P-256 for encryption: use enc, alg ECDH-ES"
        guard let key = try jwk.publicKey.flatMap(EncryptionKey.init), try jwk.string("use") ?? "enc" == "enc",
            try jwk.string("alg") ?? "ECDH-ES" == "ECDH-ES"
        else { throw refused(name, rule) }
        return key
    }
}

/// The name of a key in messages, as JSON.
private struct EncryptionKeyAnswer: Encodable {
    let kid: String
}

extension Route {
    static let setEncryptionKey = Route(
        .put, "/v1/me/encryption-key", onProbation: false, .user([]) { try await $0.setEncryptionKey($1, $2) },
        Operation(
            "set_my_encryption_key", .logins, "Register the key for encrypted messages",
            """
            From now on the messages about pushed logins are encrypted to this device. An earlier key is \
            replaced. The key ends with the session.
            """,
            takes: .json("EncryptionKeyChange"),
            answers: [.json("EncryptionKeyName", "The name of the key in messages.")]))

    static let removeEncryptionKey = Route(
        .delete, "/v1/me/encryption-key", onProbation: false, .user([]) { try await $0.removeEncryptionKey($1, $2) },
        Operation(
            "remove_my_encryption_key", .logins, "Remove the key for encrypted messages",
            "There are no more encrypted messages to this device.",
            answers: [.empty("It is removed.")]))
}
