import AdminActs
import FoundationEssentials
import HTTP
import JSON
import Sessions

/// `sojourn client …`
enum ClientCommands {
    static let all = [create, list, show, update, delete, BrandingCommands.clientLogo, logouts]

    private static let members =
        [
            Command.Option("--name", "NAME", "the name for people"),
            Command.Option(
                "--auth", "METHOD",
                "none (a public client), client_secret_basic, client_secret_post, or private_key_jwt with --jwks",
                choices: Client.AuthenticationMethod.allCases.map(\.rawValue)),
            Command.Option(
                "--pin-auth", "BOOL",
                "true: its secret is accepted in that place alone, not in the header and in the form"),
            Command.Option(
                "--jwks", "FILE", "the JWK set of its public keys; - for standard input; an empty name removes them"),
            Command.Option(
                "--grants", "LIST",
                "grant types, separated by commas: \(Client.GrantType.allCases.map(\.rawValue).joined(separator: ", "))"
            ),
            Command.Option("--scope", "SCOPE", "the widest scope, separated by spaces"),
            Command.Option(
                "--scope-claims", "JSON",
                "the claims of users that each scope brings into ID tokens and userinfo, like {\"groups\":[\"groups\"]}"
            ),
            Command.Option(
                "--resources", "LIST",
                "APIs that it can have tokens for (RFC 8707): URIs, separated by spaces; '' for none"
            ),
            Command.Option(
                "--origins", "LIST",
                "origins of pages that may call the server as it (CORS), like https://shop.example, separated by spaces; '' for none"
            ),
            Command.Option(
                "--token-style", "STYLE", "separate, or single: the refresh token travels inside the access token",
                choices: Client.TokenStyle.allCases.map(\.rawValue)),
            Command.Option(
                "--offline-session-idle", "DURATION", "its own rolling window; inherit: as the settings say"),
            Command.Option(
                "--offline-session-max", "DURATION",
                "the longest life of its sessions, from the login; inherit: as the settings say"),
            Command.Option(
                "--access-token-lifetime", "DURATION",
                "of access tokens; inherit: the idle time, and an hour for its own"),
            Command.Option("--refresh-after", "DURATION", "its own refresh_after; inherit: as the settings say"),
            Command.Option(
                "--user-presence-max-age", "DURATION",
                "how long sessions in BIOMETRIC or PASSWORD go on without the user; inherit: the default of the mode"),
            Command.Option(
                "--app-data", "RULE", "what a refresh does that names another platform than the login",
                choices: Client.AppDataRule.allCases.map(\.rawValue)),
            Command.Option(
                "--attestation", "RULE", "what a refresh does in a session without the verdict genuine",
                choices: Client.AttestationRule.allCases.map(\.rawValue)),
            Command.Option(
                "--stay-logged-in", "BOOL", "false: a login gives a short access token and no refresh token"),
            Command.Option(
                "--anonymous-users", "BOOL", "true: a login without username and password makes an anonymous user"),
            Command.Option(
                "--sign-up", "BOOL", "true: strangers make accounts by a proof of their mailbox (accounts.sign_up)"),
            Command.Option(
                "--dpop", "DEMAND",
                "required: no login without a proof of a key (RFC 9449); nonce: and each proof has a nonce; or optional",
                choices: Client.ProofRequirement.allCases.map(\.rawValue)),
        ] + page + BrandingCommands.options

