public import AdminActs
public import JSON
internal import Sessions

/// A client as the console's form shows it: a text for each member, and ticked boxes.
public struct ClientForm: WholeForm {
    /// How a member is written.
    enum Kind: Sendable {
        case text
        case word([String])
        /// Texts with white space between them.
        case list
        case duration
        case flag
        case json
        /// Ways to log in, as boxes.
        case methods
    }

    /// A member: its name, how it is written, and its label.
    typealias Member = (name: String, kind: Kind, label: String)

    /// Members that belong together.
    struct Group: Sendable {
        let title: String
        let members: [Member]

        var names: [String] { members.map(\.name) }
    }

    /// The groups of the form, in its order.
    static let groups = [
        Group(
            title: "Access",
            members: [
                ("client_name", .text, "Name"),
                (
                    "token_endpoint_auth_method", .word(Client.AuthenticationMethod.allCases.map(\.rawValue)),
                    "Authentication"
                ),
                ("token_endpoint_auth_method_pinned", .flag, "Takes the secret in this place alone"),
                ("jwks", .json, "Public keys (JWK set), for private_key_jwt"),
                ("scope", .text, "Widest scope"),
                ("resources", .list, "APIs (resources)"),
                (
                    "scope_claims", .json,
                    "Claims of users that each scope brings into ID tokens and userinfo: {\"SCOPE\": [\"CLAIM\"]}"
                ),
                ("login_methods", .methods, "Ways to log in"),
                (
                    "login_names", .word(PageRegistration.LoginNames.allCases.map(\.rawValue)),
                    "Names beside a password"
                ),
            ]),
        Group(
            title: "Login page",
            members: [
                ("redirect_uris", .list, "Redirect URIs"),
                ("post_logout_redirect_uris", .list, "Redirect URIs after a logout"),
                ("redirect_hops", .list, "Where redirect URIs lead on"),
                ("allowed_origins", .list, "Origins of pages that call the server as this client (CORS)"),
                (
                    "browser_session", .word(PageRegistration.BrowserSession.allCases.map(\.rawValue)),
                    "Session of the browser"
                ),
                ("initiate_login_uri", .text, "Page that starts a login"),
                (
                    "id_token_signed_response_alg",
                    .word([""] + PageRegistration.IDTokenAlgorithm.allCases.map(\.rawValue)),
                    "Algorithm of ID tokens"
                ),
                ("require_pushed_authorization_requests", .flag, "Takes only pushed authorization requests (RFC 9126)"),
                (
                    "pkce", .word(PageRegistration.PKCERequirement.allCases.map(\.rawValue)),
                    "PKCE; optional for confidential clients that send a nonce"
                ),
            ]),
        Group(
            title: "Brand",
            members: BrandField.all.map { ($0.name, .text, $0.label) }),
        Group(
            title: "Sessions and tokens",
            members: [
                ("offline_session_idle", .duration, "Own rolling window"),
                ("offline_session_max", .duration, "Own longest life"),
                ("access_token_lifetime", .duration, "Life of access tokens, its own too"),
                ("refresh_after", .duration, "Own refresh_after"),
                ("user_presence_max_age", .duration, "Longest time without a proof of presence"),
                ("token_style", .word(Client.TokenStyle.allCases.map(\.rawValue)), "Place of the refresh token"),
                ("dpop", .word(Client.ProofRequirement.allCases.map(\.rawValue)), "Proof of a key"),
                (
                    "app_data", .word(Client.AppDataRule.allCases.map(\.rawValue)),
                    "A refresh that names another platform"
                ),
                (
                    "attestation", .word(Client.AttestationRule.allCases.map(\.rawValue)),
                    "A refresh without the verdict genuine"
                ),
                ("stay_logged_in", .flag, "Users stay logged in"),
                ("anonymous_users", .flag, "A login can make an anonymous user"),
                ("sign_up", .flag, "Strangers make accounts by a proof of their mailbox"),
                (
                    "second_factor_policy", .text,
                    "Second factor: off, if_enrolled, required_at_login or required; empty: as the settings"
                ),
            ]),
        Group(
            title: "Phones and backends",
            members: [
                ("remote_scope", .text, "Largest scope of a login that a phone approves"),
                (
                    "minimum_bond", .word(PhoneLogin.Bond.Minimum.allCases.map(\.rawValue)),
                    "Weakest bond to the phone; with none, a session can outlive its phone"
                ),
                ("backchannel_logout_uri", .text, "Receiver of logout tokens"),
                (
                    "backchannel_token_delivery_mode",
                    .word(BackchannelRegistration.DeliveryMode.allCases.map(\.rawValue)),
                    "Logins that it requests of users (CIBA)"
                ),
                ("backchannel_client_notification_endpoint", .text, "Receiver of pings about them"),
                ("apple_app_ids", .list, "Apps on Apple platforms"),
                ("android_apps", .list, "Apps on Android"),
            ]),
    ]
    /// Every member of the groups.
    static let members = groups.flatMap(\.members)
    /// The member that the boxes of the grants are.
    static let grantTypes = "grant_types"
    /// See `WholeForm`.
    public static let names = [grantTypes] + members.map(\.name)
    private static let byName = Dictionary(members.map { ($0.name, $0) }) { first, _ in first }

