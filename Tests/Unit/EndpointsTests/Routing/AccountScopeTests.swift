import AdminActs
import Cryptography
import FoundationEssentials
import HTTP
import JSON
import Repository
import Sessions
import Testing

@testable import Console
@testable import Endpoints

/// The scope `account`: a token without it acts on its own session alone, whatever call it is sent to. The rows of the routes say
/// so, and each row is tried.
@Suite struct AccountScopeTests {
    /// The calls with an access token that need no scope `account`, because they concern the session of the token itself, or answer
    /// less.
    static let exempt: Set = [
        "GET /v1/me", "PUT /v1/me/authentication-mode", "PUT /v1/me/encryption-key", "DELETE /v1/me/encryption-key",
        "POST /v1/me/presence", "POST /v1/me/presence/options",
    ]

    /// The calls without a guard of their row that read an access token of a user, with any scope or with `openid`.
    static let readers: Set = [
        "GET /oauth/userinfo", "POST /oauth/userinfo", "GET /v1/verify", "GET /v1/verify/*", "POST /v1/logout",
        "POST /v1/sign-up",
    ]

    private static func path(_ route: Route) -> String {
        [
            "{device_id}": "phone-1", "{passkey}": "AQ", "{login_id}": "\(Identifier<Session>(random: .system))",
            "*": "x",
        ]
        .reduce(route.pattern) { $0.replacing($1.key, with: $1.value) }
    }

    /// Whether the route takes an access token of a user by its row.
    private static func takesUserToken(_ route: Route) -> Bool {
        switch route.handler {
        case .user, .owner: true
        case .immediate, .open, .client, .admin, .streaming, .openStreaming: false
        }
    }

    private static func isRefused(_ answer: Answer) -> Bool {
        answer.status == 403 && answer.string("code") == "insufficient_scope"
    }

