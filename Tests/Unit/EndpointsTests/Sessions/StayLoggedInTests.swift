import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The switch of a client for staying logged in: without it a login gives one short access token.
@Suite struct StayLoggedInTests {
    private static let grants = #""grant_types":["refresh_token","login","password","\#(GuardedPhone.jwtBearer)"]"#

    private func make(_ server: EndpointsFixture, _ more: String = "") async throws {
        _ = try await server.makeClient(#"{"client_id":"kiosk","stay_logged_in":false\#(more)}"#)
    }

    @Test(arguments: [nil, 600 as Int64])
    func aLoginGivesAShortAccessTokenAndNoRefreshToken(_ own: Int64?) async throws {
        try await EndpointsFixture.with { server in
            let lifetime = own ?? 3600
            try await make(server, own.map { #","access_token_lifetime":\#($0)"# } ?? "")
            let tokens = try await server.logIn(client: "kiosk")
            #expect(!tokens.answer.names.contains("refresh_token") && tokens.answer.integer("expires_in") == lifetime)
            #expect(tokens.answer.strings("renewal") ?? [] == [])
            #expect(tokens.answer.integer("session_expires_at") == EndpointsFixture.start + lifetime)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            server.moveClock(to: lifetime - 1)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            server.moveClock(to: lifetime)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 401)
            let session = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == "max_lifetime_reached")
        }
    }

    @Test(arguments: ["separate", "single"])
    func theSwitchHoldsForEveryWayToRenew(_ style: String) async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(
                #"{"client_id":"kiosk","scope":"read","token_style":"\#(style)",\#(Self.grants)}"#)
            let key = ProvingDevice()
            let before = try await server.logIn(client: "kiosk", more: #","device_key":\#(key.jwk)"#)
            let off = await server.admin(.patch, "/admin/v1/clients/kiosk", #"{"stay_logged_in":false}"#)
            #expect(off.status == 200 && off.bool("stay_logged_in") == false, "\(off.text)")
            let stored = style == "single" ? before.access : before.refresh
            let refused = await server.refresh(stored)
            #expect(refused.string("error") == "unauthorized_client" && refused.bool("reauthenticate") == true)
            let resumed = await server.form(
                "/oauth/token",
                "grant_type=\(GuardedPhone.jwtBearer)&client_id=kiosk&assertion=\(key.assertion(server, before))")
            #expect(resumed.string("error") == "unauthorized_client", "\(resumed.text)")
            let keyed = await server.call(
                .post, "/v1/login",
                String(EndpointsFixture.loginBody(client: "kiosk", device: "keyed").dropLast())
                    + #","device_key":\#(key.jwk)}"#)
            // An installed app goes on logging in; its key renews nothing.
            #expect(keyed.status == 200 && keyed.strings("renewal") == [] && !keyed.names.contains("refresh_token"))
            let unregistered = key.assertion(server, try Tokens(keyed))
            let idle = await server.form(
                "/oauth/token", "grant_type=\(GuardedPhone.jwtBearer)&client_id=kiosk&assertion=\(unregistered)")
            #expect(idle.string("reason") == "invalid_assertion", "\(idle.text)")
            let login = try await server.logIn(device: "other", client: "kiosk")
            #expect(try Answer.claims(of: login.access).string("rt") == nil && login.refresh.isEmpty)
            // Within the short lifetime the switch can be taken back.
            #expect(
                await server.admin(.patch, "/admin/v1/clients/kiosk", #"{"stay_logged_in":true}"#).status == 200)
            #expect(await server.refresh(stored).status == 200)
        }
    }

    /// How a session ends, and the word for it.
    static let ends: [(word: String, end: @Sendable (EndpointsFixture, Tokens) async throws -> Void)] = [
        ("max_lifetime_reached", { server, _ in server.moveClock(to: 3600) }),
        ("logged_out", { server, tokens in _ = await server.call(.post, "/v1/logout", bearer: tokens.access) }),
        ("revoked_by_admin", { server, _ in _ = await server.admin(.post, "/admin/v1/users/username:anna/revoke") }),
    ]

    @Test("the end of a session is told before its assertion is refused", arguments: 0..<3)
    func theEndComesFirst(_ number: Int) async throws {
        try await EndpointsFixture.with { server in
            try await make(server, ",\(Self.grants)")
            let key = ProvingDevice()
            let tokens = try await server.logIn(client: "kiosk")
            func resume() async -> Answer {
                await server.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=kiosk&assertion=\(key.assertion(server, tokens))")
            }
            let living = await resume()
            #expect(living.string("reason") == "invalid_assertion" && living.bool("reauthenticate") == false)
            let (word, end) = Self.ends[number]
            try await end(server, tokens)
            let ended = await resume()
            #expect(ended.status == 400 && ended.string("error") == "invalid_grant", "\(ended.text)")
            #expect(ended.string("reason") == word && ended.bool("reauthenticate") == true, "\(ended.text)")
            // The end is recorded by the answer, so that no later setting revives the session.
            let session = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == word)
        }
    }
}
