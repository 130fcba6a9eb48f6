public import JSON
internal import Sessions

/// What starts a new client: a kind of app. The console offers each as a card, and `sojourn client create --preset` takes its name.
public struct ClientPreset: Sendable {
    /// The word in the URL and in the option.
    public let name: String
    /// The kind of app.
    public let label: String
    /// What it is good for.
    public let text: String
    /// The members that differ from the defaults.
    public let values: [String: JSONValue]
    /// The members that have to be filled in, or often are, with an example of each. An example is never sent.
    public let examples: [String: String]

    private static func grants(_ grants: Client.GrantType...) -> JSONValue {
        .array(grants.map { .string($0.rawValue) })
    }

    /// The kinds of apps.
    public static let all = [
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
        browser,
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

    /// An app that keeps the tokens in its pages. An injected script can use these while the page is open, so that the lives are short, no
    /// password is typed into the app, and the account cannot be changed with its tokens.
    public static let browser = ClientPreset(
        name: "browser", label: "App in the browser, without a backend",
        text: "Pages on an origin of their own keep the tokens. An app that has a backend keeps them there instead.",
        values: [
            "grant_types": grants(.authorizationCode, .refreshToken), "token_endpoint_auth_method": .string("none"),
            "scope": .string("openid profile email"), "dpop": .string(Client.ProofRequirement.nonce.rawValue),
            "token_style": .string(Client.TokenStyle.separate.rawValue), "browser_session": .string("client"),
            "access_token_lifetime": .integer(900), "refresh_after": .integer(600),
            "offline_session_idle": .integer(7 * 86_400), "offline_session_max": .integer(30 * 86_400),
        ],
        examples: [
            "redirect_uris": "https://shop.example/", "post_logout_redirect_uris": "https://shop.example/",
            "allowed_origins": "https://shop.example",
        ])

    /// The members that name the page at `url`: where the browser comes back to, and the origin of the page. Nil if it is no URL
    /// of a page.
    public static func members(ofPage url: String) -> [String: JSONValue]? {
        guard let origin = WebOrigin(ofPage: url) else { return nil }
        let page = url.count == origin.text.count ? url + "/" : url
        return [
            "redirect_uris": .array([.string(page)]), "post_logout_redirect_uris": .array([.string(page)]),
            "allowed_origins": .array([.string(origin.text)]),
        ]
    }
}
