import Federation
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// `POST /v1/me/account`: an anonymous user gets a name, and keeps the id and the session.
@Suite struct AnonymousNamingTests {
    @Test func aPassword_namesTheUser() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let named = await server.name(tokens)
            #expect(named.status == 200, "\(named.text)")
            #expect(named.string("user_id") == tokens.userID && named.string("username") == "Berta")
            #expect(!named.names.contains("anonymous"))
            let refreshed = await server.refresh(tokens.refresh)
            #expect(refreshed.string("session_id") == tokens.sessionID)
            #expect(refreshed.string("user", "username") == "Berta")
            let login = await server.call(
                .post, "/v1/login", #"{"username":"berta","password":"a long enough one","device":{"id":"tablet"}}"#)
            #expect(login.string("user", "user_id") == tokens.userID)
            #expect(await server.refresh(tokens.refresh).status == 200)
            let event = await server.events(of: tokens.userID).first { $0.string("event") == "user_named" }
            #expect(event?.string("reason") == "password" && event?.string("session_id") == tokens.sessionID)
        }
    }

    @Test func theSameRequestAgain_isAnsweredAgain_andAnotherIsNot() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let first = await server.name(tokens)
            let again = await server.name(tokens, "BERTA")
            #expect(again.status == 200 && again.text == first.text)
            for (username, password) in [("berta", "another long one"), ("carl", "a long enough one")] {
                let refused = await server.name(tokens, username, password)
                #expect(refused.status == 409 && refused.string("code") == "not_anonymous", "\(refused.text)")
            }
            #expect(await server.events(of: tokens.userID).count { $0.string("event") == "user_named" } == 1)
        }
    }

    /// The call is no way to guess a password with a stolen token: wrong ones count like those of other calls.
    @Test func wrongPasswordsOfANamedUser_areCounted() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            #expect(await server.name(tokens).status == 200)
            var statuses: [Int] = []
            for number in 1...12 { statuses.append(await server.name(tokens, "berta", "wrong one \(number)").status) }
            #expect(statuses.first == 409 && statuses.last == 429, "\(statuses)")
            // Another session of the user, and logins, are not concerned.
            let login = await server.call(
                .post, "/v1/login", #"{"username":"berta","password":"a long enough one","device":{"id":"tablet"}}"#)
            #expect(login.status == 200)
        }
    }

    @Test func requestsAtOnce_nameTheUserOnce() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let statuses = await withTaskGroup(of: Int.self) { group in
                for _ in 1...6 { group.addTask { await server.name(tokens).status } }
                return await group.reduce(into: [Int]()) { $0.append($1) }
            }
            // One password of a user is hashed at a time; what has to wait for too long is tried again.
            #expect(statuses.contains(200) && statuses.allSatisfy { $0 == 200 || $0 == 503 }, "\(statuses)")
            #expect(await server.name(tokens).status == 200)
            #expect(await server.events(of: tokens.userID).count { $0.string("event") == "user_named" } == 1)
        }
    }

    @Test func aTakenName_isRefused_andTheUserStaysAnonymous() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let refused = await server.name(tokens, "ANNA")
            #expect(refused.status == 409 && refused.string("code") == "username_taken")
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).bool("anonymous") == true)
            #expect(await server.name(tokens, "berta").status == 200)
        }
    }

    @Test(arguments: [
        ("berta", "short", "password"), ("berta", "", "password"), ("", "a long enough one", "username"),
        ("berta-the-great", "berta-the-great", "password"),
    ])
    func theRulesHold(_ username: String, _ password: String, _ member: String) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let refused = await server.name(tokens, username, password)
            #expect(refused.status == 400 && refused.string("member") == member, "\(refused.text)")
            #expect(await server.anonymousUsers() == 1)
        }
    }

    @Test func aNamedUser_anEndedSession_andNoSession_areRefused() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let refused = await server.name(try await server.logIn(), "berta")
            #expect(refused.status == 409 && refused.string("code") == "not_anonymous")
            let tokens = try Tokens(await server.anonymous())
            #expect(await server.admin(.post, "/admin/v1/users/\(tokens.userID)/revoke").status == 200)
            #expect(await server.name(tokens).string("code") == "revoked_by_admin")
            let body = #"{"username":"berta","password":"a long enough one"}"#
            #expect(await server.call(.post, "/v1/me/account", body).status == 401)
        }
    }

    @Test func namesOfOthers_areGuessedOnlySoOften() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            var limits = RateLimits()
            limits.wrongPasswordsPerAddress = 2
            let limited = RateLimitFixture(server, limits)
            let tokens = try Tokens(await server.anonymous())
            var statuses: [Int] = []
            for _ in 1...3 {
                let answer = await limited.json(
                    .post, "/v1/me/account", #"{"username":"anna","password":"a long enough one"}"#,
                    authorization: "Bearer \(tokens.access)")
                statuses.append(answer.status)
            }
            #expect(statuses == [409, 409, 429])
        }
    }

    // MARK: Identity providers

    private func withProvider(_ body: (ProviderFixture) async throws -> Void) async throws {
        try await ProviderFixture.with { world in
            try await world.server.allowAnonymousUsers()
            try await body(world)
        }
    }

    private func name(_ tokens: Tokens, by token: String, _ world: ProviderFixture) async -> Answer {
        await world.server.call(
            .post, "/v1/me/account", #"{"provider":"acme","id_token":"\#(token)"}"#, bearer: tokens.access)
    }

    @Test func anIDToken_namesTheUser_andIsUsedUp() async throws {
        try await withProvider { world in
            let tokens = try Tokens(await world.server.anonymous())
            let token = try world.provider.token(#"{"jti":"1","name":"Berta B."}"#)
            let named = await name(tokens, by: token, world)
            #expect(named.status == 200 && named.string("user_id") == tokens.userID, "\(named.text)")
            #expect(named.string("username") != nil && named.string("display_name") == "Berta B.")
            // The same request is answered again; the token starts no session.
            #expect(await name(tokens, by: token, world).text == named.text)
            #expect(await world.present(token).status == 401)
            let login = await world.present(try world.provider.token(#"{"jti":"2"}"#))
            #expect(login.string("user", "user_id") == tokens.userID)
            let kinds = await world.server.events(of: tokens.userID).map { $0.string("event") ?? "" }
            #expect(Array(kinds.prefix(4)) == ["user_created", "session_started", "user_named", "identity_linked"])
            let other = await name(tokens, by: try world.provider.token(#"{"sub":"u2"}"#), world)
            #expect(other.status == 409 && other.string("code") == "not_anonymous")
            #expect(await world.server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(try await world.server.sweep() == 0)
        }
    }

    @Test func anIdentityOfAnotherUser_isRefused() async throws {
        try await withProvider { world in
            #expect(try await world.logIn(#"{"jti":"1"}"#).status == 200)
            let tokens = try Tokens(await world.server.anonymous())
            let refused = await name(tokens, by: try world.provider.token(#"{"jti":"2"}"#), world)
            #expect(refused.status == 409 && refused.string("code") == "identity_taken", "\(refused.text)")
            #expect(await world.server.anonymousUsers() == 1)
        }
    }

    /// A login by this token would link the user with the verified address, so that it is another user's.
    @Test func theAddressOfAnotherUser_isRefused() async throws {
        try await ProviderFixture.with({ $0.linksByProvenEmail = true }) { world in
            let server = world.server
            try await server.allowAnonymousUsers()
            #expect(
                await server.admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#).status == 200)
            let tokens = try Tokens(await server.anonymous())
            let claims = #"{"email":"anna@example.org","email_verified":true}"#
            let refused = await name(tokens, by: try world.provider.token(claims), world)
            #expect(refused.status == 409 && refused.string("code") == "identity_taken", "\(refused.text)")
        }
    }

    @Test func aUsedOrFalseToken_isRefused() async throws {
        try await withProvider { world in
            let token = try world.provider.token(#"{"sub":"x"}"#)
            let owner = try Tokens(await world.present(token))
            #expect(
                await world.server.admin(
                    .delete, "/admin/v1/users/\(owner.userID)/identities?provider=acme&subject=x"
                ).status == 204)
            let tokens = try Tokens(await world.server.anonymous())
            for text in [token, "junk"] {
                let refused = await name(tokens, by: text, world)
                #expect(refused.status == 401 && refused.string("code") == "invalid_id_token", "\(refused.text)")
            }
            #expect(await world.server.anonymousUsers() == 1)
        }
    }

    @Test func aPasswordBesideAnIDToken_isRefused() async throws {
        try await withProvider { world in
            let tokens = try Tokens(await world.server.anonymous())
            let refused = await world.server.call(
                .post, "/v1/me/account",
                #"{"provider":"acme","id_token":"x","username":"berta","password":"a long enough one"}"#,
                bearer: tokens.access)
            #expect(refused.status == 400 && refused.string("code") == "invalid_request")
        }
    }
}
