import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Biometry is locked, and the user logs in by password or at the identity provider: the session and its keys go on (AMB-57).
@Suite struct FallbackLoginTests {
    private func fallback(
        _ server: EndpointsFixture, _ sessionID: String, device: String = "phone-1", more: String = "",
        username: String = "anna", fields: Fields = Fields()
    ) async -> Answer {
        await server.call(
            .post, "/v1/login",
            #"{"username":"\#(username)","password":"\#(EndpointsFixture.password)","device":{"id":"\#(device)"},"#
                + #""session_id":"\#(sessionID)"\#(more)}"#, fields: fields)
    }

    /// A phone in the mode `BIOMETRIC`, after a signature of its presence key.
    private func phone(_ server: EndpointsFixture) async throws -> GuardedPhone {
        let phone = try await GuardedPhone(server, .biometric, ageMax: 600)
        #expect(await phone.show(#"{"user_assertion":"\#(phone.touch())"}"#).status == 200)
        return phone
    }

    private func ending(_ server: EndpointsFixture, _ phone: GuardedPhone) async -> String? {
        await server.admin(.get, "/admin/v1/sessions/\(phone.tokens.sessionID)").string("ended_reason")
    }

    @Test func theSessionItsStartAndItsKeysGoOn() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await phone(server)
            let end = phone.tokens.answer.integer("session_expires_at")
            server.moveClock(to: 5000)
            let answer = await fallback(server, phone.tokens.sessionID)
            #expect(answer.status == 200 && answer.string("session_id") == phone.tokens.sessionID, "\(answer.text)")
            #expect(answer.integer("session_expires_at") == end)
            #expect(answer.integer("session_idle_expires_at") == EndpointsFixture.start + 5000 + 1_209_600)
            #expect(answer.string("authentication_mode") == "BIOMETRIC")
            let claims = try Answer.claims(of: try #require(answer.string("access_token")))
            #expect(claims.string("acr") == "password" && claims.integer("auth_time") == EndpointsFixture.start + 5000)
            // The password counts as presence, so nothing is asked for a while.
            let token = try #require(answer.string("refresh_token"))
            #expect(await server.refresh(token).status == 200)
            server.moveClock(to: 9000)
            #expect(await server.refresh(token).string("error") == "insufficient_user_authentication")
            // Biometry is back: both keys are still there.
            #expect(await phone.show(#"{"user_assertion":"\#(phone.touch())"}"#).status == 200)
            #expect(await phone.resume().status == 200)
            #expect(await server.refresh(token).status == 200)
            let events = await server.admin(.get, "/admin/v1/events").items.compactMap { $0.string("event") }
            #expect(events.contains("session_continued") && !events.contains("session_ended"), "\(events)")
        }
    }