    @Test("a call with a user's token is on the short list, or refuses a token without the scope `account`")
    func everyRoute() async throws {
        try await EndpointsFixture.with { server in
            let routes = Route.all.filter(Self.takesUserToken)
            #expect(Self.exempt.isSubset(of: Set(routes.map(\.name))))
            #expect(routes.count > 25)
            for route in routes {
                let tokens = try await server.logIn()
                let narrow = try #require(
                    await server.refresh(tokens.refresh, more: "&scope=read+write").string("access_token"))

                let refused = await server.call(route.method, Self.path(route), "{}", bearer: narrow)

                #expect(Self.isRefused(refused) != Self.exempt.contains(route.name), "\(route.name): \(refused.text)")
                guard Self.isRefused(refused) else { continue }
                let challenges = refused.response.fields.values("WWW-Authenticate")
                #expect(challenges.count == 2, "\(route.name)")
                #expect(
                    challenges.first
                        == #"Bearer realm="sojourn", error="insufficient_scope", "#
                        + #"error_description="The access token lacks the scope account.", scope="account""#)
                // The whole token is let through to the call. A deletion would take the user from the calls that follow.
                if route.name == "DELETE /v1/me" { continue }
                let taken = await server.call(route.method, Self.path(route), "{}", bearer: tokens.access)
                #expect(!Self.isRefused(taken), "\(route.name): \(taken.text)")
            }
        }
    }

    /// An answer that depends on the token shows that the handler reads it.
    @Test("a call without a guard reads a user's token only if it is on the list")
    func everyOpenRoute() async throws {
        try await EndpointsFixture.with { server in
            var readers: Set<String> = []
            for route in Route.all where route.listeners == .public {
                guard case .open = route.handler, route.errorFormat != .page || route.pattern.hasPrefix("/oauth") else {
                    continue
                }
                let tokens = try await server.logIn()
                let send = { (token: String) async -> Int in
                    let path = Self.path(route)
                    if route.errorFormat == .problem, !path.hasPrefix("/oauth") {
                        return await server.call(route.method, path, "{}", bearer: token).status
                    }
                    return await server.send(
                        Request(
                            route.method, path,
                            fields: ["Authorization": "Bearer \(token)"]), isSecure: true
                    ).status
                }
                if await send("x" + tokens.access.dropFirst()) != send(tokens.access) { readers.insert(route.name) }
            }
            #expect(readers == Self.readers)
        }
    }

    @Test("the description of a call names the scope that its row demands")
    func document() throws {
        let data = try #require(FileManager.default.contents(atPath: Repository.path("config/openapi.json")))
        let document = try JSONDecoder().decode(JSONValue.self, from: data)
        for route in Route.all {
            let path = String(APIDocument.name(route).split(separator: " ")[1])
            let operation = document.member("paths").member(path).member(route.method.rawValue.lowercased())
            let demanded =
                switch route.handler {
                case .user(let demands, _): demands.contains(.account)
                case .owner: true
                default: false
                }
            for choice in operation.member("security").elements {
                for scheme in ["bearer", "dpop"] where choice.has(scheme) {
                    let scopes = choice.member(scheme).elements.compactMap(\.string)
                    #expect(scopes == (demanded ? ["account"] : []), "\(route.name)")
                }
            }
            if demanded { #expect(operation.member("responses").has("403"), "\(route.name)") }
        }
    }

    @Test("a relying party's token changes nothing of the account, minutes after the login")
    func relyingParty() async throws {
        try await PageLoginFixture.with { login in
            let tokens = try Tokens(await login.exchange(try await login.code()))
            for (method, path, json) in [
                (.post, "/v1/me/passkeys/options", "{}"), (.patch, "/v1/me", #"{"email":"eve@example.org"}"#),
                (.get, "/v1/me/devices", nil), (.delete, "/v1/me/devices", nil), (.get, "/v1/me/logins", nil),
                (.get, "/v1/me/login-settings", nil), (.put, "/v1/me/login-settings", #"{"logins_disabled":true}"#),
            ] as [(HTTP.Method, String, String?)] {
                #expect(Self.isRefused(await login.server.call(method, path, json, bearer: tokens.access)), "\(path)")
            }
            // What is its own stays: the key of its messages, and its logout.
            let own = await login.server.call(.delete, "/v1/me/encryption-key", bearer: tokens.access)
            #expect(own.status == 204, "\(own.text)")
            #expect(await login.server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
        }
    }

    /// The members of a user that a scope discloses. The telephone number and the country are those of the test.
    static let disclosures: [(scope: String, members: Set<String>)] = [
        ("openid", []), ("openid read", []),
        ("openid profile", ["username", "display_name", "given_name", "family_name"]),
        ("openid email", ["email"]), ("openid phone", ["phone_number"]),
        (
            "openid profile email phone",
            ["username", "display_name", "given_name", "family_name", "email", "phone_number"]
        ),
        (
            "openid account",
            ["username", "display_name", "given_name", "family_name", "email", "phone_number", "country"]
        ),
    ]

    @Test("the profile and the answers with tokens disclose what userinfo gives, and with `account` everything")
    func disclosure() async throws {
        try await EndpointsFixture.with { server in
            #expect(
                await server.admin(
                    .patch, "/admin/v1/clients/mobile", #"{"scope":"openid profile email phone read account"}"#
                ).status == 200)
            #expect(
                await server.admin(
                    .patch, "/admin/v1/users/username:anna",
                    #"{"display_name":"Anna","given_name":"An","family_name":"A","phone_number":"+4312345","country":"AT"}"#
                ).status == 200)
            for (scope, members) in Self.disclosures {
                let tokens = try await server.logIn(more: #","scope":"\#(scope)""#)
                let profile = await server.call(.get, "/v1/me", bearer: tokens.access)

                #expect(profile.names == members.union(["user_id"]), "\(scope)")
                let claims = await server.call(.get, "/oauth/userinfo", bearer: tokens.access)
                #expect(profile.string("user_id") == claims.string("sub"))
                if !scope.contains("account") {
                    for (own, claim) in [
                        ("username", "preferred_username"), ("display_name", "name"), ("email", "email"),
                        ("phone_number", "phone_number"), ("given_name", "given_name"),
                        ("family_name", "family_name"),
                    ] { #expect(profile.string(own) == claims.string(claim), "\(scope): \(own)") }
                }
                for answer in [tokens.answer, await server.refresh(tokens.refresh)] {
                    for name in members.union([
                        "user_id", "username", "display_name", "email", "family_name", "country",
                    ]) {
                        #expect(answer.string("user", name) == profile.string(name), "\(scope): \(name)")
                    }
                }
            }
        }
    }

    @Test("the scope that an admin takes from a client, and that a refresh leaves out, is gone")
    func takenAndNarrowed() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(await server.call(.get, "/v1/me/devices", bearer: tokens.access).status == 200)

            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"scope":"read write"}"#)

            #expect(Self.isRefused(await server.call(.get, "/v1/me/devices", bearer: tokens.access)))
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).names == ["user_id"])
            let renewed = await server.refresh(tokens.refresh)
            #expect(renewed.string("scope") == "read write" && renewed.string("user", "email") == nil)
        }
    }

    @Test("a session without the scope is not widened by a login that continues it")
    func continued() async throws {
        try await EndpointsFixture.with { server in
            let narrow = try await server.logIn(more: #","scope":"read""#)
            let more = #","session_id":"\#(narrow.sessionID)""#

            let same = try await server.logIn(more: more)
            let refused = await server.call(.get, "/v1/me/devices", bearer: same.access)
            let wide = try await server.logIn(more: more + #","scope":"read account""#)

            #expect(same.sessionID == narrow.sessionID && same.answer.string("scope") == "read")
            #expect(Self.isRefused(refused))
            // The password gives what the client may have, in a session of its own.
            #expect(wide.sessionID != narrow.sessionID)
        }
    }

    @Test("the switch for logins takes the password without a token, and a token with the scope alone")
    func loginSettings() async throws {
        try await EndpointsFixture.with { server in
            let narrow = try await server.logIn(more: #","scope":"read""#)
            let basic: Fields = [
                "Authorization": "Basic \(Data("anna:\(EndpointsFixture.password)".utf8).base64EncodedString())"
            ]
            for (method, json) in [(.get, nil), (.put, #"{"logins_disabled":false}"#)] as [(HTTP.Method, String?)] {
                let path = "/v1/me/login-settings"
                #expect(Self.isRefused(await server.call(method, path, json, bearer: narrow.access)))
                #expect(await server.call(method, path, json, fields: basic).status == 200)
                let open = await server.call(method, path, json)
                #expect(open.status == 401 && open.string("code") == "unauthenticated")
            }
        }
    }

    @Test("a bound token is refused with a challenge of its scheme")
    func bound() async throws {
        try await EndpointsFixture.with { server in
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"scope":"read"}"#)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)

            let answer = await server.call(.get, "/v1/me/devices", token: tokens.access, by: device)

            #expect(Self.isRefused(answer))
            let challenges = answer.response.fields.values("WWW-Authenticate")
            #expect(challenges.first == #"Bearer realm="sojourn""#)
            #expect(challenges.last?.hasSuffix(#", scope="account""#) == true)
        }
    }

    /// A proof of presence would not help, so the user is not asked for one.
    @Test("the missing scope is told before a missing proof of presence")
    func beforePresence() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(more: #","scope":"read","authentication_mode":"PASSWORD""#)
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"user_presence_max_age":900}"#)
            server.moveClock(to: 1000)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 401)
            #expect(Self.isRefused(await server.call(.get, "/v1/me/devices", bearer: tokens.access)))
        }
    }

    @Test("of the kinds of apps in the console, the two mobile ones have the scope")
    func presets() {
        let kinds = ClientPreset.all.filter { preset in
            let form = Endpoints.newClient.with(preset.values)
            return Scope(form.texts["scope"] ?? "")?.contains(Scope.account) == true
        }
        #expect(kinds.map(\.name) == ["mobile", "page"])
    }
}

extension JSONValue {
    fileprivate func has(_ name: String) -> Bool {
        if case .object(let members) = self { members[name] != nil } else { false }
    }
    fileprivate func member(_ name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }
}
