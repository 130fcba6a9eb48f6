public import Foundation
package import SojournClient

/// The calls of an admin.
extension LocalServer {
    /// Creates a user; without a password the user cannot log in by one.
    public func createUser(_ username: String, password: String? = nil) async throws {
        var members = ["username": JSONValue.string(username)]
        if let password { members["password"] = .string(password) }
        try await admin("POST", "users", members)
    }

    /// Sets the e-mail address of the user, and that it is verified; nil: none.
    public func setVerifiedEmail(_ address: String?, of username: String) async throws {
        var members = ["email": address.map { JSONValue.string($0) } ?? .null]
        if address != nil { members["email_verified"] = .bool(true) }
        try await admin("PATCH", "users/username:\(username)", members)
    }

    /// Opens a session as a backend does that has authenticated the user itself. Returns the token answer, for `Sojourn.adopt`.
    public func openSession(for username: String, device: String) async throws -> Data {
        try await admin("POST", "users/username:\(username)/sessions", ["device": .object(["id": .string(device)])])
    }

    /// Ends every session of the user.
    public func revokeAll(_ username: String) async throws {
        try await admin("POST", "users/username:\(username)/revoke")
    }

    /// Ends every session of every user.
    public func revokeEverything() async throws { try await admin("POST", "revoke-all") }

    /// Disables the user's logins at once. The sessions are kept.
    public func disable(_ username: String) async throws {
        try await admin("POST", "users/username:\(username)/disable")
    }

    /// Enables the user's logins.
    public func enable(_ username: String) async throws {
        try await admin("POST", "users/username:\(username)/enable")
    }

    /// Sets the password, which ends every session of the user.
    public func resetPassword(_ username: String, to password: String) async throws {
        try await admin("PUT", "users/username:\(username)/password", ["new_password": .string(password)])
    }

    /// Deletes the user.
    public func deleteUser(_ username: String) async throws {
        try await admin("DELETE", "users/username:\(username)")
    }

    /// Lets logins of the client `mobile` make anonymous users, or forbids it.
    public func setAnonymousUsers(_ areAllowed: Bool) async throws {
        try await changeClient("mobile", ["anonymous_users": .bool(areAllowed)])
    }

    /// Lets the client `mobile` use the login page, which returns to these URIs.
    public func setRedirectURIs(_ uris: [String]) async throws {
        let client = JSONValue(parsing: Array(try await admin("GET", "clients/mobile")))?.members ?? [:]
        let code = JSONValue.string("authorization_code")
        let grants = (client["grant_types"]?.elements ?? []).filter { $0 != code } + (uris.isEmpty ? [] : [code])
        try await changeClient(
            "mobile", ["grant_types": .array(grants), "redirect_uris": .array(uris.map { .string($0) })])
    }

    /// Sets the widest scope of the client `mobile`.
    public func setScope(_ scope: String) async throws { try await changeClient("mobile", ["scope": .string(scope)]) }

    /// Sets the ways in which users of the client `mobile` may log in (`login_methods`); nil: every way.
    public func setLoginMethods(_ methods: [String]?) async throws {
        let list = methods.map { JSONValue.array($0.map { .string($0) }) } ?? .null
        try await changeClient("mobile", ["login_methods": list])
    }

    /// Records what the app's backend says of app and device of a session; nil: nothing any more.
    public func setAttestation(_ verdict: String?, ofSession id: String) async throws {
        try await admin("PUT", "sessions/\(id)/attestation", ["verdict": verdict.map { .string($0) } ?? .null])
    }

    /// Changes settings of the client `mobile`, for existing sessions as well.
    public func change(_ settings: ClientSettings) async throws {
        var members: [String: JSONValue] = [:]
        members["stay_logged_in"] = settings.staysLoggedIn.map { .bool($0) }
        members["access_token_lifetime"] = settings.accessTokenLifetime.map { .integer($0) }
        members["app_data"] = settings.appData.map { .string($0.rawValue) }
        members["attestation"] = settings.attestation.map { .string($0.rawValue) }
        members["login_names"] = settings.loginNames.map { .string($0.rawValue) }
        members["sign_up"] = settings.takesSignUps.map { .bool($0) }
        members["second_factor_policy"] = settings.secondFactorPolicy.map { .string($0.rawValue) }
        if !members.isEmpty { try await changeClient("mobile", members) }
    }

    /// Changes the settings of sessions, for existing sessions as well.
    public func change(_ settings: ServerSettings) async throws {
        var members: [String: JSONValue] = [:]
        members["rotation_interval"] = settings.rotationInterval.map { .integer($0) }
        members["offline_session_idle"] = settings.idle.map { .integer($0) }
        members["offline_session_max"] = settings.maximum.map { .integer($0) }
        members["refresh_after"] = settings.refreshAfter.map { .integer($0) }
        if !members.isEmpty { try await admin("PUT", "settings/sessions", members) }
    }

    /// Sets how often sessions ask for their user (`user_presence_max_age`), in seconds; nil: as often as the mode itself says.
    public func askForUser(every seconds: Int64?) async throws {
        try await changeClient("mobile", ["user_presence_max_age": seconds.map { .integer($0) } ?? .null])
    }

    /// Changes a client by the members of `PATCH /admin/v1/clients/{client_id}`, in JSON.
    public func changeClient(_ id: String = "mobile", json: String) async throws {
        try await changeClient(id, JSONValue(parsing: Array(json.utf8))?.members ?? [:])
    }

    /// Changes a client: for example `["grant_types": .list([.string("refresh_token")])]`.
    package func changeClient(_ id: String, _ members: [String: JSONValue]) async throws {
        try await admin("PATCH", "clients/\(id)", members)
    }

    /// Makes a call of the admin API. Returns the content of the answer.
    @discardableResult
    package func admin(
        _ method: String, _ path: String, _ members: [String: JSONValue]? = nil
    ) async throws -> Data {
        let url = adminURL.appendingPathComponent("admin/v1/" + path)
        var fields = [HTTPMessageField("Authorization", "Bearer \(adminKey)")]
        var body: [UInt8] = []
        if let members {
            fields.append(HTTPMessageField("Content-Type", "application/json"))
            body = JSONValue.object(members).bytes
        }
        let request = HTTPMessage(method: method, url: url, fields: fields, body: body)
        let answer = try await transport.send(request, within: .seconds(60))
        guard (200..<300).contains(answer.status) else {
            throw AdminRefusal(
                call: "\(method) /admin/v1/\(path)", status: answer.status,
                answer: String(decoding: answer.body, as: UTF8.self))
        }
        return Data(answer.body)
    }
}
