internal import AdminActs
internal import HTTP
public import JSON
internal import Sessions

/// What starts a new client: a kind of app.
public struct ClientPreset: Sendable {
    /// The word in the URL.
    public let name: String
    /// The kind of app.
    public let label: String
    /// What it is good for.
    public let text: String
    /// The members that differ from the defaults.
    public let values: [String: JSONValue]
    /// The members that have to be filled in, or often are, with an example of each. An example is never sent.
    public let examples: [String: String]
}

extension ClientForm {
    private static func grants(_ grants: Client.GrantType...) -> JSONValue {
        .array(grants.map { .string($0.rawValue) })
    }

    /// The kinds of apps.
    public static let presets = [
        ClientPreset(
            name: "mobile", label: "Mobile app with its own login screen",
            text: "The app asks for the password or a passkey itself, with the SDK.",
            values: [
                "grant_types": grants(.refreshToken, .login), "token_endpoint_auth_method": .string("none"),
                "scope": .string("offline_access \(Scope.account)"),
            ], examples: [:]),
        ClientPreset(
            name: "page", label: "Mobile app with the login page", text: "The app opens the browser, and comes back.",
            values: [
                "grant_types": grants(.authorizationCode, .refreshToken), "token_endpoint_auth_method": .string("none"),
                "scope": .string("openid profile email \(Scope.account)"),
            ], examples: ["redirect_uris": "com.example.app:/callback"]),
        ClientPreset(
            name: "web", label: "Web application with a backend", text: "OpenID Connect with a secret.",
            values: [
                "grant_types": grants(.authorizationCode, .refreshToken),
                "token_endpoint_auth_method": .string("client_secret_basic"),
                "scope": .string("openid profile email groups roles"), "browser_session": .string("shared"),
                "id_token_signed_response_alg": .string("RS256"),
            ],
            examples: [
                "redirect_uris": "https://app.example.com/callback",
                "post_logout_redirect_uris": "https://app.example.com/",
                "backchannel_logout_uri": "https://app.example.com/logout",
            ]),
        ClientPreset(
            name: "device", label: "Television, console or command line",
            text: "It shows a code or a picture, and a phone lets it in.",
            values: [
                "grant_types": grants(.refreshToken, .deviceCode), "token_endpoint_auth_method": .string("none"),
                "scope": .string("openid"),
            ], examples: [:]),
        ClientPreset(
            name: "backend", label: "Backend for itself", text: "A service that asks for tokens of its own.",
            values: [
                "grant_types": grants(.clientCredentials),
                "token_endpoint_auth_method": .string("client_secret_basic"),
                "access_token_lifetime": .integer(3600), "refresh_after": .integer(1800),
            ], examples: ["resources": "https://api.example.com"]),
        ClientPreset(
            name: "fapi", label: "FAPI 2.0", text: "Keys in place of secrets, and pushed requests.",
            values: [
                "grant_types": grants(.authorizationCode, .refreshToken),
                "token_endpoint_auth_method": .string("private_key_jwt"), "dpop": .string("required"),
                "require_pushed_authorization_requests": .bool(true), "scope": .string("openid"),
            ], examples: ["redirect_uris": "https://app.example.com/callback", "jwks": "{\"keys\": […]}"]),
    ]

    /// The members that matter for this client: those that its kind of app has, and those that differ from the usual ones.
    func essential(_ preset: ClientPreset?, beside usual: ClientForm) -> Set<String> {
        var names: Set = ["client_name", "scope"]
        if let preset { names.formUnion(preset.examples.keys) }
        let grants = grants
        func has(_ grant: Client.GrantType) -> Bool { grants.contains(grant.rawValue) }
        if has(.authorizationCode) { names.insert("redirect_uris") }
        if has(.authorizationCode) || has(.login) { names.insert("login_methods") }
        if texts["token_endpoint_auth_method"] != "none" { names.insert("token_endpoint_auth_method") }
        for (name, _, _) in Self.members where texts[name] != usual.texts[name] { names.insert(name) }
        return names
    }
}
