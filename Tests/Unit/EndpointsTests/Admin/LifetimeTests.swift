import HTTP
import Sessions
import Testing

/// The ends of a session, to the second, through HTTP.
@Suite struct LifetimeTests {
    struct Ending: Sendable {
        let name: String
        let settings: String
        /// Refreshes on the way, so that another end does not come first.
        let refreshes: [Int64]
        let end: Int64
        let reason: String
    }

    static let endings = [
        Ending(name: "idle", settings: "{}", refreshes: [], end: 14 * EndpointsFixture.day, reason: "idle_expired"),
        Ending(
            name: "idle after a refresh", settings: "{}", refreshes: [5 * EndpointsFixture.day],
            end: 19 * EndpointsFixture.day,
            reason: "idle_expired"),
        Ending(
            name: "maximum", settings: #"{"offline_session_max":1728000}"#, refreshes: [10 * EndpointsFixture.day],
            end: 20 * EndpointsFixture.day, reason: "max_lifetime_reached"),
        Ending(
            name: "absolute",
            settings: #"{"offline_session_idle":25920000,"offline_session_max_limited":false}"#,
            refreshes: [200 * EndpointsFixture.day], end: EndpointsFixture.absoluteMaximum,
            reason: "max_lifetime_reached"),
    ]

    @Test(arguments: endings.indices, [-1, 0, 1] as [Int64])
    func endsAtThatSecond(_ index: Int, _ offset: Int64) async throws {
        let ending = Self.endings[index]
        try await EndpointsFixture.with { server in
            #expect(await server.admin(.put, "/admin/v1/settings/sessions", ending.settings).status == 200)
            let login = try await server.logIn()
            var (refresh, access) = (login.refresh, login.access)
            for moment in ending.refreshes {
                server.moveClock(to: moment)
                let answer = await server.refresh(refresh)
                refresh = try #require(answer.string("refresh_token"), "\(ending.name)")
                access = try #require(answer.string("access_token"))
                let ends = [answer.integer("session_idle_expires_at"), answer.integer("session_expires_at")]
                #expect(ends.contains(EndpointsFixture.start + ending.end), "\(ending.name)")
            }
            server.moveClock(to: ending.end + offset)
            let verified = await server.call(.get, "/v1/verify", bearer: access)
            #expect(verified.status == (offset < 0 ? 200 : 401), "\(ending.name)")
            let answer = await server.refresh(refresh)
            #expect(answer.status == (offset < 0 ? 200 : 400), "\(ending.name)")
            #expect(answer.string("reason") == (offset < 0 ? nil : ending.reason), "\(ending.name)")
            if offset < 0, ending.reason == "max_lifetime_reached" {
                #expect(answer.integer("expires_at") == EndpointsFixture.start + ending.end)
            }
        }
    }

    @Test func aRollingTokenEndsAtItsExpiryWhileTheSessionGoesOn() async throws {
        try await EndpointsFixture.with { server in
            let client = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"access_token_lifetime":7200,"refresh_after":600}"#)
            #expect(client.status == 200)
            let tokens = try await server.logIn()
            #expect(tokens.answer.integer("expires_in") == 7200)
            #expect(tokens.answer.integer("refresh_after") == EndpointsFixture.start + 600)
            for (moment, status) in [(7199, 200), (7200, 401), (7201, 401)] as [(Int64, Int)] {
                server.moveClock(to: moment)
                #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).status == status)
                #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == status)
            }
            let expired = await server.call(.get, "/v1/me", bearer: tokens.access)
            #expect(expired.string("code") == "invalid_token")
            #expect(expired.field("WWW-Authenticate")?.contains(#"error="invalid_token""#) == true)
            #expect(await server.refresh(tokens.refresh).status == 200)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(await server.refresh(tokens.refresh).string("reason") == "logged_out")
        }
    }

    @Test func settingsActOnLivingSessionsAtOnceAndNoEndThatWasAnsweredIsTakenBack() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 8000)
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).status == 200)
            let shorter = await server.admin(
                .put, "/admin/v1/settings/sessions", #"{"offline_session_idle":8000,"refresh_after":60}"#)
            #expect(shorter.status == 200)
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).string("code") == "idle_expired")
            let longer = await server.admin(.put, "/admin/v1/settings/sessions", #"{"offline_session_idle":1209600}"#)
            #expect(longer.status == 200)
            #expect(await server.refresh(tokens.refresh).string("reason") == "idle_expired")
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).status == 401)
        }
    }

    @Test func aUsersOwnMaximumAppliesAtOnce() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let change = await server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"offline_session_max":6000}"#)
            #expect(change.integer("offline_session_max") == 6000)
            server.moveClock(to: 6000)
            #expect(await server.refresh(tokens.refresh).string("reason") == "max_lifetime_reached")
        }
    }
}
