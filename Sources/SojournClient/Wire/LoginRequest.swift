/// A login on the wire: `POST /v1/login`.
package struct LoginRequest: Sendable {
    package static let path = "/v1/login"

    /// How the user shows the right to log in.
    package enum Credentials: Hashable, Sendable {
        case password(username: String, password: String)
        case idToken(String, provider: String, nonce: String?, providerRefreshToken: String?)
        /// The assertion of a passkey, as JSON.
        case passkey([String: JSONValue])
        /// There is no user yet.
        case anonymous

        /// Whether the login can continue a session that the device has.
        package var mayContinue: Bool {
            switch self {
            case .password, .idToken: true
            case .passkey, .anonymous: false
            }
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
        switch credentials {
        case .password(let username, let password):
            members.set("username", username)
            members.set("password", password)
        case .idToken(let token, let provider, let nonce, let providerRefreshToken):
            members.set("id_token", token)
            members.set("provider", provider)
            members.set("nonce", nonce)
            members.set("provider_refresh_token", providerRefreshToken)
        case .passkey(let credential): members["passkey"] = .object(credential)
        case .anonymous:
            members["anonymous"] = .bool(true)
        }
        var message = try server.request("POST", Self.path, members)
        message.fields.append(
            HTTPMessageField("Idempotency-Key", IdempotencyKey.ofLogin(message.body, secret: retrySecret)))
        return message
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
