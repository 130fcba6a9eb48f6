import Cryptography
import HTTP
import SQLiteStore
import Sessions
import Testing

extension EndpointsFixture {
    /// A refresh token as Keycloak makes them: a JWT that the server cannot read.
    static let foreignToken = "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJ0eXAiOiJPZmZsaW5lIn0.c2lnbmF0dXJl"

    /// Brings a foreign token of anna's along, which began `age` seconds before the start.
    func bring(
        _ text: String = EndpointsFixture.foreignToken, device: String = "phone-0", age: Int64 = 1000,
        lifetime: Int64? = nil,
        scope: String? = nil
    ) async throws {
        let user = try #require(try await store.user(.username("anna")))
        let epoch = try await store.settings().epoch
        let token = ForeignToken(
            digest: sha256(Array(text.utf8)), userID: user.id, clientID: Client.mobileID,
            device: Device(id: device, name: "Pixel"), scope: scope.flatMap { Scope($0) },
            startedAt: Instant(secondsSinceEpoch: EndpointsFixture.start - age),
            expiresAt: lifetime.map { Instant(secondsSinceEpoch: EndpointsFixture.start + $0) }, epoch: epoch)
        // Whatever of the user's has ended here since it began.
        #expect(try await store.importForeignTokens([token], .replacing) == [.written])
    }
}

