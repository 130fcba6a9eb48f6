/// The calls about the proof of a mailbox on the wire, without an access token. Each has an `Idempotency-Key`, which is the same for
/// each retry.
package enum VerificationRequest: Hashable, Sendable {
    /// `POST /v1/verifications`.
    case ask(StoredVerification, clientID: String, deviceID: String, language: String?)
    /// The code of the mail.
    case code(String, StoredVerification.Answer, StoredVerification)
    /// The mail once more.
    case resend(StoredVerification.Answer, StoredVerification)
    /// The options of the passkey of a new account.
    case passkeyOptions(String)
    /// `POST /v1/password-reset`.
    case resetPassword(String, String)

    /// The request.
    package func message(to server: ServerAddress) throws(SojournError) -> HTTPMessage {
        switch self {
        case .ask(let verification, let clientID, let deviceID, let language):
            var members: [String: JSONValue] = [
                "purpose": .string(verification.purpose.rawValue), "email": .string(verification.email),
                "client_id": .string(clientID), "device_id": .string(deviceID),
            ]
            members.set("language", language)
            return keyed(try server.request("POST", "/v1/verifications", members), verification.key)
        case .code(let code, let answer, let verification):
            let path = "/v1/verifications/\(Form.escaped(answer.id))/code"
            let message = try server.request("POST", path, ["code": .string(code)])
            return keyed(by(answer.token, message), derived(from: verification.key, "code:\(code)"))
        case .resend(let answer, let verification):
            let path = "/v1/verifications/\(Form.escaped(answer.id))/resend"
            // A mail that may be sent again is another request.
            let name = "resend:\(answer.resendAfter)"
            return keyed(by(answer.token, try server.request("POST", path)), derived(from: verification.key, name))
        case .passkeyOptions(let token):
            return try server.request("POST", "/v1/sign-up/passkey-options", ["verification_token": .string(token)])
        case .resetPassword(let token, let password):
            let members: [String: JSONValue] = [
                "verification_token": .string(token), "new_password": .string(password),
            ]
            let message = try server.request("POST", "/v1/password-reset", members)
            return keyed(message, derived(from: token, String(decoding: message.body, as: UTF8.self)))
        }
    }

    private func derived(from key: String, _ name: String) -> String {
        IdempotencyKey.ofCall(Array(name.utf8), secret: Array(key.utf8))
    }

    private func keyed(_ message: HTTPMessage, _ key: String) -> HTTPMessage {
        var message = message
        message.fields.append(HTTPMessageField("Idempotency-Key", key))
        return message
    }

    private func by(_ token: String, _ message: HTTPMessage) -> HTTPMessage {
        var message = message
        message.fields.append(HTTPMessageField("Authorization", "Bearer \(token)"))
        return message
    }
}

/// The last call of a sign-up on the wire: a login with other credentials.
package struct SignUpProof: Hashable, Sendable {
    /// How the user will log in from then on.
    package enum Secret: Hashable, Sendable {
        case password(String)
        /// The registration of a passkey, as JSON.
        case passkey([String: JSONValue])
    }

    package var token: String
    package var username: String?
    package var secret: Secret

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["verification_token": .string(token)]
        members.set("username", username)
        switch secret {
        case .password(let password): members.set("password", password)
        case .passkey(let credential): members["passkey"] = .object(credential)
        }
        return members
    }
}
