import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Claims of users in ID tokens and userinfo, by scope (OpenID Connect Core section 5.4): those that an admin sets, and names.
@Suite struct ScopedClaimTests {
    private static func set(_ party: RelyingParty, _ user: String, _ client: String) async {
        for (path, json) in [("/users/username:anna", user), ("/clients/web", client)] {
            let answer = await party.login.server.admin(.patch, "/admin/v1" + path, json)
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    /// The claims of the ID token, of that of a refresh, of userinfo, and of the access token.
    private static func claims(_ party: RelyingParty, scope: String) async throws -> [Answer] {
        // A browser that is logged in shows no page.
        let party = RelyingParty(login: party.login, browser: Browser(party.login.server), secret: party.secret)
        let (tokens, first) = try await party.expectLogin(["scope": scope])
        let refreshed = await party.login.server.form(
            "/oauth/token", "grant_type=refresh_token&refresh_token=\(tokens.string("refresh_token") ?? "")",
            basic: party.basic)
        let access = try #require(tokens.string("access_token"))
        return [
            first, try Answer.claims(of: try #require(refreshed.string("id_token"), "\(refreshed.text)")),
            await party.login.server.call(.get, "/oauth/userinfo", bearer: access), try Answer.claims(of: access),
        ]
    }

    private static let user = #"{"claims":{"groups":["staff","admin"],"roles":["teller"],"tenant":7,"name":"evil"}}"#

    @Test("the scopes `groups` and `roles` bring the claims of their name to every client that has them")
    func presets() async throws {
        try await RelyingParty.with { party in
            await Self.set(party, Self.user, #"{"scope":"openid profile groups roles"}"#)
            for (scope, names) in [
                ("openid", []), ("openid groups", ["groups"]), ("openid profile roles groups", ["groups", "roles"]),
            ] as [(String, Set<String>)] {
                for (place, claims) in try await Self.claims(party, scope: scope).enumerated() {
                    let isAccessToken = place == 3
                    let expected: Set<String> = isAccessToken ? ["groups", "roles"] : names
                    #expect(claims.names.intersection(["groups", "roles"]) == expected, "\(scope) \(place)")
                    if expected.contains("groups") { #expect(claims.strings("groups") == ["staff", "admin"]) }
                    #expect(claims.names.contains("tenant") == isAccessToken)
                }
            }
        }
    }

    @Test(
        "a client says which claims which scope brings, and a change of it or of the user counts from the next answer on"
    )
    func own() async throws {
        try await RelyingParty.with { party in
            await Self.set(
                party, Self.user,
                #"{"scope":"openid email team","scope_claims":{"team":["tenant","groups","absent"],"openid":["roles"]}}"#
            )
            let answers = try await Self.claims(party, scope: "openid team")
            for claims in answers.prefix(3) {
                #expect(claims.integer("tenant") == 7 && claims.strings("groups") == ["staff", "admin"])
                #expect(claims.strings("roles") == ["teller"] && !claims.names.contains("absent"))
                // The name of the profile is not the admin's claim of that name.
                #expect(!claims.names.contains("name"))
            }
            await Self.set(party, #"{"claims":{"groups":["left"]}}"#, #"{"scope_claims":{"team":["groups"]}}"#)
            let next = try await Self.claims(party, scope: "openid team email")
            for claims in next.prefix(3) {
                #expect(claims.strings("groups") == ["left"] && claims.string("email") == "anna@example.org")
                #expect(claims.names.isDisjoint(with: ["roles", "tenant"]))
            }
            await Self.set(party, #"{"claims":null}"#, #"{"scope_claims":{}}"#)
            #expect(try await Self.claims(party, scope: "openid team").allSatisfy { !$0.names.contains("groups") })
        }
    }

    @Test("a device that a phone lets in gets them too")
    func device() async throws {
        try await DeviceLogin.with { server, phone in
            _ = await server.admin(.patch, "/admin/v1/clients/tv", #"{"scope":"openid groups"}"#)
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", Self.user)
            let login = try await DeviceLogin(server, scope: "openid+groups")
            try await login.approve(phone)
            let claims = try Answer.claims(of: try #require(await login.collect().string("id_token")))
            #expect(claims.strings("groups") == ["staff", "admin"])
        }
    }

    @Test(
        "claims of scopes that cannot be are refused, with the member and the reason",
        arguments: [
            (#"{"a b":["x"]}"#, "scope tokens"), (#"{"":["x"]}"#, "scope tokens"), (#"{"a":["sub"]}"#, "the claim sub"),
            (#"{"a":["email"]}"#, "the claim email"), (#"{"a":["x","given_name"]}"#, "the claim given_name"),
            (#"{"a":[""]}"#, "1 to 128 bytes"), (#"{"a":"x"}"#, "object of arrays"),
            (#"{"a":[1]}"#, "object of arrays"),
            ("[]", "object of arrays"), ("null", "null"),
            (#"{"a":["\#(String(repeating: "x", count: 128))"],"b":["\#(String(repeating: "y", count: 128))"]}"#, nil),
            (
                #"{"a":[\#((0..<99).map { "\"claim-number-\($0)\"" }.joined(separator: ","))]}"#,
                "at most 1024 bytes"
            ),
        ] as [(String, String?)])
    func refusals(json: String, reason: String?) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"scope_claims":\#(json)}"#)
            guard let reason else {
                #expect(answer.status == 200, "\(answer.text)")
                return
            }
            #expect(answer.status == 400 && answer.text.contains("scope_claims"), "\(answer.text)")
            #expect(answer.text.contains(reason), "\(answer.text)")
        }
    }

    @Test("given name and family name are of the profile: set by admin and user, told by scope")
    func names() async throws {
        try await RelyingParty.with { party in
            let server = party.login.server
            await Self.set(
                party, #"{"given_name":"Anna","family_name":"Ålund"}"#, #"{"scope":"openid profile email"}"#)
            for claims in try await Self.claims(party, scope: "openid profile").prefix(3) {
                #expect(claims.string("given_name") == "Anna" && claims.string("family_name") == "Ålund")
                #expect(!claims.names.contains("name"))
            }
            for claims in try await Self.claims(party, scope: "openid email") {
                #expect(claims.names.isDisjoint(with: ["given_name", "family_name"]))
            }
            // The user's own app, which also changes them.
            let app = try await server.logIn()
            #expect(app.answer.string("user", "given_name") == "Anna")
            let changed = await server.call(
                .patch, "/v1/me", #"{"given_name":null,"display_name":"Anna Å."}"#, bearer: app.access)
            #expect(changed.status == 200 && changed.string("given_name") == nil, "\(changed.text)")
            let renewed = await server.refresh(app.refresh)
            #expect(renewed.string("user", "family_name") == "Ålund" && renewed.string("user", "given_name") == nil)
            #expect(renewed.string("user", "display_name") == "Anna Å.")
            // Each name is found.
            for query in ["lund", "Anna+%C3%85"] {
                #expect(await server.admin(.get, "/admin/v1/users?query=\(query)").items.count == 1, "\(query)")
            }
            for json in [#"{"given_name":"a\nb"}"#, #"{"family_name":""}"#] {
                #expect(await server.call(.patch, "/v1/me", json, bearer: app.access).status == 400)
            }
        }
    }
}