@Suite struct ForeignTokenTests {
    @Test func isExchangedOnceForASessionThatBeganWhereItBegan() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let answer = await server.refresh(EndpointsFixture.foreignToken, more: "&client_id=mobile")
            #expect(answer.status == 200)
            #expect(answer.string("device_id") == "phone-0")
            #expect(answer.string("scope") == EndpointsFixture.scope)
            #expect(answer.integer("session_expires_at") == EndpointsFixture.start - 1000 + 15_552_000)
            #expect(answer.integer("session_idle_expires_at") == EndpointsFixture.start + 1_209_600)
            let refreshToken = try #require(answer.string("refresh_token"))
            #expect(refreshToken.hasPrefix("sjr_"))
            server.moveClock(to: 4000)
            let next = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(refreshToken)"}"#)
            #expect(next.status == 200)
            #expect(next.string("session_id") == answer.string("session_id"))
        }
    }

    @Test func aRetryGetsTheSameTokensAndALostAnswerNewOnes() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let first = await server.call(
                .post, "/v1/refresh", #"{"refresh_token":"\#(EndpointsFixture.foreignToken)"}"#)
            server.moveClock(to: 119)
            let again = await server.refresh(EndpointsFixture.foreignToken)
            #expect(again.string("refresh_token") == first.string("refresh_token"))
            #expect(again.string("session_id") == first.string("session_id"))
            // Nothing came back for a day: the app still has only the foreign token.
            server.moveClock(to: EndpointsFixture.day)
            let late = await server.refresh(EndpointsFixture.foreignToken)
            #expect(late.status == 200)
            #expect(late.string("session_id") == first.string("session_id"))
            #expect(late.string("refresh_token") != first.string("refresh_token"))
        }
    }

    @Test func aTokenAfterItsUsedSuccessorEndsTheSession() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let first = try #require(await server.refresh(EndpointsFixture.foreignToken).string("refresh_token"))
            server.moveClock(to: 500)
            let second = try #require(await server.refresh(first).string("refresh_token"))
            server.moveClock(to: 1000)
            #expect(await server.refresh(EndpointsFixture.foreignToken).string("reason") == "refresh_token_reused")
            #expect(await server.refresh(second).string("reason") == "refresh_token_reused")
        }
    }

    @Test("A page of another origin logs out neither a foreign token nor the session that it has become")
    func otherOrigins() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            try await server.bring()
            let logout = Request(
                .post, "/v1/logout", fields: ["Content-Type": "application/json"],
                body: Array(#"{"refresh_token":"\#(EndpointsFixture.foreignToken)"}"#.utf8))
            #expect(await server.send(logout, from: .unknown).refusesOrigin)
            #expect(await server.refresh(EndpointsFixture.foreignToken).status == 200)
            #expect(await server.send(logout, from: .ofAnotherClient).refusesOrigin)
            #expect(await server.refresh(EndpointsFixture.foreignToken).status == 200)
            let answer = await server.send(logout, from: .own)
            #expect(answer.status == 204 && answer.isReadable(from: .own), "\(answer.text)")
        }
    }

    @Test func manyAtOnceMakeOneSession() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let answers = await withTaskGroup(of: Answer.self) { group in
                for _ in 0..<20 { group.addTask { await server.refresh(EndpointsFixture.foreignToken) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map { $0.string("refresh_token") }).count == 1)
            #expect(answers.allSatisfy { $0.status == 200 })
        }
    }

    @Test func whatIsWrongWithItIsSaidAndLeavesItAsItIs() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring(scope: "read")
            let other = await server.call(
                .post, "/v1/refresh", #"{"refresh_token":"\#(EndpointsFixture.foreignToken)","device_id":"phone-1"}"#)
            #expect(other.string("code") == "device_mismatch")
            #expect(
                await server.refresh(EndpointsFixture.foreignToken, more: "&scope=write").string("error")
                    == "invalid_scope")
            #expect(await server.refresh(EndpointsFixture.foreignToken + "x").string("reason") == "malformed")
            let user = "/admin/v1/users/username:anna"
            #expect(await server.admin(.post, user + "/disable").status == 200)
            #expect(await server.refresh(EndpointsFixture.foreignToken).string("reason") == "login_disabled_by_admin")
            #expect(await server.admin(.post, user + "/enable").status == 200)
            let answer = await server.refresh(EndpointsFixture.foreignToken)
            #expect(answer.string("scope") == "read")
        }
    }

    @Test(arguments: [
        (10_000_000, 5000 as Int64?, 5000, "idle_expired"), (15_552_000 - 300, nil, 300, "max_lifetime_reached"),
    ])
    func itsEndsAreExactToTheSecond(_ age: Int64, _ lifetime: Int64?, _ end: Int64, _ reason: String) async throws {
        try await EndpointsFixture.with { server in
            try await server.bring(age: age, lifetime: lifetime)
            try await server.bring("another", device: "phone-9", age: age, lifetime: lifetime)
            server.moveClock(to: end - 1)
            #expect(await server.refresh(EndpointsFixture.foreignToken).status == 200)
            server.moveClock(to: end)
            #expect(await server.refresh("another").string("reason") == reason)
        }
    }

    @Test(arguments: ["revoke", "password", "delete", "all"])
    func itWaitsNoLongerWhenTheSessionsOfItsUserEnd(_ how: String) async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let user = "/admin/v1/users/username:anna"
            let ended =
                switch how {
                case "revoke": await server.admin(.post, user + "/revoke")
                case "password": await server.admin(.put, user + "/password", #"{"new_password":"battery staple"}"#)
                case "delete": await server.admin(.delete, user)
                default: await server.admin(.post, "/admin/v1/revoke-all")
                }
            #expect((200...204).contains(ended.status), "\(ended)")
            server.moveClock(to: 2)
            #expect(await server.refresh(EndpointsFixture.foreignToken).status == 400)
            #expect(try await server.store.exportSessions(after: nil, limit: 9) == [])
        }
    }

    @Test func itIsLoggedOutLikeOurs() async throws {
        try await EndpointsFixture.with { server in
            let body = #"{"refresh_token":"\#(EndpointsFixture.foreignToken)"}"#
            #expect(await server.call(.post, "/v1/logout", body).status == 401)
            server.moveClock(to: 2)
            try await server.bring()
            #expect(await server.call(.post, "/v1/logout", body).status == 204)
            #expect(await server.refresh(EndpointsFixture.foreignToken).string("reason") == "malformed")
            try await server.bring("second")
            let tokens = try #require(await server.refresh("second").string("refresh_token"))
            #expect(await server.form("/oauth/revoke", "token=second&client_id=mobile").status == 200)
            #expect(await server.refresh(tokens).string("reason") == "logged_out")
        }
    }

    /// RFC 7009 section 2.1: a client ends what is its own.
    @Test func noOtherClientRevokesIt() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"app"}"#)
            try await server.bring()
            let other = await server.form("/oauth/revoke", "token=\(EndpointsFixture.foreignToken)&client_id=app")
            #expect(other.string("error") == "unauthorized_client")
            #expect(await server.refresh(EndpointsFixture.foreignToken).status == 200)
        }
    }

    @Test func aNewerLoginOnTheDeviceIsNotPushedOut() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let login = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"phone-0"}}"#)
            let token = try #require(login.string("refresh_token"))
            #expect(await server.refresh(EndpointsFixture.foreignToken).string("reason") == "replaced")
            #expect(await server.refresh(token).status == 200)
        }
    }

    @Test func theAuditTrailTellsOfIt() async throws {
        try await EndpointsFixture.with { server in
            try await server.bring()
            let id = try #require(await server.refresh(EndpointsFixture.foreignToken).string("session_id"))
            let events = try await server.store.events(
                after: 0, limit: 99, userID: nil, sessionID: Identifier<Session>(id))
            #expect(events.map(\.event.kind) == [.sessionStarted])
            #expect(events.first?.event.reason == "foreign_token")
        }
    }
}