    private static let page = [
        Command.Option(
            "--redirect-uris", "LIST",
            "where codes of the login page go (RFC 6749): URIs, separated by spaces; '' for none"),
        Command.Option(
            "--post-logout-redirect-uris", "LIST", "where a browser may go after a logout: URIs, separated by spaces"),
        Command.Option(
            "--redirect-hops", "LIST",
            "where redirect URIs lead on, which some browsers check: URIs, separated by spaces"),
        Command.Option(
            "--require-par", "BOOL", "true: the login page takes only pushed authorization requests (RFC 9126)"),
        Command.Option(
            "--pkce", "RULE",
            "required: each request has a code_challenge (RFC 7636); optional: a confidential client may send a nonce instead",
            choices: PageRegistration.PKCERequirement.allCases.map(\.rawValue)),
        Command.Option(
            "--browser-session", "RULE",
            "which logins the session of a browser answers without asking: none, client, or shared",
            choices: PageRegistration.BrowserSession.allCases.map(\.rawValue)),
        Command.Option(
            "--login-methods", "LIST",
            "the ways to log in, separated by spaces: password, passkey, phone, provider:NAME, anonymous, invitation, email; '' for every way but email"
        ),
        Command.Option(
            "--login-names", "RULE",
            "the names by which users log in with a password: username, email (verified, and of one user), or both",
            choices: PageRegistration.LoginNames.allCases.map(\.rawValue)),
        Command.Option(
            "--second-factor-policy", "RULE",
            "when its logins ask for a second factor, if that is stricter than the settings: off, if_enrolled, required_at_login, required; '' for the settings'"
        ),
        Command.Option("--backchannel-logout-uri", "URI", "the receiver of logout tokens; '' for none"),
        Command.Option(
            "--backchannel-logout-session-required", "BOOL",
            "true: the receiver needs the session in each logout token, which always has it"),
        Command.Option(
            "--backchannel-delivery", "MODE",
            "how it hears of logins that it requests of users (CIBA): poll, or ping at its endpoint",
            choices: BackchannelRegistration.DeliveryMode.allCases.map(\.rawValue)),
        Command.Option(
            "--backchannel-notification-endpoint", "URI", "the receiver of these pings; '' for none"),
        Command.Option(
            "--id-token-alg", "NAME", "RS256, for libraries that know no other algorithm; '' for that of access tokens"),
        Command.Option("--initiate-login-uri", "URI", "the page of the client that starts a login; '' for none"),
        Command.Option(
            "--remote-scope", "SCOPE", "the largest scope of a login that a phone approves for a device; '' for all"),
        Command.Option(
            "--minimum-bond", "BOND", "the weakest bond to the phone that a login may ask for: none, or session",
            choices: PhoneLogin.Bond.Minimum.allCases.map(\.rawValue)),
        Command.Option(
            "--apple-app-ids", "LIST", "its apps on Apple platforms: TEAMID.bundle.id, separated by spaces"),
        Command.Option(
            "--android-apps", "LIST",
            "its apps on Android: PACKAGE/FINGERPRINT with the SHA-256 of the certificate, separated by spaces"),
    ]

    /// The members that the options name.
    static func body(_ arguments: Arguments) throws(Failure) -> [String: JSONValue] {
        var body: [String: JSONValue] = [:]
        for option in ClientOption.all { body[option.member] = try value(of: option, arguments) }
        return body
    }

    private static func value(of option: ClientOption, _ arguments: Arguments) throws(Failure) -> JSONValue? {
        guard let text = arguments.value(option.name) else { return nil }
        func list(_ separator: Character) -> JSONValue {
            .array(text.split(separator: separator).map { .string(String($0)) })
        }
        switch option.kind {
        case .clearableText where text.isEmpty, .clearableList where text.isEmpty, .file where text.isEmpty:
            return .null
        case .text, .clearableText: return .string(text)
        case .list(let separator): return list(separator)
        case .clearableList: return list(" ")
        case .lifetime: return try arguments.lifetime(option.name)
        case .flag: return try arguments.bool(option.name).map { .bool($0) }
        case .file: return try keys(in: text)
        case .object:
            guard let object = JSONValue(text: Array(text.utf8)) else {
                throw arguments.usage("\(option.name) must be a JSON object")
            }
            return object
        }
    }

