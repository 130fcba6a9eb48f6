import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The switch of a client for staying logged in: without it a login gives one short access token.
@Suite struct StayLoggedInTests {
    private static let grants = #""grant_types":["refresh_token","login","password","\#(GuardedPhone.jwtBearer)"]"#

    private func make(_ stage: EndpointsFixture, _ more: String = "") async throws {
        _ = try await stage.makeClient(#"{"client_id":"kiosk","stay_logged_in":false\#(more)}"#)
    }

    @Test(arguments: [nil, 600 as Int64])
    func aLoginGivesAShortAccessTokenAndNoRefreshToken(_ own: Int64?) async throws {
        try await EndpointsFixture.with { stage in
            let lifetime = own ?? 3600
            try await make(stage, own.map { #","access_token_lifetime":\#($0)"# } ?? "")
            let tokens = try await stage.logIn(client: "kiosk")
            #expect(!tokens.answer.names.contains("refresh_token") && tokens.answer.integer("expires_in") == lifetime)
            #expect(tokens.answer.strings("renewal") ?? [] == [])
            #expect(tokens.answer.integer("session_expires_at") == EndpointsFixture.start + lifetime)
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            stage.moveClock(to: lifetime - 1)
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            stage.moveClock(to: lifetime)
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 401)
            let session = await stage.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == "max_lifetime_reached")
        }
    }

    @Test(arguments: ["separate", "single"])
    func theSwitchHoldsForEveryWayToRenew(_ style: String) async throws {
        try await EndpointsFixture.with { stage in
            _ = try await stage.makeClient(
                #"{"client_id":"kiosk","scope":"read","token_style":"\#(style)",\#(Self.grants)}"#)
            let key = ProvingDevice()
            let before = try await stage.logIn(client: "kiosk", more: #","device_key":\#(key.jwk)"#)
            let off = await stage.admin(.patch, "/admin/v1/clients/kiosk", #"{"stay_logged_in":false}"#)
            #expect(off.status == 200 && off.bool("stay_logged_in") == false, "\(off.text)")
            let stored = style == "single" ? before.access : before.refresh
            let refused = await stage.refresh(stored)
            #expect(refused.string("error") == "unauthorized_client" && refused.bool("reauthenticate") == true)
            let resumed = await stage.form(
                "/oauth/token",
                "grant_type=\(GuardedPhone.jwtBearer)&client_id=kiosk&assertion=\(key.assertion(stage, before))")
            #expect(resumed.string("error") == "unauthorized_client", "\(resumed.text)")
            let keyed = await stage.call(
                .post, "/v1/login",
                String(EndpointsFixture.loginBody(client: "kiosk").dropLast())
                    + #","device_key":\#(key.jwk)}"#)
            #expect(keyed.status == 400 && keyed.string("member") == "device_key", "\(keyed.text)")
            let login = try await stage.logIn(device: "other", client: "kiosk")
            #expect(try Answer.claims(of: login.access).string("rt") == nil && login.refresh.isEmpty)
            // Within the short lifetime the switch can be taken back.
            #expect(
                await stage.admin(.patch, "/admin/v1/clients/kiosk", #"{"stay_logged_in":true}"#).status == 200)
            #expect(await stage.refresh(stored).status == 200)
        }
    }
}
