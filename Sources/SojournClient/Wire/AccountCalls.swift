/// The calls about the account on the wire. Each needs an access token, except a logout by a refresh token.
package enum AccountCall: Hashable, Sendable {
    case profile
    case devices
    case endDevice(String)
    case endAllDevices
    case loginSettings
    case setLoginsDisabled(Bool, LoginSettings.Effect?, revokeSessions: Bool)
    case changePassword(from: String, to: String)
    case name(username: String, password: String)
    case nameByIDToken(String, provider: String, nonce: String?)
    /// A change by which the account is kept, guarded or ended.
    case change(AccountChange)
    case showPresence(assertion: String)
    case presenceOptions
    case showPresenceByPasskey([String: JSONValue])
    case passkeys
    case passkeyOptions
    case addPasskey([String: JSONValue], name: String?)
    case removePasskey(String)
    case setEncryptionKey(PublicJWK)
    case removeEncryptionKey
    case pin
    /// Sets the PIN with that MAC, with the members that allow it.
    case setPIN(String, proof: [String: JSONValue])
    case removePIN
    case changeMode(AuthenticationMode, presenceKey: PublicJWK?, assertion: String?, password: String?)

    /// The request, without its access token.
    package func message(to server: ServerAddress) throws(SojournError) -> HTTPMessage {
        switch self {
        case .profile: return try server.request("GET", "/v1/me")
        case .devices: return try server.request("GET", "/v1/me/devices")
        case .endDevice(let id): return try server.request("DELETE", "/v1/me/devices/" + Form.escaped(id))
        case .endAllDevices: return try server.request("DELETE", "/v1/me/devices")
        case .loginSettings: return try server.request("GET", "/v1/me/login-settings")
        case .setLoginsDisabled(let isDisabled, let effect, let revokeSessions):
            var members: [String: JSONValue] = ["logins_disabled": .bool(isDisabled)]
            members.set("effective", effect?.rawValue)
            if revokeSessions { members["revoke_sessions"] = .bool(true) }
            return try server.request("PUT", "/v1/me/login-settings", members)
        case .changePassword(let old, let new):
            return try server.request(
                "PUT", "/v1/me/password", ["old_password": .string(old), "new_password": .string(new)])
        case .name(let username, let password):
            return try server.request(
                "POST", "/v1/me/account", ["username": .string(username), "password": .string(password)])
        case .nameByIDToken(let token, let provider, let nonce):
            var members: [String: JSONValue] = ["id_token": .string(token), "provider": .string(provider)]
            members.set("nonce", nonce)
            return try server.request("POST", "/v1/me/account", members)
        case .change(let change): return try change.message(to: server)
        case .showPresence(let assertion):
            return try server.request("POST", "/v1/me/presence", ["user_assertion": .string(assertion)])
        case .presenceOptions: return try server.request("POST", "/v1/me/presence/options")
        case .showPresenceByPasskey(let credential):
            return try server.request("POST", "/v1/me/presence", ["passkey": .object(credential)])
        case .passkeys: return try server.request("GET", "/v1/me/passkeys")
        case .passkeyOptions: return try server.request("POST", "/v1/me/passkeys/options")
        case .addPasskey(let credential, let name):
            var members: [String: JSONValue] = ["credential": .object(credential)]
            members.set("name", name)
            return try server.request("POST", "/v1/me/passkeys", members)
        case .removePasskey(let id): return try server.request("DELETE", "/v1/me/passkeys/" + Form.escaped(id))
        case .setEncryptionKey(let key):
            let members = key.members.merging(["use": .string("enc"), "alg": .string("ECDH-ES")]) { $1 }
            return try server.request("PUT", "/v1/me/encryption-key", ["encryption_key": .object(members)])
        case .removeEncryptionKey: return try server.request("DELETE", "/v1/me/encryption-key")
        case .pin: return try server.request("GET", "/v1/me/pin")
        case .setPIN(let mac, let proof):
            return try server.request("PUT", "/v1/me/pin", proof.merging(["pin": .string(mac)]) { $1 })
        case .removePIN: return try server.request("DELETE", "/v1/me/pin")
        case .changeMode(let mode, let presenceKey, let assertion, let password):
            var members: [String: JSONValue] = ["authentication_mode": .string(mode.rawValue)]
            members["presence_key"] = presenceKey.map { .object($0.members) }
            members.set("user_assertion", assertion)
            members.set("password", password)
            return try server.request("PUT", "/v1/me/authentication-mode", members)
        }
    }
}

extension AccountCall {
    /// Whether each call is another request, although it says the same.
    var isNewEachTime: Bool { if case .change(let change) = self { change.isNewEachTime } else { false } }

    /// Whether the call shows the presence that a renewal waits for.
    var answersDemand: Bool {
        switch self {
        case .presenceOptions, .showPresenceByPasskey, .change(.showPresence): true
        default: false
        }
    }

    /// Whether a required presence concerns this call alone, so that the session goes on without it.
    var requiresUserForItself: Bool {
        switch self {
        case .changeMode, .showPresence, .presenceOptions, .showPresenceByPasskey, .passkeyOptions, .addPasskey,
            .removePasskey, .setPIN, .change:
            true
        default: false
        }
    }
}

extension LogoutDebt {
    /// The request that pays the debt, without a proof of the key.
    package func message(to server: ServerAddress) throws(SojournError) -> HTTPMessage {
        if kind == "refresh_token" {
            return try server.request("POST", "/v1/logout", ["refresh_token": .string(token)])
        }
        var message = try server.request("POST", "/v1/logout")
        message.fields.append(HTTPMessageField("Authorization", "\(kind) \(token)"))
        return message
    }

    /// The access token that a proof for the request names.
    package var accessToken: String? { kind == "refresh_token" ? nil : token }
}

extension Device {
    package init?(_ value: JSONValue) {
        guard let members = value.members, let id = members.text("device_id") else { return nil }
        self.init(
            id: id, name: members.text("name"), platform: members.text("platform"),
            appVersion: members.text("app_version"), lastSeenAt: members.integer("last_seen_at") ?? 0,
            isCurrent: members["current"]?.bool ?? false)
    }
}

extension LoginSettings {
    package init?(parsing body: [UInt8]) {
        guard let members = JSONValue(parsing: body)?.members, let isDisabled = members["logins_disabled"]?.bool
        else { return nil }
        self.init(
            loginsDisabled: isDisabled, effective: members.text("effective").flatMap(Effect.init))
    }
}
