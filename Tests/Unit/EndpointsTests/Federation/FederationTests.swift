import Cryptography
import Federation
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// What a login by an identity provider makes of users.
@Suite struct FederationTests {
    private static let profile =
        #"""
        {"sub":"u1","email":"ada@example.org","email_verified":true,"name":"Ada L","given_name":"Ada",\#
        "family_name":"L","phone_number":"+44 1"}
        """#

    @Test func firstLogin_makesTheUser_andTheNextOneFindsThem() async throws {
        try await ProviderFixture.with { world in
            let first = try Tokens(try await world.logIn(Self.profile))
            #expect(first.answer.string("user", "username") == "ada@example.org")
            #expect(first.answer.string("user", "email") == "ada@example.org")
            #expect(first.answer.string("user", "display_name") == "Ada L")
            #expect(first.answer.string("user", "given_name") == "Ada")
            #expect(first.answer.string("user", "family_name") == "L")
            #expect(first.answer.string("user", "phone_number") == "+44 1")
            // What the provider says later changes nothing here.
            let second = try Tokens(try await world.logIn(#"{"sub":"u1","email":"other@example.org","jti":"2"}"#))
            #expect(second.userID == first.userID)
            #expect(second.answer.string("user", "email") == "ada@example.org")
            #expect(try Tokens(try await world.logIn(#"{"sub":"U1","jti":"3"}"#)).userID != first.userID)
            #expect(await world.server.refresh(second.refresh).status == 200)
            let events = await world.server.admin(.get, "/admin/v1/events?user=\(first.userID)&limit=200")
            let kinds = events.items.compactMap { $0.string("event") ?? $0.string("kind") ?? $0.string("type") }
            #expect(kinds.contains("user_created") && kinds.contains("identity_linked"), "\(events.text)")
        }
    }

    @Test func methods_areThoseOfTheProvider() async throws {
        try await ProviderFixture.with { world in
            for (claim, expected) in [
                (#""amr":["pwd","mfa","otp"]"#, ["pwd", "otp"]), (#""acr":"x""#, nil), (#""amr":"pwd""#, nil),
                (#""amr":["a b"]"#, nil), (#""amr":[7]"#, nil),
            ] as [(String, [String]?)] {
                let tokens = try Tokens(try await world.logIn("{\(claim)}"))
                let claims = try JWT.parse(tokens.access).unverifiedClaims
                let found: [String]?
                if case .array(let values)? = claims?["amr"] {
                    found = values.compactMap(\.string)
                } else {
                    found = nil
                }
                #expect(found == expected, "\(claim)")
            }
        }
    }

    /// A username that another user has, or that is another user's address, is not given away.
    @Test(arguments: [
        ("anna", #"{"nick":"anna"}"#), ("ANNA", #"{"nick":"ANNA"}"#),
        ("eve@example.org", #"{"nick":"eve@example.org"}"#),
        ("x@example.org", #"{"nick":"x@example.org","email":"y@example.org","email_verified":true}"#),
        ("kim@example.org", #"{"nick":"\u212aim@example.org","email":"\u212aim@example.org","email_verified":true}"#),
        ("kim@example.org", #"{"nick":"Kim@example.org","email":"\u212aim@example.org","email_verified":true}"#),
        ("", #"{"nick":""}"#), ("", #"{"nick":7}"#), ("a\\nb", #"{"nick":"a\nb"}"#),
    ])
    func usernameThatIsNotToBeHad_isReplacedByTheProvidersOwn(_ name: String, _ claims: String) async throws {
        try await ProviderFixture.with({ $0.claims.username = "nick" }) { world in
            let tokens = try Tokens(try await world.logIn(claims))
            let username = try #require(tokens.answer.string("user", "username"))
            let digits = Hex.encode(Array(sha256(Array("acme\0u1".utf8)).prefix(10)))
            #expect(username == "acme-\(digits)")
        }
    }

    @Test func usernameOfTheProvider_isTakenAsItIs() async throws {
        try await ProviderFixture.with({ $0.claims.username = "nick" }) { world in
            let tokens = try Tokens(try await world.logIn(#"{"nick":"Ada"}"#))
            #expect(tokens.answer.string("user", "username") == "Ada")
        }
    }

    @Test func claimsThatFitNoProfile_areLeftOut() async throws {
        try await ProviderFixture.with({ $0.claims.country = "country" }) { world in
            let tokens = try Tokens(
                try await world.logIn(
                    #"{"email":"no address","name":"\#(String(repeating: "n", count: 2000))","country":"Germany"}"#))
            for name in ["email", "display_name", "country"] { #expect(tokens.answer.string("user", name) == nil) }
            let denied = try await world.logIn(
                #"{"sub":"u2","email":"a@example.org","email_verified":"false","country":"DE"}"#)
            #expect(denied.string("user", "email") == nil)
            #expect(denied.string("user", "country") == "DE")
        }
    }

    @Test func provenEmail_linksOnlyWhereConfigured_toAUserWithoutAnyIdentity() async throws {
        func make(_ world: ProviderFixture) async throws -> String {
            let answer = await world.server.admin(.post, "/admin/v1/users", #"{"username":"ada@example.org"}"#)
            return try #require(answer.string("user_id"))
        }
        try await ProviderFixture.with { world in
            let made = try await make(world)
            #expect(try Tokens(try await world.logIn(Self.profile)).userID != made)
        }
        try await ProviderFixture.with({ $0.linksByProvenEmail = true }) { world in
            let made = try await make(world)
            for denied in [#","email_verified":false"#, "", #","email_verified":"yes""#] {
                let answer = try await world.logIn(#"{"sub":"x","email":"ada@example.org"\#(denied)}"#)
                #expect(try Tokens(answer).userID != made, "\(denied)")
            }
            #expect(try Tokens(try await world.logIn(Self.profile)).userID == made)
            // Now the user has an identity: a proof of the same address elsewhere is another user's.
            let second = try await world.logIn(Self.profile.replacing("u1", with: "u2"))
            #expect(try Tokens(second).userID != made)
        }
    }

    /// A profile's address proves nothing: users write it themselves.
    @Test func addressInAProfile_linksNoUser() async throws {
        try await ProviderFixture.with({ $0.linksByProvenEmail = true }) { world in
            let anna = try await world.server.logIn()
            let answer = try await world.logIn(#"{"email":"anna@example.org","email_verified":true}"#)
            #expect(try Tokens(answer).userID != anna.userID)
        }
    }

    @Test func admins_linkListAndUnlink() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let path = "/admin/v1/users/username:anna/identities"
            #expect(await server.admin(.get, path).items.isEmpty)
            let body = #"{"provider":"acme","subject":"u1"}"#
            for _ in 0..<2 { #expect(await server.admin(.put, path, body).status == 204) }
            let list = await server.admin(.get, path)
            #expect(list.items.map { $0.string("subject") } == ["u1"])
            let anna = try await server.logIn()
            #expect(try Tokens(try await world.logIn()).userID == anna.userID)
            // Another user's.
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"ben"}"#)
            let taken = await server.admin(.put, "/admin/v1/users/username:ben/identities", body)
            #expect(taken.status == 409)
            #expect(taken.string("code") == "identity_taken")
            #expect(
                await server.admin(.delete, "/admin/v1/users/username:ben/identities?provider=acme&subject=u1").status
                    == 404)
            #expect(await server.admin(.delete, path + "?provider=acme&subject=u1").status == 204)
            #expect(await server.admin(.get, path).items.isEmpty)
            #expect(try Tokens(try await world.logIn(#"{"jti":"2"}"#)).userID != anna.userID)
            for (method, target, body, status) in [
                (.put, path, #"{"provider":"A B","subject":"u"}"#, 400), (.put, path, #"{"provider":"acme"}"#, 400),
                (.put, path, #"{"provider":"acme","subject":""}"#, 400),
                (.put, "/admin/v1/users/username:zoe/identities", body, 404),
                (.delete, path + "?provider=acme", nil, 400), (.delete, path, nil, 400),
            ] as [(HTTP.Method, String, String?, Int)] {
                #expect(await server.admin(method, target, body).status == status, "\(target) \(body ?? "")")
            }
        }
    }

    @Test func disabledUser_isToldSo_andADeletedOneIsMadeAnew() async throws {
        try await ProviderFixture.with { world in
            let tokens = try Tokens(try await world.logIn())
            let path = "/admin/v1/users/\(tokens.userID)"
            #expect(await world.server.admin(.post, path + "/disable").status == 200)
            let refused = try await world.logIn(#"{"jti":"2"}"#)
            #expect(refused.status == 403)
            #expect(refused.string("code") == "login_disabled_by_admin")
            #expect(await world.server.admin(.delete, path).status == 204)
            #expect(try Tokens(try await world.logIn(#"{"jti":"3"}"#)).userID != tokens.userID)
        }
    }

    @Test func membersOfTheOtherLogin_areRefused_andMissingOnesNamed() async throws {
        try await ProviderFixture.with { world in
            let device = #""device":{"id":"p"}"#
            for (body, member) in [
                (#"{"provider":"acme",\#(device)}"#, "id_token"), (#"{"id_token":"x",\#(device)}"#, "provider"),
                (#"{"provider":"acme","id_token":"x","username":"a",\#(device)}"#, "username"),
                (#"{"username":"anna","password":"x","nonce":"n",\#(device)}"#, "nonce"),
                (#"{"provider":"acme","id_token":"x","nonce":"",\#(device)}"#, "nonce"),
                (#"{"provider":"acme","id_token":"x"}"#, "device"),
            ] {
                let answer = await world.server.call(.post, "/v1/login", body)
                #expect(answer.status == 400, "\(body): \(answer.text)")
                #expect(answer.string("member") == member, "\(body)")
            }
        }
    }

    @Test func refusedTokens_meetTheDoor() async throws {
        try await ProviderFixture.with { world in
            var statuses: Set<Int> = []
            for _ in 0..<125 {
                let answer = await world.present("a.b.c")
                statuses.insert(answer.status)
            }
            #expect(statuses == [401, 429])
        }
    }
}