    /// What the device has stored when it logs in: the newest token, or the one before because an answer was lost.
    @Test(arguments: [true, false], [true, false])
    func noLostAnswerCostsTheSession(_ isRefreshLost: Bool, _ isLoginLost: Bool) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await phone(server)
            server.moveClock(to: 300)
            let refreshed = try #require(await phone.refresh().string("refresh_token"))
            #expect(refreshed != phone.tokens.refresh)
            let stored = isRefreshLost ? phone.tokens.refresh : refreshed
            server.moveClock(to: 800)
            let answer = await fallback(server, phone.tokens.sessionID)
            #expect(answer.string("refresh_token") == refreshed, "\(answer.text)")
            var token = isLoginLost ? stored : refreshed
            for step: Int64 in 1...4 {
                server.moveClock(to: 800 + 130 * step)
                let next = await server.refresh(token)
                #expect(next.status == 200, "\(next.text)")
                token = try #require(next.string("refresh_token"))
            }
        }
    }

    @Test func theModeChangesWhenTheLoginSaysSo_andTheKeyLeadsBack() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await phone(server)
            server.moveClock(to: 5000)
            let answer = await fallback(
                server, phone.tokens.sessionID, more: #","authentication_mode":"PASSWORD","scope":"read""#)
            #expect(answer.string("session_id") == phone.tokens.sessionID && answer.string("scope") == "read")
            #expect(answer.string("authentication_mode") == "PASSWORD")
            server.moveClock(to: 9000)
            let back = await phone.setMode("BIOMETRIC", #","user_assertion":"\#(phone.touch())""#)
            #expect(back.status == 200, "\(back.text)")
            #expect(await phone.refresh().string("scope") == EndpointsFixture.scope)
        }
    }

    /// What a login does that begins anew although it names the session.
    enum Other: CaseIterable {
        case noName, strangeName, device, client, deviceKey, presenceKey, scope, ended, proof, pending
    }

    @Test(arguments: Other.allCases)
    func whatIsNotTheSameBeginsAnew(_ other: Other) async throws {
        try await EndpointsFixture.with { server in
            let phone = other == .pending ? try await GuardedPhone(server, .biometric) : try await phone(server)
            var (id, device, more) = (phone.tokens.sessionID, "phone-1", "")
            var fields = Fields()
            let key = ProvingDevice()
            switch other {
            case .noName: id = "\(Identifier<Session>(random: .system))"
            case .strangeName: id = try await server.logIn(device: "other").sessionID
            case .device: device = "phone-2"
            case .client:
                _ = try await server.makeClient(
                    #"{"client_id":"tv","token_endpoint_auth_method":"none","scope":"read write"}"#)
                more = #","client_id":"tv""#
            case .deviceKey: more = #","device_key":\#(key.jwk)"#
            case .presenceKey: more = #","authentication_mode":"BIOMETRIC","presence_key":\#(key.jwk)"#
            case .scope:
                let scope = #"{"scope":"read write more"}"#
                #expect(await server.admin(.patch, "/admin/v1/clients/mobile", scope).status == 200)
                more = #","scope":"more""#
            case .ended:
                #expect(await server.admin(.delete, "/admin/v1/sessions/\(id)").status == 204)
            case .proof:
                fields.append("DPoP", key.proof(server, .post, "/v1/login"))
            case .pending: more = #","authentication_mode":"NO""#
            }
            let answer = await fallback(server, id, device: device, more: more, fields: fields)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.string("session_id") != phone.tokens.sessionID)
            let isElsewhere = other == .device || other == .client
            #expect(
                await ending(server, phone) == (isElsewhere ? nil : other == .ended ? "revoked_by_admin" : "replaced"))
        }
    }

    @Test func anotherUserTakesOverNothing() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await phone(server)
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            #expect(made.status == 201)
            let answer = await fallback(server, phone.tokens.sessionID, username: "bert")
            #expect(answer.status == 200 && answer.string("session_id") != phone.tokens.sessionID)
            #expect(answer.string("user", "username") == "bert" && answer.string("authentication_mode") == "NO")
            let tokens = try Tokens(answer)
            let touch = phone.finger.assertion(server, tokens)
            let shown = await server.call(
                .post, "/v1/me/presence", #"{"user_assertion":"\#(touch)"}"#, bearer: tokens.access)
            #expect(shown.status == 401, "\(shown.text)")
            // An id is no secret, so it ends no session of another user.
            #expect(await phone.refresh().status == 200)
        }
    }

    @Test func aWrongPasswordOrDisabledLoginsLeaveTheSession() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await phone(server)
            let wrong = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"wrong","device":{"id":"phone-1"},"session_id":"\#(phone.tokens.sessionID)"}"#
            )
            #expect(wrong.string("code") == "invalid_credentials")
            let junk = await fallback(server, "x")
            #expect(junk.status == 400 && junk.string("member") == "session_id")
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/disable").status == 200)
            #expect(await fallback(server, phone.tokens.sessionID).status == 403)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/enable").status == 200)
            #expect(await phone.refresh().status == 200)
        }
    }

    @Test func anIDTokenContinuesTheSessionToo_andCanBeSentAgain() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let key = ProvingDevice()
            let tokens = try Tokens(
                await world.logIn(more: #","authentication_mode":"BIOMETRIC","presence_key":\#(key.jwk)"#))
            let touched = await server.call(
                .post, "/v1/me/presence", #"{"user_assertion":"\#(key.assertion(server, tokens))"}"#,
                bearer: tokens.access)
            #expect(touched.status == 200)
            server.moveClock(to: 200)
            let token = try world.provider.token(#"{"jti":"2"}"#, at: EndpointsFixture.start + 200)
            let body =
                #"{"provider":"acme","id_token":"\#(token)","device":{"id":"phone"},"session_id":"\#(tokens.sessionID)"}"#
            for status in [200, 200] {
                let answer = await server.call(.post, "/v1/login", body, fields: ["Idempotency-Key": "one"])
                #expect(answer.status == status && answer.string("session_id") == tokens.sessionID, "\(answer.text)")
                let claims = try Answer.claims(of: try #require(answer.string("access_token")))
                #expect(claims.string("acr") == "id_token")
            }
            // Under another key it is a used token.
            let again = await server.call(.post, "/v1/login", body, fields: ["Idempotency-Key": "two"])
            #expect(again.string("code") == "invalid_id_token", "\(again.text)")
            #expect(await server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func aKeyBoundSessionGoesOnWithItsKeyAlone() async throws {
        try await EndpointsFixture.with { server in
            let (key, other) = (ProvingDevice(), ProvingDevice())
            func logIn(_ proving: ProvingDevice?, _ more: String) async throws -> Answer {
                var fields = Fields()
                if let proving { fields.append("DPoP", proving.proof(server, .post, "/v1/login")) }
                let login =
                    #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"phone-1"}\#(more)}"#
                return await server.call(.post, "/v1/login", login, fields: fields)
            }
            let first = try await logIn(key, "")
            let id = try #require(first.string("session_id"))
            let named = #","session_id":"\#(id)""#
            #expect(try await logIn(key, named).string("session_id") == id)
            let stranger = try await logIn(other, named)
            #expect(stranger.status == 200 && stranger.string("session_id") != id, "\(stranger.text)")
        }
    }
}
