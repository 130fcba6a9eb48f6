import HTTP
import Sessions
import Testing

/// What counts from one second to the next, at the second before, at that second and at the one after.
@Suite struct SecondBoundaryTests {
    static let offsets: [Int64] = [-1, 0, 1]
    /// Every second around every rotation interval; none is before an interval of nothing.
    static let intervalsAndOffsets: [(Int64, Int64)] = [
        (0, 0), (0, 1), (7, -1), (7, 0), (7, 1), (120, -1), (120, 0), (120, 1),
    ]

    @Test(arguments: ["/admin/v1/clients/mobile", "/admin/v1/users/username:anna"], offsets)
    func aClientsAndAUsersOwnMaximumEndTheSession(_ path: String, _ offset: Int64) async throws {
        try await EndpointsFixture.with { server in
            #expect(await server.admin(.patch, path, #"{"offline_session_max":864000}"#).status == 200)
            var tokens = try await server.logIn()
            #expect(tokens.answer.integer("session_expires_at") == EndpointsFixture.start + 864_000)
            server.moveClock(to: 5 * EndpointsFixture.day)
            tokens = try Tokens(await server.refresh(tokens.refresh))
            #expect(tokens.answer.integer("expires_at") == EndpointsFixture.start + 864_000)
            server.moveClock(to: 864_000 + offset)
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).status == (offset < 0 ? 200 : 401))
            let answer = await server.refresh(tokens.refresh)
            #expect(answer.string("reason") == (offset < 0 ? nil : "max_lifetime_reached"))
        }
    }

    /// Gives `body` a session with a first token that has brought a child, `interval` and `offset` seconds ago.
    private func withChild(
        _ interval: Int64, _ offset: Int64,
        _ body: (_ server: EndpointsFixture, _ parent: String, _ child: String) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with { server in
            let settings = await server.admin(
                .put, "/admin/v1/settings/sessions", #"{"rotation_interval":\#(interval)}"#)
            #expect(settings.status == 200)
            let login = try await server.logIn()
            server.moveClock(to: 1000)
            let child = try #require(await server.refresh(login.refresh).string("refresh_token"))
            server.moveClock(to: 1000 + interval + offset)
            try await body(server, login.refresh, child)
        }
    }

    @Test(arguments: intervalsAndOffsets)
    func theChildRotatesFromTheRotationIntervalOn(_ interval: Int64, _ offset: Int64) async throws {
        try await withChild(interval, offset) { server, _, child in
            let next = await server.refresh(child)
            #expect(next.status == 200)
            let isRepeated = offset < 0
            #expect((next.string("refresh_token") == child) == isRepeated)
        }
    }

    @Test(arguments: intervalsAndOffsets)
    func theParentBringsTheSameChildUpToTheRotationInterval(_ interval: Int64, _ offset: Int64) async throws {
        try await withChild(interval, offset) { server, parent, child in
            let again = await server.refresh(parent)
            #expect(again.status == 200)
            let isSame = offset < 0
            #expect((again.string("refresh_token") == child) == isSame)
            // The unseen child of the two comes too late once there is another.
            #expect(await server.refresh(child).string("reason") == (isSame ? nil : "refresh_token_reused"))
        }
    }

    @Test(arguments: offsets) func theAgeToRefreshAtIsToldToTheSecond(_ offset: Int64) async throws {
        try await EndpointsFixture.with { server in
            let change = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"access_token_lifetime":7200,"refresh_after":\#(3600 + offset)}"#
            )
            #expect(change.status == 200)
            let login = try await server.logIn()
            #expect(login.answer.integer("refresh_after") == EndpointsFixture.start + 3600 + offset)
            server.moveClock(to: 3600 + offset)
            let answer = await server.refresh(login.refresh)
            #expect(answer.integer("refresh_after") == EndpointsFixture.start + 2 * (3600 + offset))
            #expect(answer.integer("expires_at") == EndpointsFixture.start + 3600 + offset + 7200)
        }
    }
}
