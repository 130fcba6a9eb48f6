import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A refresh token that has left the device with the key to which it is bound: no session ends, and it is told.
@Suite struct TokenMisuseTests {
    private func events(_ stage: EndpointsFixture) async -> [Answer] {
        await stage.admin(.get, "/admin/v1/events?limit=200").items.filter {
            $0.string("event") == "refresh_token_misused"
        }
    }

    @Test func aTokenWithoutItsKeyIsTold() async throws {
        try await EndpointsFixture.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            #expect(await stage.refresh(tokens.refresh).string("reason") == "binding_mismatch")
            let event = try #require(await events(stage).first)
            #expect(event.string("reason") == "no_key")
            #expect(event.string("session_id") == tokens.sessionID && event.string("user_id") == tokens.userID)
            #expect(event.string("device_id") == "phone-1" && event.string("client_id") == "mobile")
            #expect(event.string("remote_address") == "192.0.2.1")
            #expect(event.integer("at") == EndpointsFixture.start)
            #expect(await stage.refresh(tokens.refresh, by: device).status == 200)
        }
    }

    /// Whichever call it comes to, and whatever client it claims; again only when W has passed.
    @Test func endlessMisuseIsToldOncePerRotationInterval() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await stage.logIn(ProvingDevice())
            for (seconds, count) in [(0, 1), (119, 1), (120, 2), (239, 2), (240, 3)] as [(Int64, Int)] {
                stage.moveClock(to: seconds)
                for _ in 0..<3 {
                    _ = await stage.refresh(tokens.refresh, by: ProvingDevice())
                    _ = await stage.refresh(tokens.refresh, more: "&client_id=mobile")
                    _ = await stage.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
                }
                #expect(await events(stage).count == count, "\(seconds)")
            }
            #expect(await events(stage).map { $0.string("reason") } == ["other_key", "other_key", "other_key"])
            let session = await stage.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == nil)
        }
    }

    @Test func whatIsNoTheftIsNotTold() async throws {
        try await EndpointsFixture.with { stage in
            _ = try await stage.makeClient(#"{"client_id":"other"}"#)
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let free = try await stage.logIn(device: "phone-2")
            // By the right key, be it to the wrong client; a session without a key; a token that we did not make; one that is over.
            let proof = device.proof(stage, .post, "/oauth/token")
            let elsewhere = await stage.refresh(tokens.refresh, more: "&client_id=other", fields: ["DPoP": proof])
            #expect(elsewhere.string("reason") == "binding_mismatch")
            #expect(await stage.refresh(tokens.refresh, by: device).status == 200)
            #expect(await stage.refresh(free.refresh, more: "&client_id=other").string("reason") == "binding_mismatch")
            #expect(await stage.refresh(free.refresh, by: device).status == 200)
            let forged = String(tokens.refresh.dropLast()) + (tokens.refresh.hasSuffix("A") ? "Q" : "A")
            #expect(await stage.refresh(forged).string("reason") == "malformed")
            #expect(await stage.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            #expect(await stage.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
            #expect(await events(stage).isEmpty)
        }
    }

    /// An account that begins session after session fills no audit trail.
    @Test func noUserIsToldOfMoreThanSoManyTimes() async throws {
        try await EndpointsFixture.with { stage in
            for number in 0..<12 {
                let login = await stage.call(
                    .post, "/v1/login", EndpointsFixture.loginBody(device: "d\(number)"),
                    fields: ["DPoP": ProvingDevice().proof(stage, .post, "/v1/login")])
                let token = try Tokens(login).refresh
                #expect(await stage.refresh(token).string("reason") == "binding_mismatch")
            }
            #expect(await events(stage).count == 8)
        }
    }
}
