import HTTP
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// A user of an identity provider proves to be present by a new login there: at refreshes, resumptions, `/v1/me/presence`,
/// changes of mode and of the profile.
@Suite struct PresenceByIDTokenTests {
    private static let mode = "/v1/me/authentication-mode"

    /// The members for a new token with those claims.
    private func proof(_ world: ProviderFixture, _ claims: String, nonce: String? = nil) throws -> String {
        let now = world.server.environment.now.load(ordering: .relaxed)
        return #""provider":"acme","id_token":"\#(try world.provider.token(claims, at: now))""#
            + (nonce.map { #","nonce":"\#($0)""# } ?? "")
    }

    private func authenticated(_ world: ProviderFixture, _ id: String, ago: Int64 = 0) throws -> String {
        let now = world.server.environment.now.load(ordering: .relaxed)
        return try proof(world, #"{"jti":"\#(id)","auth_time":\#(now - ago)}"#)
    }

    private func refresh(_ world: ProviderFixture, _ tokens: Tokens, _ more: String = "") async -> Answer {
        await world.server.call(
            .post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"\#(more.isEmpty ? "" : ",\(more)")}"#)
    }

    @Test func modePasswordMeansALoginAtTheProvider() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let tokens = try Tokens(await world.logIn(more: #","authentication_mode":"PASSWORD""#))
            #expect(await refresh(world, tokens).status == 200)
            server.moveClock(to: 3600)
            let asked = await refresh(world, tokens)
            #expect(asked.string("code") == "insufficient_user_authentication", "\(asked.text)")
            #expect(asked.string("acr_values") == "id_token" && asked.bool("reauthenticate") == false, "\(asked.text)")
            let stale = await refresh(world, tokens, try authenticated(world, "2", ago: 3600))
            #expect(stale.string("code") == "insufficient_user_authentication" && stale.integer("max_age") == 3600)
            let renewed = await refresh(world, tokens, try authenticated(world, "3", ago: 3599))
            #expect(renewed.status == 200, "\(renewed.text)")
            let claims = try Answer.claims(of: try #require(renewed.string("access_token")))
            #expect(claims.string("acr") == "id_token" && claims.integer("auth_time") == EndpointsFixture.start + 1)
        }
    }

    @Test func aUserWithoutBiometryIsNotStuck() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            #expect(
                await server.admin(.patch, "/admin/v1/clients/mobile", #"{"user_presence_max_age":600}"#).status == 200)
            let key = ProvingDevice()
            let tokens = try Tokens(
                await world.logIn(more: #","authentication_mode":"BIOMETRIC","presence_key":\#(key.jwk)"#))
            let touched = await server.call(
                .post, "/v1/me/presence", #"{"user_assertion":"\#(key.assertion(server, tokens))"}"#,
                bearer: tokens.access)
            #expect(touched.status == 200)
            server.moveClock(to: 700)
            let asked = await refresh(world, tokens)
            #expect(asked.string("acr_values") == "presence id_token", "\(asked.text)")
            #expect(asked.bool("reauthenticate") == false)
            let no = #"{"authentication_mode":"NO""#
            let refused = await server.call(.put, Self.mode, no + "}", bearer: tokens.access)
            #expect(refused.status == 401 && refused.string("acr_values") == "presence id_token", "\(refused.text)")
            let tooOld = await server.call(
                .put, Self.mode, "\(no),\(try authenticated(world, "2", ago: 300))}", bearer: tokens.access)
            #expect(tooOld.status == 401, "\(tooOld.text)")
            let done = await server.call(
                .put, Self.mode, "\(no),\(try authenticated(world, "3", ago: 299))}", bearer: tokens.access)
            #expect(done.status == 200 && done.string("authentication_mode") == "NO", "\(done.text)")
            #expect(await refresh(world, tokens).status == 200)
        }
    }

    /// Claims, the nonce that the app sends, and the status with the code.
    static let rows: [(String, String?, Int, String?)] = [
        (#"{"auth_time":NOW}"#, nil, 200, nil), (#"{"auth_time":NOW,"nonce":"n"}"#, "n", 200, nil),
        (#"{"nonce":"n"}"#, "n", 200, nil), ("{}", nil, 401, "invalid_id_token"),
        (#"{"nonce":"n"}"#, "m", 401, "invalid_id_token"), (#"{"nonce":"n"}"#, nil, 401, "invalid_id_token"),
        (#"{"auth_time":"NOW"}"#, nil, 401, "invalid_id_token"),
        (#"{"auth_time":OLD,"nonce":"n"}"#, "n", 401, "insufficient_user_authentication"),
        (#"{"auth_time":NEXT}"#, nil, 200, nil),
        (#"{"auth_time":NOW,"sub":"u2"}"#, nil, 401, "invalid_id_token"),
        (#"{"auth_time":NOW,"sub":"u3"}"#, nil, 401, "invalid_id_token"),
        (#"{"auth_time":NOW,"aud":"other"}"#, nil, 401, "invalid_id_token"),
        (#"{"auth_time":NOW,"exp":OLD}"#, nil, 401, "invalid_id_token"),
    ]

    @Test(arguments: rows)
    func aProofIsRecent_andOfTheSessionsUser(_ claims: String, nonce: String?, status: Int, code: String?) async throws
    {
        try await ProviderFixture.with { world in
            let server = world.server
            try await world.expect(200, #"{"sub":"u2"}"#)
            let tokens = try Tokens(await world.logIn(more: #","authentication_mode":"PASSWORD""#))
            server.moveClock(to: 9000)
            let now = EndpointsFixture.start + 9000
            let claims = claims.replacing("NOW", with: "\(now)").replacing("OLD", with: "\(now - 3600)")
                .replacing("NEXT", with: "\(now + 1000)")
            let body = "{\(try proof(world, claims, nonce: nonce))}"
            let answer = await server.call(.post, "/v1/me/presence", body, bearer: tokens.access)
            #expect(answer.status == status && answer.string("code") == code, "\(answer.text)")
            #expect(answer.string("code") != "invalid_id_token" || answer.bool("reauthenticate") == nil)
            #expect(await refresh(world, tokens).status == status)
            if status == 200 { #expect(answer.integer("auth_time") == now) }
        }
    }

    @Test func aTokenWorksOnce_andALostAnswerCostsNothing() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let tokens = try Tokens(await world.logIn(more: #","authentication_mode":"PASSWORD""#))
            let other = try Tokens(
                await world.present(
                    try world.provider.token(#"{"jti":"o"}"#), device: "tablet",
                    more: #","authentication_mode":"PASSWORD""#))
            server.moveClock(to: 4000)
            let proof = try authenticated(world, "2")
            let first = await refresh(world, tokens, proof)
            #expect(first.status == 200)
            // The answer was lost: the same request again, before and after the proof is worth something by itself.
            #expect(await refresh(world, tokens, proof).string("refresh_token") == first.string("refresh_token"))
            let elsewhere = await refresh(world, other, proof)
            #expect(elsewhere.string("code") == "insufficient_user_authentication", "\(elsewhere.text)")
            let token = try world.provider.token(
                #"{"jti":"2","auth_time":\#(EndpointsFixture.start + 4000)}"#, at: EndpointsFixture.start + 4000)
            #expect(await world.present(token).string("code") == "invalid_id_token")
            // A token beside a refresh token that is refused anyway is not used up.
            #expect(await server.call(.post, "/v1/logout", #"{"refresh_token":"\#(other.refresh)"}"#).status == 204)
            let kept = try authenticated(world, "3")
            #expect(await refresh(world, other, kept).string("code") == "logged_out")
            #expect(await refresh(world, tokens, kept).status == 200)
        }
    }

    @Test func theTokenEndpointTakesItToo_forRefreshesAndResumptions() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let grants = #"{"grant_types":["refresh_token","login","\#(GuardedPhone.jwtBearer)"]}"#
            #expect(await server.admin(.patch, "/admin/v1/clients/mobile", grants).status == 200)
            let key = ProvingDevice()
            let tokens = try Tokens(
                await world.logIn(more: #","authentication_mode":"PASSWORD","device_key":\#(key.jwk)"#))
            func token(_ id: String, ago: Int64 = 0) throws -> String {
                let now = server.environment.now.load(ordering: .relaxed)
                return try world.provider.token(#"{"jti":"\#(id)","auth_time":\#(now - ago)}"#, at: now)
            }
            func resume(_ more: String) async -> Answer {
                await server.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion=\(key.assertion(server, tokens))"
                        + more)
            }
            server.moveClock(to: 4000)
            let asked = await server.refresh(tokens.refresh)
            #expect(asked.string("acr_values") == "id_token", "\(asked.text)")
            #expect(await server.refresh(tokens.refresh, more: "&id_token=\(try token("2"))").status == 200)
            // However recent the last proof is, a resumption takes one in the same request.
            #expect(await resume("").string("acr_values") == "id_token")
            #expect(await resume("&id_token=\(try token("3", ago: 3600))").status == 400)
            #expect(await resume("&provider=acme&id_token=\(try token("4"))").status == 200)
            let junk = await server.refresh(tokens.refresh, more: "&id_token=a.b.c&provider=acme")
            #expect(junk.status == 400 && junk.string("error") == "invalid_request", "\(junk.text)")
            #expect(await server.refresh(tokens.refresh, more: "&id_token=x&provider=A%20").status == 400)
        }
    }

    @Test func theProfileAndANewKeyTakeItToo() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let tokens = try Tokens(await world.logIn())
            server.moveClock(to: 1000)
            let mail = #""email":"new@example.org""#
            let asked = await server.call(.patch, "/v1/me", "{\(mail)}", bearer: tokens.access)
            #expect(asked.string("acr_values") == "presence id_token", "\(asked.text)")
            let changed = await server.call(
                .patch, "/v1/me", "{\(mail),\(try authenticated(world, "2"))}", bearer: tokens.access)
            #expect(changed.status == 200, "\(changed.text)")
            // What was proved there is not recorded, so the new key needs its own proof.
            let key = ProvingDevice()
            let body = #"{"authentication_mode":"BIOMETRIC","presence_key":\#(key.jwk),"user_assertion":"#
            let refused = await server.call(
                .put, Self.mode, body + #""\#(key.assertion(server, tokens))"}"#, bearer: tokens.access)
            #expect(refused.status == 401, "\(refused.text)")
            let done = await server.call(
                .put, Self.mode,
                body + #""\#(key.assertion(server, tokens))",\#(try authenticated(world, "3"))}"#, bearer: tokens.access
            )
            #expect(done.status == 200, "\(done.text)")
        }
    }

    @Test func aUserWithAPasswordIsAskedForItAsBefore() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            server.moveClock(to: 4000)
            #expect(await phone.refresh().string("acr_values") == "password")
            // Without providers no ID token is accepted.
            let answer = await phone.show(#"{"provider":"acme","id_token":"a.b.c"}"#)
            #expect(answer.status == 400 && answer.string("member") == "provider", "\(answer.text)")
        }
    }
}
