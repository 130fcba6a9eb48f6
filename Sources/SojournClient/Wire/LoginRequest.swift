/// A login on the wire: `POST /v1/login`, or `POST /v1/sign-up` with a new account.
package struct LoginRequest: Sendable {

    /// How the user shows the right to log in.
    package enum Credentials: Hashable, Sendable {
        case password(username: String, password: String)
        case idToken(String, provider: String, nonce: String?, providerRefreshToken: String?)
        /// The assertion of a passkey, as JSON.
        case passkey([String: JSONValue])
        /// The code of a mail, with the token of its verification.
        case mailedCode(String, code: String)
        /// The second step of a login: what the server has sealed of the first one, and the code of the second factor.
        case secondStep(String, code: String)
        /// The first proof again, beside the code of the second factor.
        indirect case both(Self, code: String)
        /// A new account of a proven mailbox.
        case signUp(SignUpProof)
        /// There is no user yet.
        case anonymous

        /// Whether the login can continue a session that the device has.
        package var mayContinue: Bool {
            switch self {
            case .password, .idToken, .secondStep: true
            case .both(let first, _): first.mayContinue
            case .passkey, .mailedCode, .signUp, .anonymous: false
            }
        }

        /// The first proof of a login.
        var first: Self { if case .both(let first, _) = self { first } else { self } }

        var path: String {
            if case .signUp = self { "/v1/sign-up" } else { "/v1/login" }
        }
    }

    package var credentials: Credentials
    package var mode: AuthenticationMode
    package var deviceID: String
    /// The key that renews the session (RFC 7523).
    package var deviceKey: PublicJWK?
    /// The key that signs after the user has proved to be present.
    package var presenceKey: PublicJWK?
    /// The session of this device that the login continues, if the server still has it.
    package var sessionID: String?
    /// Whether an account that waits for its deletion is kept.
    package var cancelsDeletion = false

    package init(_ credentials: Credentials, mode: AuthenticationMode, deviceID: String, deviceKey: PublicJWK?) {
        (self.credentials, self.mode, self.deviceID, self.deviceKey) = (credentials, mode, deviceID, deviceKey)
    }

    /// The members that every login and every enrolment has.
    func sharedMembers(_ configuration: SojournConfiguration) -> [String: JSONValue] {
        var device: [String: JSONValue] = ["id": .string(deviceID)]
        device.set("name", configuration.deviceName)
        device.set("platform", configuration.platform)
        device.set("app_version", configuration.appVersion)
        var members: [String: JSONValue] = [
            "device": .object(device), "authentication_mode": .string(mode.rawValue),
        ]
        members.set("scope", configuration.scope)
        members["device_key"] = deviceKey.map { .object($0.members) }
        members["presence_key"] = presenceKey.map { .object($0.members) }
        return members
    }

    /// The request, with the `Idempotency-Key` that each retry of the login has.
    package func message(
        to server: ServerAddress, _ configuration: SojournConfiguration, retrySecret: [UInt8]
    ) throws(SojournError) -> HTTPMessage {
        var members = sharedMembers(configuration)
        members["client_id"] = .string(configuration.clientID)
        members.set("session_id", sessionID)
        if cancelsDeletion { members["cancel_deletion"] = .bool(true) }
        members.merge(credentials.members) { $1 }
        var message = try server.request("POST", credentials.path, members)
        message.fields.append(
            HTTPMessageField("Idempotency-Key", IdempotencyKey.ofLogin(message.body, secret: retrySecret)))
        return message
    }
}

extension LoginRequest.Credentials {
    /// The members of the request that show the right to log in.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        switch self {
        case .password(let username, let password):
            members.set("username", username)
            members.set("password", password)
        case .idToken(let token, let provider, let nonce, let providerRefreshToken):
            members.set("id_token", token)
            members.set("provider", provider)
            members.set("nonce", nonce)
            members.set("provider_refresh_token", providerRefreshToken)
        case .passkey(let credential): members["passkey"] = .object(credential)
        case .mailedCode(let token, let code):
            members.set("verification_token", token)
            members.set("code", code)
        case .secondStep(let token, let code):
            members.set("login_token", token)
            members.set("code", code)
        case .both(let first, let code):
            members = first.members
            members.set("code", code)
        case .signUp(let proof): members = proof.members
        case .anonymous:
            members["anonymous"] = .bool(true)
        }
        return members
    }
}

extension PublicJWK {
    /// The key as the members of a JWK.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "kty": .string(curve == .p256 ? "EC" : "OKP"), "crv": .string(curve.rawValue),
            "x": .string(Base64URL.encode(x)),
        ]
        members.set("y", y.map(Base64URL.encode))
        return members
    }
}