    /// The members with which a new client begins: those of its kind of app, and those that its URL gives.
    private static func begunMembers(_ arguments: Arguments) throws(Failure) -> [String: JSONValue] {
        let preset = ClientPreset.all.first { $0.name == arguments.value("--preset") }
        guard let url = arguments.value("--url") else {
            if preset?.name == ClientPreset.browser.name { throw arguments.usage("--preset browser needs --url") }
            return preset?.values ?? [:]
        }
        guard preset?.name == ClientPreset.browser.name else { throw arguments.usage("--url is for --preset browser") }
        guard let members = ClientPreset.members(ofPage: url) else {
            throw arguments.usage("--url must be the URL of a page: https, or http on this machine")
        }
        return members.merging(preset?.values ?? [:]) { $1 }
    }

    private static let lifetimes = ClientOption.all.filter { $0.kind == .lifetime }.map(\.member)

    private static func keys(in file: String) throws(Failure) -> JSONValue {
        let isInput = file == ClientOption.standardInput
        guard let text = isInput ? Data(Terminal.readAll().utf8) : try? Data(contentsOf: URL(filePath: file)) else {
            throw Failure(.usage, "\(file) cannot be read")
        }
        guard let keys = try? JSONDecoder().decode(JSONValue.self, from: text) else {
            throw Failure(.usage, "\(isInput ? "the standard input" : file) is not JSON")
        }
        return keys
    }

    static let create = Command.admin(
        ["client", "create"], "Makes a client: one app, or one backend.", operands: ["CLIENT_ID"],
        options: [
            Command.Option(
                "--preset", "KIND", "begins with the members of a kind of app, which other options change",
                choices: ClientPreset.all.map(\.name)),
            Command.Option(
                "--url", "URL", "where an app in the browser is: its redirect URI, and the origin of its pages"),
        ] + members,
        discussion: "The secret of a confidential client is shown only now.",
        examples: [
            "sojourn client create tablet --name 'Tablet app' --scope 'offline_access account' --offline-session-idle 30d",
            "sojourn client create shop-web --preset browser --url https://shop.example",
            "sojourn client create backend --auth client_secret_basic --grants client_credentials",
            "sojourn client create signer --auth private_key_jwt --jwks keys.json --grants client_credentials",
        ],
        act: { arguments throws(Failure) in
            let begun = try begunMembers(arguments)
            return CreateClient(ActSubject(arguments.operands[0]), begun.merging(try body(arguments)) { $1 })
        },
        show: { client, _ in facts(client) })

    static let list = Command.admin(
        ["client", "list"], "Lists the clients.", examples: ["sojourn client list"],
        send: { connection, _ async throws(Failure) in try await connection.send(.get, ["clients"]) },
        show: { page, _ in
            page.table(["CLIENT", "NAME", "AUTHENTICATION", "GRANTS", "SCOPE"], empty: "no clients") { client in
                ["client_id", "client_name", "token_endpoint_auth_method", "grant_types", "scope"].map {
                    client[$0]?.cell ?? "-"
                }
            }
        })

