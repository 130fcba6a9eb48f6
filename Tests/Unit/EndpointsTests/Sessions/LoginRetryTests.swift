import HTTP
import Sessions
import Testing

@testable import Endpoints

/// `Idempotency-Key` at a login: a lost answer does not cost the login.
@Suite struct LoginRetryTests {
    private func logIn(
        _ server: EndpointsFixture, key: String?, device: String = "phone-1", more: String = ""
    ) async -> Answer {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await server.call(
            .post, "/v1/login",
            #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"\#(device)"}\#(more)}"#,
            fields: fields)
    }

    @Test func aRetry_getsTheSessionThatBegan() async throws {
        try await EndpointsFixture.with { server in
            let first = try Tokens(await logIn(server, key: "login-1"))
            server.moveClock(to: 599)
            let again = try Tokens(await logIn(server, key: "login-1"))
            #expect(again.sessionID == first.sessionID)
            #expect(again.refresh == first.refresh)
            #expect(await server.refresh(first.refresh).status == 200)
        }
    }

    /// Seconds until the second login, its key, its device, and more members.
    @Test(
        arguments: [
            (1, "login-2", "phone-1", ""), (1, nil, "phone-1", ""), (600, "login-1", "phone-1", ""),
            (1, "login-1", "phone-1", #","authentication_mode":"PASSWORD""#),
            (1, "login-1", "phone-1", #","scope":"read""#),
        ] as [(Int64, String?, String, String)])
    func anotherRequest_isAnotherLogin(second: Int64, key: String?, device: String, more: String) async throws {
        try await EndpointsFixture.with { server in
            let first = try Tokens(await logIn(server, key: "login-1"))
            server.moveClock(to: second)
            let other = try Tokens(await logIn(server, key: key, device: device, more: more))
            #expect(other.sessionID != first.sessionID)
            #expect(await server.refresh(first.refresh).string("reason") == "replaced")
        }
    }

    @Test func anotherDevice_hasASessionOfItsOwn() async throws {
        try await EndpointsFixture.with { server in
            let first = try Tokens(await logIn(server, key: "login-1"))
            let other = try Tokens(await logIn(server, key: "login-1", device: "phone-2"))
            #expect(other.sessionID != first.sessionID)
            #expect(await server.refresh(first.refresh).status == 200)
        }
    }

    /// What was answered has arrived once its token comes back: the key then means nothing any more.
    @Test func afterTheFirstRefresh_theKeyIsSpent() async throws {
        try await EndpointsFixture.with { server in
            let first = try Tokens(await logIn(server, key: "login-1"))
            server.moveClock(to: 1)
            #expect(await server.refresh(first.refresh).status == 200)
            let other = try Tokens(await logIn(server, key: "login-1"))
            #expect(other.sessionID != first.sessionID)
        }
    }

    @Test func anEndedSession_isNotGivenAgain() async throws {
        try await EndpointsFixture.with { server in
            let first = try Tokens(await logIn(server, key: "login-1"))
            #expect(await server.call(.post, "/v1/logout", bearer: first.access).status == 204)
            #expect(try Tokens(await logIn(server, key: "login-1")).sessionID != first.sessionID)
        }
    }

    @Test func aWrongPassword_isRefusedWithTheKeyToo() async throws {
        try await EndpointsFixture.with { server in
            _ = try Tokens(await logIn(server, key: "login-1"))
            let answer = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"wrong","device":{"id":"phone-1"}}"#,
                fields: ["Idempotency-Key": "login-1"])
            #expect(answer.string("code") == "invalid_credentials")
        }
    }

    @Test func anIDToken_isUsedOnceButForItsRetry() async throws {
        try await ProviderFixture.with { world in
            let token = try world.provider.token()
            func send(_ key: String?, device: String = "phone-1") async -> Answer {
                var fields = Fields()
                if let key { fields.append("Idempotency-Key", key) }
                return await world.server.call(
                    .post, "/v1/login",
                    #"{"provider":"acme","id_token":"\#(token)","device":{"id":"\#(device)"}}"#, fields: fields)
            }
            let first = try Tokens(await send("login-1"))
            let again = try Tokens(await send("login-1"))
            #expect(again.sessionID == first.sessionID)
            #expect(again.refresh == first.refresh)
            for (key, device) in [("login-2", "phone-1"), (nil, "phone-1"), ("login-1", "phone-2")] {
                #expect(await send(key, device: device).string("code") == "invalid_id_token")
            }
            #expect(await world.server.refresh(first.refresh).status == 200)
        }
    }

    @Test func anotherIDToken_isAnotherLogin() async throws {
        try await ProviderFixture.with { world in
            var sessions: Set<String> = []
            for id in ["1", "2"] {
                let token = try world.provider.token(#"{"jti":"\#(id)"}"#)
                let answer = await world.server.call(
                    .post, "/v1/login", #"{"provider":"acme","id_token":"\#(token)","device":{"id":"phone-1"}}"#,
                    fields: ["Idempotency-Key": "login-1"])
                sessions.insert(try Tokens(answer).sessionID)
            }
            #expect(sessions.count == 2)
        }
    }
}
