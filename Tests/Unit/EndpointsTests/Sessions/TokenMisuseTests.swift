import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A refresh token that has left the device with the key to which it is bound: no session ends, and it is told.
@Suite struct TokenMisuseTests {
    private func events(_ server: EndpointsFixture) async -> [Answer] {
        await server.admin(.get, "/admin/v1/events?limit=200").items.filter {
            $0.string("event") == "refresh_token_misused"
        }
    }

    @Test func aTokenWithoutItsKeyIsTold() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            #expect(await server.refresh(tokens.refresh).string("reason") == "binding_mismatch")
            let event = try #require(await events(server).first)
            #expect(event.string("reason") == "no_key")
            #expect(event.string("session_id") == tokens.sessionID && event.string("user_id") == tokens.userID)
            #expect(event.string("device_id") == "phone-1" && event.string("client_id") == "mobile")
            #expect(event.string("remote_address") == "192.0.2.1")
            #expect(event.integer("at") == EndpointsFixture.start)
            #expect(await server.refresh(tokens.refresh, by: device).status == 200)
        }
    }

    /// Whichever call it comes to, and whatever client it claims; again only when W has passed.
    @Test func endlessMisuseIsToldOncePerRotationInterval() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(ProvingDevice())
            for (seconds, count) in [(0, 1), (119, 1), (120, 2), (239, 2), (240, 3)] as [(Int64, Int)] {
                server.moveClock(to: seconds)
                for _ in 0..<3 {
                    _ = await server.refresh(tokens.refresh, by: ProvingDevice())
                    _ = await server.refresh(tokens.refresh, more: "&client_id=mobile")
                    _ = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
                }
                #expect(await events(server).count == count, "\(seconds)")
            }
            #expect(await events(server).map { $0.string("reason") } == ["other_key", "other_key", "other_key"])
            let session = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == nil)
        }
    }

    @Test func whatIsNoTheftIsNotTold() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"other"}"#)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            let free = try await server.logIn(device: "phone-2")
            // By the right key, be it to the wrong client; a session without a key; a token that we did not make; one that is over.
            let proof = device.proof(server, .post, "/oauth/token")
            let elsewhere = await server.refresh(tokens.refresh, more: "&client_id=other", fields: ["DPoP": proof])
            #expect(elsewhere.string("reason") == "binding_mismatch")
            #expect(await server.refresh(tokens.refresh, by: device).status == 200)
            #expect(await server.refresh(free.refresh, more: "&client_id=other").string("reason") == "binding_mismatch")
            #expect(await server.refresh(free.refresh, by: device).status == 200)
            let forged = String(tokens.refresh.dropLast()) + (tokens.refresh.hasSuffix("A") ? "Q" : "A")
            #expect(await server.refresh(forged).string("reason") == "malformed")
            #expect(await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
            #expect(await events(server).isEmpty)
        }
    }

    /// An account that begins session after session fills no audit trail.
    @Test func noUserIsToldOfMoreThanSoManyTimes() async throws {
        try await EndpointsFixture.with { server in
            for number in 0..<12 {
                let login = await server.call(
                    .post, "/v1/login", EndpointsFixture.loginBody(device: "d\(number)"),
                    fields: ["DPoP": ProvingDevice().proof(server, .post, "/v1/login")])
                let token = try Tokens(login).refresh
                #expect(await server.refresh(token).string("reason") == "binding_mismatch")
            }
            #expect(await events(server).count == 8)
        }
    }
}