    static let show = Command.admin(
        ["client", "show"], "Shows a client.", operands: ["CLIENT_ID"], examples: ["sojourn client show mobile"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, ["clients", arguments.operands[0]])
        },
        show: { client, _ in facts(client) })

    static let update = Command.admin(
        ["client", "update"], "Changes a client, at once, for its active sessions too.", operands: ["CLIENT_ID"],
        options: members + [
            Command.Option("--rotate-secret", nil, "make a new secret, shown once, now"),
            Command.Option(
                "--secret-overlap", "DURATION",
                "how long the secret before is accepted beside the new one, at most 30d; 0: no longer"),
            LifetimePreview.option,
        ],
        discussion: """
            Members without an option keep their value. A new secret without an overlap, another way to authenticate, and keys without one of the
            present ones end the tokens that the client got for itself.
            """,
        examples: [
            "sojourn client update mobile --offline-session-idle 21d", "sojourn client update backend --rotate-secret",
            "sojourn client update backend --rotate-secret --secret-overlap 7d",
        ],
        act: { arguments throws(Failure) in
            let (client, overlap) = (
                ActSubject(arguments.operands[0]), try arguments.seconds("--secret-overlap")
            )
            var body = try body(arguments)
            if arguments.has("--rotate-secret"), body.isEmpty {
                return RotateClientSecret(client, overlap: overlap)
            }
            if arguments.has("--rotate-secret") { body["rotate_secret"] = .bool(true) }
            body["secret_overlap"] = overlap.map { .integer($0) }
            if body.isEmpty { throw arguments.usage("nothing to change is named") }
            return EditClient(client, body)
        },
        after: { connection, arguments, call async throws(Failure) in
            try await LifetimePreview.confirm(
                connection, arguments, ["clients", arguments.operands[0]], call.body ?? [:])
        },
        show: { client, _ in facts(client) })

    static let delete = Command.admin(
        ["client", "delete"], "Deletes a client and ends its sessions.", operands: ["CLIENT_ID"],
        options: [LifetimePreview.option],
        examples: ["sojourn client delete tablet"],
        act: { arguments throws(Failure) in DeleteClient(ActSubject(arguments.operands[0])) },
        after: { connection, arguments, _ async throws(Failure) in
            try await LifetimePreview.confirmDeletion(ofClient: arguments.operands[0], connection, arguments)
        },
        show: { _, arguments in "client \(arguments.operands[0]) is deleted" })

    static let logouts = Command.admin(
        ["client", "logouts"], "Lists the clients that get logout tokens, and what they have not taken.",
        examples: ["sojourn client logouts"],
        send: { connection, _ async throws(Failure) in try await connection.send(.get, ["logout-receivers"]) },
        show: { page, _ in
            page.table(
                ["CLIENT", "RECEIVER", "WAITING", "SINCE", "FAILING SINCE"], empty: "no client gets logout tokens"
            ) {
                receiver in
                ["client_id", "backchannel_logout_uri", "waiting"].map { receiver[$0]?.cell ?? "-" }
                    + ["waiting_since", "failing_since"].map { Formatting.time(receiver[$0]?.integer) }
            }
        })

    /// `ES256 signer-1, EdDSA 2`: the keys of a set, each by its algorithm and name, or else its place.
    private static func keyNames(_ set: JSONValue) -> String {
        (set["keys"]?.elements ?? []).enumerated().map { index, key in
            let kind = key["alg"]?.string ?? key["crv"]?.string ?? key["kty"]?.string ?? "key"
            return "\(kind) \(key["kid"]?.string ?? "\(index + 1)")"
        }.joined(separator: ", ")
    }

    private static func facts(_ client: JSONValue) -> String {
        let texts = [
            "token_endpoint_auth_method", "token_endpoint_auth_method_pinned", "dpop", "grant_types", "scope",
            "resources", "allowed_origins", "token_style", "stay_logged_in", "app_data", "attestation",
            "anonymous_users", "sign_up",
            "second_factor_policy",
            "redirect_uris", "post_logout_redirect_uris", "redirect_hops", "require_pushed_authorization_requests",
            "pkce", "browser_session", "login_names", "id_token_signed_response_alg", "backchannel_logout_uri",
            "backchannel_token_delivery_mode", "backchannel_client_notification_endpoint", "initiate_login_uri",
            "remote_scope", "minimum_bond", "apple_app_ids", "android_apps", "accent", "logo", "policy_uri", "tos_uri",
            "support_uri", "support_email",
        ]
        var facts: [(String, String?)] = [
            ("client_id", client["client_id"]?.cell), ("client_name", client["client_name"]?.cell),
            ("client_secret, shown once", client["client_secret"]?.cell),
            ("earlier secret until", client["earlier_secret_expires_at"].map { Formatting.time($0.integer) }),
            ("jwks", client["jwks"].map(keyNames)),
        ]
        for name in texts { facts.append((name, client[name]?.cell)) }
        facts.append(("scope_claims", client["scope_claims"]?.compactText))
        facts.append(("login_methods", client["login_methods"]?.cell ?? "every way"))
        for name in lifetimes { facts.append((name, Formatting.lifetime(client[name]))) }
        facts.append(("made", Formatting.time(client["client_id_issued_at"]?.integer)))
        return Formatting.facts(facts)
    }
}
