import Cryptography
import HTTP
import JOSE
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Users without username and password: their logins, what their tokens say, and what becomes of them.
@Suite struct AnonymousUserTests {
    // MARK: The switch

    @Test func aClientMayNotMakeThem_unlessItsSettingSaysSo() async throws {
        try await EndpointsFixture.with { server in
            #expect(await server.admin(.get, "/admin/v1/clients/mobile").bool("anonymous_users") == false)
            let refused = await server.anonymous()
            #expect(refused.status == 400 && refused.string("code") == "unauthorized_client", "\(refused.text)")
            #expect(await server.anonymousUsers() == 0)
            try await server.allowAnonymousUsers()
            #expect(await server.admin(.get, "/admin/v1/clients/mobile").bool("anonymous_users") == true)
            #expect(await server.anonymous().status == 200)
            let null = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"anonymous_users":null}"#)
            #expect(null.status == 400)
            // The users that are there go on.
            #expect(
                await server.admin(.patch, "/admin/v1/clients/mobile", #"{"anonymous_users":false}"#).status == 200)
            #expect(await server.anonymous(device: "phone-2").status == 400)
            #expect(await server.anonymousUsers() == 1)
        }
    }

    @Test(arguments: [
        #""username":"anna""#, #""password":"x""#, #""id_token":"x""#, #""provider":"acme""#, #""nonce":"n""#,
        #""session_id":"00000000000000000000000000000000""#, #""authentication_mode":"PASSWORD""#,
    ])
    func whatAnotherLoginBrings_isRefused(_ member: String) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let refused = await server.anonymous(more: ",\(member)")
            #expect(refused.status == 400 && refused.string("code") == "invalid_request", "\(refused.text)")
            #expect(await server.anonymousUsers() == 0)
        }
    }

    @Test(arguments: ["false", "1"]) func anotherValueThanTrue_isRefused(_ value: String) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let refused = await server.call(
                .post, "/v1/login", #"{"anonymous":\#(value),"device":{"id":"d"}}"#)
            #expect(refused.status == 400 && refused.string("member") == "anonymous")
        }
    }

    // MARK: The login

    @Test func aLoginAnswersLikeAnyOther_withoutAName() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous(more: #","scope":"read""#))
            let named = try await server.logIn(device: "other")
            #expect(tokens.answer.names == named.answer.names)
            #expect(tokens.answer.string("user", "username") == nil)
            #expect(tokens.answer.bool("user", "anonymous") == true)
            #expect(named.answer.bool("user", "anonymous") == nil)
            let refreshed = await server.refresh(tokens.refresh)
            #expect(refreshed.status == 200 && refreshed.string("user", "user_id") == tokens.userID)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).bool("anonymous") == true)
            // No login finds the user.
            let login = await server.call(
                .post, "/v1/login",
                #"{"username":"anonymous-\#(tokens.userID)","password":"","device":{"id":"d"}}"#)
            #expect(login.status == 401 && login.string("code") == "invalid_credentials")
        }
    }

    @Test func eachLoginWithoutAKey_makesAUser() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let first = try Tokens(await server.anonymous())
            let second = try Tokens(await server.anonymous())
            #expect(first.userID != second.userID)
            #expect(await server.refresh(first.refresh).status == 200)
        }
    }

    @Test func aRetry_getsTheSameUserAndSession_ofAnyNode() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let first = try Tokens(await server.anonymous(key: "one"))
            server.moveClock(to: 599)
            let again = try Tokens(await server.anotherNode().anonymous(key: "one"))
            #expect(again.userID == first.userID && again.sessionID == first.sessionID)
            #expect(again.refresh == first.refresh)
            #expect(await server.anonymousUsers() == 1)
            let events = await server.events(of: first.userID).map { $0.string("event") }
            #expect(events == ["user_created", "session_started"])
            #expect(try Tokens(await server.anonymous(key: "two")).userID != first.userID)
        }
    }

    @Test func retriesAtOnce_makeOneUser() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let answers = await withTaskGroup(of: Answer.self) { group in
                for _ in 1...12 { group.addTask { await server.anonymous(key: "one") } }
                return await group.reduce(into: [Answer]()) { $0.append($1) }
            }
            #expect(Set(answers.map { $0.string("session_id") }).count == 1)
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(await server.anonymousUsers() == 1)
        }
    }

    @Test func theKeyOfOneClient_isNoKeyOfAnother() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            _ = try await server.makeClient(#"{"client_id":"tv","anonymous_users":true}"#)
            let first = try Tokens(await server.anonymous(key: "one"))
            let other = try Tokens(await server.anonymous(key: "one", more: #","client_id":"tv""#))
            #expect(other.userID != first.userID)
        }
    }

    /// A holder of the key alone, or a phone that comes too late, does not get into the session.
    @Test(arguments: ["other device", "too late", "refreshed", "other mode", "logged out", "named"])
    func aUsedKey_isRefused(_ cause: String) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let first = try Tokens(await server.anonymous(key: "one"))
            // Derived from the key, it still names the cell.
            #expect(first.userID.hasPrefix("000"))
            var (device, more) = ("phone-1", "")
            switch cause {
            case "other device": device = "phone-2"
            case "too late": server.moveClock(to: 600)
            case "refreshed":
                server.moveClock(to: 10)
                #expect(await server.refresh(first.refresh).status == 200)
            case "other mode": more = #","authentication_mode":"BIOMETRIC""#
            case "logged out":
                #expect(await server.call(.post, "/v1/logout", bearer: first.access).status == 204)
                #expect(try await server.sweep() == 1)
            default: #expect(await server.name(first).status == 200)
            }
            let refused = await server.anonymous(key: "one", device: device, more: more)
            #expect(refused.status == 409 && refused.string("code") == "idempotency_key_used", "\(refused.text)")
            let sessions = await server.admin(.get, "/admin/v1/users/\(first.userID)/sessions").items
            #expect(sessions.count == 1)
            if cause != "logged out" { #expect(await server.refresh(first.refresh).status == 200) }
        }
    }

    // MARK: The claim

    @Test func tokensAndIntrospection_sayIt_untilTheUserHasAName() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let secret = try #require(
                await server.makeClient(
                    #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic"}"#))
            let tokens = try Tokens(await server.anonymous())
            #expect(try Answer.claims(of: tokens.access).bool("anonymous") == true)
            func introspect(_ token: String) async -> Answer {
                await server.form("/oauth/introspect", "token=\(token)", basic: "api:\(secret)")
            }
            let before = await introspect(tokens.access)
            #expect(before.bool("anonymous") == true && before.string("username") == nil, "\(before.text)")
            let shown = await server.admin(.get, "/admin/v1/users/\(tokens.userID)")
            #expect(shown.bool("anonymous") == true && shown.bool("has_password") == false)
            #expect(await server.name(tokens).status == 200)
            let after = await introspect(tokens.access)
            #expect(after.names.contains("anonymous") == false && after.string("username") == "Berta")
            let renewed = try Tokens(await server.refresh(tokens.refresh))
            #expect(try Answer.claims(of: renewed.access).names.contains("anonymous") == false)
            #expect(await !server.admin(.get, "/admin/v1/users/\(tokens.userID)").names.contains("anonymous"))
        }
    }

    @Test func anAdminCannotSetTheClaim() async throws {
        try await EndpointsFixture.with { server in
            let refused = await server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"claims":{"anonymous":true}}"#)
            #expect(refused.status == 400 && refused.string("member") == "claims")
        }
    }

    // MARK: Admins

    @Test func disablingAndRevoking_actOnThem() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous(key: "one"))
            let path = "/admin/v1/users/\(tokens.userID)"
            #expect(await server.admin(.post, path + "/disable", "{}").status == 200)
            #expect(await server.refresh(tokens.refresh).string("reason") == "login_disabled_by_admin")
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 401)
            #expect(await server.anonymous(key: "one").string("code") == "login_disabled_by_admin")
            // A disabled user with a living session is kept.
            #expect(try await server.sweep() == 0)
            #expect(await server.admin(.post, path + "/enable", "{}").status == 200)
            #expect(await server.refresh(tokens.refresh).status == 200)
            #expect(await server.admin(.post, path + "/revoke").integer("revoked") == 1)
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
            #expect(try await server.sweep() == 1)
        }
    }

    @Test(arguments: ["password", "username", "identity"])
    func whatAnAdminGives_namesThem(_ gift: String) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let path = "/admin/v1/users/\(tokens.userID)"
            let answer =
                switch gift {
                case "password": await server.admin(.put, path + "/password", #"{"new_password":"a long enough one"}"#)
                case "username": await server.admin(.patch, path, #"{"username":"carl"}"#)
                default: await server.admin(.put, path + "/identities", #"{"provider":"acme","subject":"s"}"#)
                }
            #expect(answer.status < 300, "\(answer.text)")
            #expect(await !server.admin(.get, path).names.contains("anonymous"))
            #expect(await server.admin(.post, path + "/revoke").status == 200)
            #expect(try await server.sweep() == 0)
        }
    }
}