    /// What a grant is, in words.
    static func label(of grant: Client.GrantType) -> String {
        switch grant {
        case .authorizationCode: "login page"
        case .refreshToken: "silent renewal"
        case .clientCredentials: "backend for itself"
        case .password: "password"
        case .jwtBearer: "key of a device"
        case .deviceCode: "device with a code"
        case .backchannel: "login requested by a backend"
        case .tokenExchange: "ID token of a provider"
        case .login: "own login screen"
        }
    }

    /// The members that a change can set to null.
    private static let clearable: Set = [
        "second_factor_policy",
        "client_name", "offline_session_idle", "offline_session_max", "access_token_lifetime", "refresh_after",
        "user_presence_max_age", "backchannel_logout_uri", "initiate_login_uri", "remote_scope",
        "id_token_signed_response_alg", "jwks", "backchannel_client_notification_endpoint", "login_methods",
        "accent", "policy_uri", "tos_uri", "support_uri", "support_email",
    ]

    /// The texts of the members; `1` for a flag that is set.
    public var texts: [String: String] = [:]
    var grants: Set<String> {
        Set((texts[Self.grantTypes] ?? "").split(separator: " ").map(String.init))
    }

    /// The form for the members of a client as JSON.
    public init(_ values: [String: JSONValue]) {
        for (name, kind, _) in Self.members {
            guard let value = values[name], value != .null else { continue }
            switch kind {
            case .text, .word: texts[name] = value.string
            case .list, .methods: texts[name] = value.elements.compactMap(\.string).joined(separator: "\n")
            case .duration: texts[name] = value.integer.map { DurationText.text($0) }
            case .flag: texts[name] = value.bool == true ? "1" : nil
            case .json: texts[name] = value.compactText
            }
        }
        setGrants(Set(values[Self.grantTypes]?.elements.compactMap(\.string) ?? []))
    }

    private mutating func setGrants(_ grants: Set<String>) {
        texts[Self.grantTypes] =
            Client.GrantType.allCases.map(\.rawValue).filter(grants.contains).joined(separator: " ")
    }

    /// What the form of a client was filled with, by the members that the admin API answers.
    public static func mark(_ members: [String: JSONValue]) -> FormMark {
        FormMark(members.filter { $0.value != .null && ($0.key == grantTypes || byName[$0.key] != nil) })
    }

    /// This form with other values of some members.
    public func with(_ values: [String: JSONValue]) -> ClientForm {
        var form = self
        form.texts.merge(ClientForm(values).texts.filter { values[$0.key] != nil }) { $1 }
        return form
    }

    /// The field with the words of which each has a box.
    static func offered(_ name: String) -> String { "\(name).offered" }

    /// The form that was sent.
    public init(_ form: FormValues) {
        for (name, kind, _) in Self.members {
            guard case .methods = kind else {
                texts[name] = form[name]
                continue
            }
            let words = (form[Self.offered(name)] ?? "").split(separator: " ").map(String.init)
            let chosen = words.filter { form["\(name).\($0)"] == "1" }
            texts[name] = chosen.isEmpty ? nil : chosen.joined(separator: "\n")
        }
        setGrants(Set(Client.GrantType.allCases.map(\.rawValue).filter { form["\(Self.grantTypes).\($0)"] == "1" }))
    }

    /// A member as JSON. Throws the sentence for a member that cannot be read.
    public func value(of name: String) throws(CallRefusal) -> JSONValue? {
        let text = texts[name] ?? ""
        guard let (_, kind, label) = Self.byName[name] else {
            return .array(text.split(separator: " ").map { .string(String($0)) })
        }
        switch kind {
        case .list where text.isEmpty && Self.clearable.contains(name),
            .methods where text.isEmpty:
            return .null
        case .list, .methods:
            return .array(text.split(whereSeparator: \.isWhitespace).map { .string(String($0)) })
        case .flag: return .bool(text == "1")
        // Empty claims are none; keys have a null.
        case .json where text.isEmpty && !Self.clearable.contains(name): return .object([:])
        case _ where text.isEmpty:
            return Self.clearable.contains(name) ? .null : name == "scope" ? .string("") : nil
        case .text, .word: return .string(text)
        case .duration:
            let seconds = try DurationText.seconds(text, in: label)
            return seconds == 0 ? .null : .integer(seconds)
        case .json:
            guard let object = try? StrictJSON.object(Array(text.utf8)) else {
                throw CallRefusal("\(label): this is no JSON object.")
            }
            return .object(object)
        }
    }

    /// The members that differ from those of another form.
    public func changes(from other: ClientForm) throws(CallRefusal) -> [String: JSONValue] {
        var changes: [String: JSONValue] = [:]
        for name in Self.names {
            let value = try value(of: name)
            if let value, value != (try other.value(of: name)) { changes[name] = value }
        }
        return changes
    }
}
