import Federation
import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Which users an address that was verified links, and how it comes to be.
@Suite struct EmailLinkingTests {
    private static func with(_ body: (ProviderFixture) async throws -> Void) async throws {
        try await ProviderFixture.with(twice: true, { $0.linksByProvenEmail = true }, body)
    }

    private static func proving(_ email: String, sub: String = "u1") -> String {
        #"{"sub":"\#(sub)","email":"\#(email)","email_verified":true}"#
    }

    private static func isVerified(_ user: String, _ server: EndpointsFixture) async -> Bool? {
        await server.admin(.get, "/admin/v1/users/\(user)").bool("email_verified")
    }

    /// From the admin's verification of an address to its next owner.
    @Test func aVerifiedAddress_linksOnce_untilItsUserGivesItUp() async throws {
        try await Self.with { world in
            let server = world.server
            let anna = try await server.logIn()
            #expect(await Self.isVerified(anna.userID, server) == false)
            let path = "/admin/v1/users/username:anna"
            let verified = await server.admin(.patch, path, #"{"email_verified":true}"#)
            #expect(verified.string("email") == "anna@example.org" && verified.bool("email_verified") == true)

            let linked = try Tokens(try await world.logIn(Self.proving("Anna@Example.org")))
            #expect(linked.userID == anna.userID)
            #expect(linked.answer.string("user", "username") == "anna")
            let events = await server.admin(.get, "/admin/v1/events?user=\(anna.userID)&limit=200")
            #expect(events.text.contains("identity_linked"))
            // Clients get what seed 002 lists, and no more.
            let me = await server.call(.get, "/v1/me", bearer: linked.access)
            #expect(me.names == ["user_id", "username", "email"])

            let other = await server.call(.patch, "/v1/me", #"{"email":"a@example.org"}"#, bearer: linked.access)
            #expect(other.status == 200)
            #expect(await Self.isVerified(anna.userID, server) == false)
            let back = #"{"email":"anna@example.org"}"#
            #expect(await server.call(.patch, "/v1/me", back, bearer: linked.access).status == 200)
            #expect(await Self.isVerified(anna.userID, server) == false)
            let next = try await world.present(
                world.provider.token(Self.proving("anna@example.org", sub: "u2")), provider: "acme-2")
            #expect(try Tokens(next).userID != anna.userID)
            // A user that was linked stays so.
            #expect(try Tokens(try await world.logIn(#"{"jti":"9"}"#)).userID == anna.userID)
        }
    }

    /// No account can lie in wait for a stranger's first login.
    @Test func usersCannotVerifyTheirAddress() async throws {
        try await Self.with { world in
            let eve = try await world.server.logIn()
            for body in [
                #"{"email":"ada@example.org","email_verified":true}"#, #"{"email_verified":true}"#,
                #"{"email_verified":false}"#,
            ] {
                let refused = await world.server.call(.patch, "/v1/me", body, bearer: eve.access)
                #expect(refused.status == 400 && refused.string("member") == "email_verified", "\(refused.text)")
            }
            let written = await world.server.call(
                .patch, "/v1/me", #"{"email":"ada@example.org"}"#, bearer: eve.access)
            #expect(written.status == 200)
            let ada = try Tokens(try await world.logIn(Self.proving("ada@example.org")))
            #expect(ada.userID != eve.userID)
        }
    }

    @Test func theLoginThatMakesAUser_verifiesWhatItsProviderMayLinkBy() async throws {
        try await Self.with { world in
            for (claims, isVerified) in [
                (Self.proving("ada@example.org", sub: "1"), true),
                (#"{"sub":"2","email":"ben@example.org"}"#, false),
                (#"{"sub":"3","email":"cid@example.org","email_verified":"true"}"#, true),
                (#"{"sub":"4","email":"\u212aim@example.org","email_verified":true}"#, false),
                (#"{"sub":"5","email_verified":true}"#, false),
                (#"{"sub":"6","email":"no address","email_verified":true}"#, false),
            ] {
                let made = try Tokens(try await world.logIn(claims))
                #expect(await Self.isVerified(made.userID, world.server) == isVerified, "\(claims)")
            }
            // The same person at another provider, and another person at the same one.
            let ada = await world.server.admin(.get, "/admin/v1/users/username:ada@example.org").string("user_id")
            let proof = try world.provider.token(Self.proving("ada@example.org", sub: "7"))
            #expect(try Tokens(await world.present(proof, provider: "acme-2")).userID == ada)
            #expect(try Tokens(try await world.logIn(Self.proving("ada@example.org", sub: "8"))).userID != ada)
            // A provider that may not link by addresses verifies none, and links no user.
            for email in ["ada@example.org", "dora@example.org"] {
                let token = try world.other.token(Self.proving(email, sub: email))
                let made = try Tokens(await world.present(token, provider: "globex"))
                #expect(made.userID != ada)
                #expect(await Self.isVerified(made.userID, world.server) == false)
            }
        }
    }

    /// The profile's address can be another claim than the one that was proven.
    @Test func anAddressThatTheTokenDoesNotProve_isNotVerified() async throws {
        try await ProviderFixture.with({ provider in
            provider.linksByProvenEmail = true
            provider.claims.email = "emails"
        }) { world in
            for (emails, isVerified) in [(#"["x@example.org"]"#, false), (#"["ADA@example.org"]"#, true)] {
                let made = try Tokens(
                    try await world.logIn(
                        #"{"sub":"\#(isVerified)","emails":\#(emails),"email":"ada@example.org","email_verified":true}"#
                    ))
                #expect(await Self.isVerified(made.userID, world.server) == isVerified, "\(emails)")
            }
        }
    }

    /// U+212A becomes a K when it is normalised, and may be another mailbox at the provider.
    @Test func anAddressThatLooksLikeAnother_isAnother() async throws {
        try await Self.with { world in
            let server = world.server
            for (name, more) in [
                ("kim@example.org", ""), ("karl", #","email":"karl@example.org","email_verified":true"#),
            ] {
                let made = await server.admin(.post, "/admin/v1/users", #"{"username":"\#(name)"\#(more)}"#)
                let id = try #require(made.string("user_id"))
                let address = name.contains("@") ? name : "\(name)@example.org"
                let eve = try Tokens(
                    try await world.logIn(
                        Self.proving("\\u212a" + address.dropFirst(), sub: "eve of \(name)")))
                #expect(eve.userID != id)
                #expect(try Tokens(try await world.logIn(Self.proving(address, sub: name))).userID == id)
            }
        }
    }

    @Test func aDisabledUser_isMeantAllTheSame() async throws {
        try await Self.with { world in
            let body = #"{"username":"anna2","email":"a2@example.org","email_verified":true}"#
            #expect(await world.server.admin(.post, "/admin/v1/users", body).status == 201)
            #expect(await world.server.admin(.post, "/admin/v1/users/username:anna2/disable").status == 200)
            let refused = try await world.logIn(Self.proving("a2@example.org"))
            #expect(refused.status == 403 && refused.string("code") == "login_disabled_by_admin", "\(refused.text)")
            #expect(await world.server.admin(.get, "/admin/v1/users/username:anna2/identities").items.isEmpty)
            #expect(await world.server.admin(.get, "/admin/v1/users?query=a2@example.org").items.count == 1)
        }
    }

    @Test func adminsVerifyAddresses() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"ada","email":"ada@example.org","email_verified":true}"#)
            #expect(made.status == 201 && made.bool("email_verified") == true, "\(made.text)")
            let path = "/admin/v1/users/username:ada"
            for (body, isVerified) in [
                (#"{"display_name":"Ada"}"#, true), (#"{"email":"ADA@example.org"}"#, true),
                (#"{"email_verified":false}"#, false), (#"{"email_verified":true}"#, true),
                (#"{"email":"b@example.org"}"#, false),
                (#"{"email":"c@example.org","email_verified":true}"#, true), (#"{"email":null}"#, false),
                (#"{"email":"c@example.org"}"#, false),
            ] {
                let changed = await server.admin(.patch, path, body)
                #expect(changed.status == 200 && changed.bool("email_verified") == isVerified, "\(body)")
                #expect(await Self.isVerified("username:ada", server) == isVerified, "\(body)")
            }
        }
    }

    @Test func anAddressThatCannotBeVerified_isRefused_andNothingIsWritten() async throws {
        try await EndpointsFixture.with { server in
            let members = [
                #""email_verified":true"#, #""email":null,"email_verified":true"#,
                #""email":"\u212aim@example.org","email_verified":true"#, #""email_verified":"yes""#,
                #""email_verified":1"#,
            ]
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert"}"#)
            for refused in members {
                let new = await server.admin(.post, "/admin/v1/users", #"{"username":"new",\#(refused)}"#)
                let changed = await server.admin(.patch, "/admin/v1/users/username:bert", "{\(refused)}")
                for answer in [new, changed] {
                    #expect(answer.status == 400 && answer.string("member") == "email_verified", "\(answer.text)")
                }
            }
            let null = await server.admin(.patch, "/admin/v1/users/username:bert", #"{"email_verified":null}"#)
            #expect(null.status == 400 && null.string("member") == "email_verified", "\(null.text)")
            #expect(await server.admin(.get, "/admin/v1/users/username:new").status == 404)
            #expect(await server.admin(.get, "/admin/v1/users/username:bert").string("email") == nil)
        }
    }
}
