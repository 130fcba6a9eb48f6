import HTTP
import Sessions
import Testing

/// Every refresh that is answered renews the window (ROL-19, ROL-22), and costs few writes.
@Suite struct RollingWindowTests {
    private func with(_ settings: String, _ body: (EndpointsFixture) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.put, "/admin/v1/settings/sessions", settings)
            #expect(answer.status == 200, "\(answer.text)")
            try await body(server)
        }
    }

    @Test func aRefreshWithinTheRotationInterval_renewsTheWindow() async throws {
        try await with(#"{"offline_session_idle":10,"rotation_interval":5,"refresh_after":1}"#) { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 4)
            let answer = await server.refresh(tokens.refresh)
            #expect(answer.string("refresh_token") == tokens.refresh)
            #expect(answer.integer("session_idle_expires_at") == EndpointsFixture.start + 14)
            #expect(answer.integer("expires_at") == EndpointsFixture.start + 14)
            server.moveClock(to: 13)
            #expect(await server.refresh(tokens.refresh).status == 200, "9 s after the last refresh")
        }
    }

    @Test func refreshesEachSecond_neverPutOffTheRotation() async throws {
        try await with(#"{"offline_session_idle":10,"rotation_interval":5,"refresh_after":1}"#) { server in
            let first = try await server.logIn().refresh
            var (token, rotations) = (first, 0)
            for second in 1...30 {
                server.moveClock(to: Int64(second))
                let next = try #require(await server.refresh(token).string("refresh_token"))
                if next != token { rotations += 1 }
                token = next
            }
            #expect(rotations == 6)
        }
    }

    @Test func aRefusedRefresh_renewsNothing() async throws {
        try await with(#"{"offline_session_idle":10,"rotation_interval":5,"refresh_after":1}"#) { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 8)
            let refused = await server.refresh(tokens.refresh, more: "&device_id=another")
            #expect(refused.string("reason") == "device_mismatch")
            server.moveClock(to: 10)
            #expect(await server.refresh(tokens.refresh).string("reason") == "idle_expired")
        }
    }
}
