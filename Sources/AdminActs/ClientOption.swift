internal import JSON

/// An option of `sojourn client` that sets a member of a client. The command line reads options by this table, and the console
/// prints them by it.
public struct ClientOption: Hashable, Sendable {
    /// How the value of a member is written.
    public enum Kind: Hashable, Sendable {
        case text
        /// A text; an empty one is null.
        case clearableText
        /// Texts with something between them.
        case list(Character)
        /// Texts with blanks between them; none is null.
        case clearableList
        /// A duration, or `inherit`, which is null.
        case lifetime
        case flag
        /// A JSON object.
        case object
        /// The name of a file with JSON, or `standardInput`; an empty name is null.
        case file
    }

    /// The name of a file that is the standard input.
    public static let standardInput = "-"

    /// `--name`
    public let name: String
    /// The member of the admin API.
    public let member: String
    /// How its value is written.
    public let kind: Kind

    private init(_ name: String, _ member: String, _ kind: Kind) {
        self.name = name
        self.member = member
        self.kind = kind
    }

    /// Every option with a value.
    public static let all = [
        ClientOption("--name", "client_name", .clearableText),
        ClientOption("--auth", "token_endpoint_auth_method", .text),
        ClientOption("--pin-auth", "token_endpoint_auth_method_pinned", .flag),
        ClientOption("--jwks", "jwks", .file),
        ClientOption("--grants", "grant_types", .list(",")),
        ClientOption("--scope", "scope", .text),
        ClientOption("--scope-claims", "scope_claims", .object),
        ClientOption("--resources", "resources", .list(" ")),
        ClientOption("--origins", "allowed_origins", .list(" ")),
        ClientOption("--token-style", "token_style", .text),
        ClientOption("--offline-session-idle", "offline_session_idle", .lifetime),
        ClientOption("--offline-session-max", "offline_session_max", .lifetime),
        ClientOption("--access-token-lifetime", "access_token_lifetime", .lifetime),
        ClientOption("--refresh-after", "refresh_after", .lifetime),
        ClientOption("--user-presence-max-age", "user_presence_max_age", .lifetime),
        ClientOption("--app-data", "app_data", .text),
        ClientOption("--attestation", "attestation", .text),
        ClientOption("--stay-logged-in", "stay_logged_in", .flag),
        ClientOption("--anonymous-users", "anonymous_users", .flag),
        ClientOption("--sign-up", "sign_up", .flag),
        ClientOption("--second-factor-policy", "second_factor_policy", .clearableText),
        ClientOption("--dpop", "dpop", .text),
        ClientOption("--redirect-uris", "redirect_uris", .list(" ")),
        ClientOption("--post-logout-redirect-uris", "post_logout_redirect_uris", .list(" ")),
        ClientOption("--redirect-hops", "redirect_hops", .list(" ")),
        ClientOption("--require-par", "require_pushed_authorization_requests", .flag),
        ClientOption("--pkce", "pkce", .text),
        ClientOption("--browser-session", "browser_session", .text),
        ClientOption("--login-methods", "login_methods", .clearableList),
        ClientOption("--login-names", "login_names", .text),
        ClientOption("--backchannel-logout-uri", "backchannel_logout_uri", .clearableText),
        ClientOption("--backchannel-logout-session-required", "backchannel_logout_session_required", .flag),
        ClientOption("--backchannel-delivery", "backchannel_token_delivery_mode", .text),
        ClientOption(
            "--backchannel-notification-endpoint", "backchannel_client_notification_endpoint", .clearableText),
        ClientOption("--id-token-alg", "id_token_signed_response_alg", .clearableText),
        ClientOption("--initiate-login-uri", "initiate_login_uri", .clearableText),
        ClientOption("--remote-scope", "remote_scope", .clearableText),
        ClientOption("--minimum-bond", "minimum_bond", .text),
        ClientOption("--apple-app-ids", "apple_app_ids", .list(" ")),
        ClientOption("--android-apps", "android_apps", .list(" ")),
        ClientOption("--accent", "accent", .clearableText),
        ClientOption("--policy-uri", "policy_uri", .clearableText),
        ClientOption("--tos-uri", "tos_uri", .clearableText),
        ClientOption("--support-uri", "support_uri", .clearableText),
        ClientOption("--support-email", "support_email", .clearableText),
    ]

    /// Whether a change of the member can end sessions, which the command asks about and the form does not.
    private var endsSessions: Bool {
        kind == .lifetime ? member != "user_presence_max_age" : member == "stay_logged_in"
    }

    /// The value as the command line reads it.
    private func text(_ value: JSONValue) -> String {
        switch kind {
        case .text, .clearableText: value.string ?? ""
        case .list(let separator): value.elements.compactMap(\.string).joined(separator: String(separator))
        case .clearableList: value.elements.compactMap(\.string).joined(separator: " ")
        case .lifetime: value.integer.map(DurationText.text) ?? "inherit"
        case .flag: "\(value.bool == true)"
        case .object: value.compactText ?? ""
        case .file: value == .null ? "" : Self.standardInput
        }
    }

    /// The words of the command line that make or change a client as `body` says, with a key set on its standard input; nil if a
    /// member has no option.
    static func words(_ verb: String, _ id: String, _ body: [String: JSONValue]) -> [String]? {
        let options = all.compactMap { option in body[option.member].map { (option, $0) } }
        guard options.count == body.count else { return nil }
        let asks = verb == "update" && options.contains { $0.0.endsSessions }
        return ["client", verb] + (asks ? ["--yes"] : []) + options.flatMap { Shell.option($0.name, $0.text($1)) }
            + Shell.operands(id)
    }

    /// What those words read from the standard input.
    static func input(_ body: [String: JSONValue]) -> String? {
        all.first { $0.kind == .file && body[$0.member] ?? .null != .null }.flatMap {
            body[$0.member]?.compactText
        }
    }
}