/// The calls of these tests.
extension EndpointsFixture {
    static func withAnonymousUsers(_ body: (EndpointsFixture) async throws -> Void) async throws {
        try await with { server in
            try await server.allowAnonymousUsers()
            try await body(server)
        }
    }

    func allowAnonymousUsers() async throws {
        #expect(await admin(.patch, "/admin/v1/clients/mobile", #"{"anonymous_users":true}"#).status == 200)
    }

    /// Logs in without a user.
    func anonymous(key: String? = nil, device: String = "phone-1", more: String = "") async -> Answer {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await call(
            .post, "/v1/login", #"{"anonymous":true,"device":{"id":"\#(device)"}\#(more)}"#, fields: fields)
    }

    /// Names the user of a session.
    func name(_ tokens: Tokens, _ username: String = "Berta", _ password: String = "a long enough one") async -> Answer
    {
        await call(
            .post, "/v1/me/account", #"{"username":"\#(username)","password":"\#(password)"}"#, bearer: tokens.access)
    }

    /// The number of users that an admin sees as anonymous.
    func anonymousUsers() async -> Int {
        await admin(.get, "/admin/v1/users").items.count { $0.bool("anonymous") == true }
    }

    /// Deletes abandoned users. Returns their number.
    func sweep() async throws -> Int {
        try await store.sweepAnonymousUsers(after: nil, limit: 100, by: context.policy, at: context.clock.now).deleted
    }

    /// The audit events of a user.
    func events(of userID: String) async -> [Answer] {
        await admin(.get, "/admin/v1/events?user=\(userID)").items
    }
}
