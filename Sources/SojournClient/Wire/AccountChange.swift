/// The calls of users about mailbox, second factors, profile and deletion, on the wire.
package enum AccountChange: Hashable, Sendable {
    /// Names an anonymous user by a proven mailbox.
    case nameBySignUp(SignUpProof)
    case updateProfile(ProfileChange)
    case changeEmail(String, password: String?, language: String?)
    case confirmEmail(String)
    case deleteAccount(password: String?, language: String?)
    case secondFactors
    case addAuthenticator(name: String)
    case confirmAuthenticator(String, code: String)
    case removeAuthenticator(String)
    case makeRecoveryCodes
    case showPresence(password: String?, code: String?)

    /// The request, without its access token.
    func message(to server: ServerAddress) throws(SojournError) -> HTTPMessage {
        switch self {
        case .nameBySignUp(let proof): try server.request("POST", "/v1/sign-up", proof.members)
        case .updateProfile(let change): try server.request("PATCH", "/v1/me", change.members)
        case .changeEmail(let email, let password, let language):
            try server.request(
                "POST", "/v1/me/email", Self.members(("email", email), ("password", password), ("language", language)))
        case .confirmEmail(let code): try server.request("POST", "/v1/me/email/confirm", ["code": .string(code)])
        case .deleteAccount(let password, let language):
            try server.request("DELETE", "/v1/me", Self.members(("password", password), ("language", language)))
        case .secondFactors: try server.request("GET", "/v1/me/totp")
        case .addAuthenticator(let name): try server.request("POST", "/v1/me/totp", ["name": .string(name)])
        case .confirmAuthenticator(let id, let code):
            try server.request("POST", "/v1/me/totp/\(Form.escaped(id))/confirm", ["code": .string(code)])
        case .removeAuthenticator(let id): try server.request("DELETE", "/v1/me/totp/" + Form.escaped(id))
        case .makeRecoveryCodes: try server.request("POST", "/v1/me/recovery-codes")
        case .showPresence(let password, let code):
            try server.request("POST", "/v1/me/presence", Self.members(("password", password), ("code", code)))
        }
    }

    /// Whether each call is another request, although it says the same: an earlier answer is not meant.
    var isNewEachTime: Bool {
        switch self {
        case .updateProfile, .changeEmail: true
        default: false
        }
    }

    private static func members(_ values: (name: String, value: String?)...) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (name, value) in values { members.set(name, value) }
        return members
    }
}
