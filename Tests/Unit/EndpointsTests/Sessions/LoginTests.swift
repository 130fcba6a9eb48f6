import Cryptography
import HTTP
import SQLiteStore
import Sessions
import Testing

@Suite struct LoginTests {
    @Test func answersWithEverythingThatAnAppStores() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.call(
                .post, "/v1/login",
                #"""
                {"username":"anna","password":"correct horse","authentication_mode":"BIOMETRIC",
                 "device":{"id":"phone-1","name":"Anna's","platform":"ios","app_version":"1.2"}}
                """#)
            #expect(answer.status == 200)
            #expect(answer.field("Cache-Control") == "no-store")
            #expect(answer.field("Pragma") == "no-cache")
            #expect(answer.string("token_type") == "Bearer")
            #expect(answer.integer("expires_in") == 14 * EndpointsFixture.day)
            #expect(answer.string("scope") == EndpointsFixture.scope)
            #expect(answer.integer("issued_at") == EndpointsFixture.start)
            #expect(answer.integer("expires_at") == EndpointsFixture.start + 14 * EndpointsFixture.day)
            #expect(answer.integer("refresh_after") == EndpointsFixture.start + 3600)
            #expect(answer.integer("session_idle_expires_at") == EndpointsFixture.start + 14 * EndpointsFixture.day)
            #expect(answer.integer("session_expires_at") == EndpointsFixture.start + 180 * EndpointsFixture.day)
            #expect(answer.string("device_id") == "phone-1")
            #expect(answer.string("authentication_mode") == "BIOMETRIC")
            #expect(answer.string("user", "username") == "anna")
            #expect(answer.string("user", "email") == "anna@example.org")
            #expect(answer.string("refresh_token")?.hasPrefix("sjr_") == true)
        }
    }

    /// Body, status, code, member.
    static let refusals: [(String, Int, String, String?)] = [
        (#"{"username":"anna","password":"wrong","device":{"id":"p"}}"#, 401, "invalid_credentials", nil),
        (#"{"username":"nobody","password":"correct horse","device":{"id":"p"}}"#, 401, "invalid_credentials", nil),
        (#"{"username":"an\u0000na","password":"x","device":{"id":"p"}}"#, 400, "invalid_request", "username"),
        (#"{"password":"correct horse","device":{"id":"p"}}"#, 400, "invalid_request", "username"),
        (#"{"username":"anna","device":{"id":"p"}}"#, 400, "invalid_request", "password"),
        (#"{"username":"anna","password":"correct horse"}"#, 400, "invalid_request", "device"),
        (#"{"username":"anna","password":"correct horse","device":{}}"#, 400, "invalid_request", "device.id"),
        (#"{"username":"anna","password":"correct horse","device":{"id":""}}"#, 400, "invalid_request", "device.id"),
        (#"{"username":"anna","password":"correct horse","device":{"id":"a b"}}"#, 400, "invalid_request", "device.id"),
        (
            #"{"username":"anna","password":"correct horse","device":{"id":"p","name":"a\nb"}}"#, 400,
            "invalid_request", "device.name"
        ),
        (
            #"{"username":"anna","password":"correct horse","device":{"id":"p","colour":"red"}}"#, 400,
            "invalid_request", "device.colour"
        ),
        (
            #"{"username":"anna","password":"correct horse","device":{"id":"p"},"authentication_mode":"no"}"#, 400,
            "invalid_request", "authentication_mode"
        ),
        (
            #"{"username":"anna","password":"correct horse","device":{"id":"p"},"scope":"admin"}"#, 400,
            "invalid_scope", nil
        ),
        (
            #"{"username":"anna","password":"correct horse","device":{"id":"p"},"client_id":"other"}"#, 400,
            "invalid_client", nil
        ),
    ]

    @Test func refusesWithTheStatusAndTheMember() async throws {
        try await EndpointsFixture.with { server in
            for (body, status, code, member) in Self.refusals {
                let answer = await server.call(.post, "/v1/login", body)
                #expect(answer.status == status, "\(body)")
                #expect(answer.string("code") == code, "\(body)")
                #expect(answer.string("member") == member, "\(body)")
                #expect(answer.integer("status") == Int64(status))
                #expect(answer.field("Content-Type") == "application/problem+json")
            }
            let tooLong = String(repeating: "x", count: 129)
            let answer = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"correct horse","device":{"id":"\#(tooLong)"}}"#)
            #expect(answer.string("member") == "device.id")
        }
    }

    @Test func refusesAConfidentialClientWhichCannotProveItselfHere() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(
                #"{"client_id":"backend","token_endpoint_auth_method":"client_secret_basic"}"#)
            let answer = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"correct horse","client_id":"backend","device":{"id":"p"}}"#)
            #expect(answer.status == 400)
            #expect(answer.string("code") == "invalid_client")
        }
    }

    @Test func aSecondLoginOnTheSameDeviceReplacesTheFirst() async throws {
        try await EndpointsFixture.with { server in
            let first = try await server.logIn()
            let second = try await server.logIn()
            #expect(first.sessionID != second.sessionID)
            let refused = await server.refresh(first.refresh)
            #expect(refused.string("reason") == "replaced")
            #expect(await server.refresh(second.refresh).status == 200)
        }
    }

    @Test func thePasswordGrantIsForClientsThatNameIt() async throws {
        try await EndpointsFixture.with { server in
            let form = "grant_type=password&username=anna&password=correct+horse&client_id="
            let refused = await server.form("/oauth/token", form + "mobile")
            #expect(refused.status == 400)
            #expect(refused.string("error") == "unauthorized_client")

            _ = try await server.makeClient(#"{"client_id":"old","grant_types":["password","refresh_token"]}"#)
            let granted = await server.form("/oauth/token", form + "old&device_name=Old+phone")
            #expect(granted.status == 200)
            #expect(granted.string("device_id")?.utf8.count == 32)
            #expect(!granted.names.contains("scope"))
            let named = await server.form("/oauth/token", form + "old&device_id=mine")
            #expect(named.string("device_id") == "mine")

            let wrong = await server.form(
                "/oauth/token", "grant_type=password&username=anna&password=wrong&client_id=old")
            #expect(wrong.status == 400)
            #expect(wrong.string("error") == "invalid_grant")
            #expect(!wrong.names.contains("reason"))
            for (parameters, member) in [
                ("username=anna", "password"), ("password=x", "username"),
                ("username=anna&password=x&device_id=a%20b", "device_id"),
                ("username=anna&password=x&device_name=%0a", "device_name"),
            ] {
                let answer = await server.form("/oauth/token", "grant_type=password&client_id=old&" + parameters)
                #expect(answer.string("error") == "invalid_request")
                #expect(answer.string("error_description")?.hasPrefix(member) == true)
            }
        }
    }

    @Test func anUnknownUserAndAWrongPassword_waitForTheSameCommit() async throws {
        try await EndpointsFixture.with { server in
            func loginsOnRecord() async -> [Answer] {
                await server.admin(.get, "/admin/v1/events?limit=200").items.filter {
                    $0.string("event") == "login_failed"
                }
            }
            for (index, name) in ["anna", "nobody"].enumerated() {
                _ = await server.call(
                    .post, "/v1/login", #"{"username":"\#(name)","password":"wrong one","device":{"id":"p"}}"#)
                let records = await loginsOnRecord()
                #expect(records.count == index + 1, "\(name)")
                #expect(!(records.last?.names.contains("user_id") ?? true) == (name == "nobody"))
            }
            let tokens = try await server.logIn()
            _ = await server.call(
                .put, "/v1/me/password", #"{"old_password":"wrong one","new_password":"battery staple"}"#,
                bearer: tokens.access)
            let failedAttempts = await loginsOnRecord()
            #expect(failedAttempts.count == 3)
            #expect(failedAttempts.last?.string("session_id") == tokens.sessionID)
        }
    }

    @Test func aLoginThatWasGivenUp_startsNoSession_thatWouldReplaceTheNextTry() async throws {
        try await EndpointsFixture.with { server in
            let kept = try await server.logIn()
            let late = Task {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await server.call(
                    .post, "/v1/login",
                    #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"phone-1"}}"#)
            }
            #expect(await late.value.status == 503)
            #expect(await server.refresh(kept.refresh).status == 200)
        }
    }

    @Test func aUserWithAForeignHashLogsInAndGetsOneOfOurs() async throws {
        try await EndpointsFixture.with { server in
            let hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"
            let user = User(
                id: Identifier(random: .system), username: "bob", passwordHash: hash,
                createdAt: Instant(secondsSinceEpoch: EndpointsFixture.start))
            #expect(try await server.store.importUsers([user]) == [.written])
            func logIn(_ password: String) async -> Answer {
                await server.call(
                    .post, "/v1/login", #"{"username":"bob","password":"\#(password)","device":{"id":"phone-1"}}"#)
            }
            #expect(await logIn("U*U").string("code") == "invalid_credentials")
            #expect(try await server.store.user(.id(user.id))?.passwordHash == hash)
            #expect(await logIn("U*U*").status == 200)
            let stored = try #require(try await server.store.user(.id(user.id))?.passwordHash)
            #expect(stored.hasPrefix("$scrypt$"))
            #expect(await logIn("U*U*").status == 200)
            #expect(await logIn("U*U").status == 401)
            #expect(try await server.store.user(.id(user.id))?.passwordHash == stored)
        }
    }
}
