import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Anonymous users are deleted when no active session is left, and no other user ever is.
@Suite struct AnonymousCleanUpTests {
    @Test func aLivingSession_keepsTheUser() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            server.moveClock(to: 14 * EndpointsFixture.day - 1)
            #expect(try await server.sweep() == 0)
            #expect(await server.refresh(tokens.refresh).status == 200)
            server.moveClock(to: 28 * EndpointsFixture.day - 2)
            #expect(try await server.sweep() == 0)
        }
    }

    /// The app learns from the reason that a new login helps; `user_deleted` would say that none does.
    @Test func anExpiredSession_takesTheUserWithIt_andKeepsItsReason() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            server.moveClock(to: 14 * EndpointsFixture.day)
            #expect(try await server.sweep() == 1)
            #expect(await server.admin(.get, "/admin/v1/users/\(tokens.userID)").status == 404)
            let refused = await server.refresh(tokens.refresh)
            #expect(refused.string("reason") == "idle_expired" && refused.bool("reauthenticate") == true)
            let events = await server.events(of: tokens.userID)
            #expect(
                events.map { $0.string("event") } == [
                    "user_created", "session_started", "session_ended", "user_deleted",
                ]
            )
            #expect(events.last?.string("actor") == "system" && events.last?.string("reason") == "anonymous")
        }
    }

    @Test func aLogout_takesTheUserWithIt() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let (gone, kept) = (try Tokens(await server.anonymous()), try Tokens(await server.anonymous(device: "b")))
            #expect(await server.call(.post, "/v1/logout", bearer: gone.access).status == 204)
            #expect(try await server.sweep() == 1)
            #expect(try await server.sweep() == 0)
            #expect(await server.refresh(gone.refresh).string("reason") == "logged_out")
            #expect(await server.refresh(kept.refresh).status == 200)
        }
    }

    /// A backend may have opened one more session for the user.
    @Test func oneOfTwoSessions_isEnough() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            let path = "/admin/v1/users/\(tokens.userID)/sessions"
            #expect(await server.admin(.post, path, #"{"device":{"id":"tablet"}}"#).status == 200)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(try await server.sweep() == 0)
        }
    }

    @Test func aNamedUser_isKept() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let tokens = try Tokens(await server.anonymous())
            #expect(await server.name(tokens).status == 200)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(try await server.sweep() == 0)
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").status == 200)
            let login = await server.call(
                .post, "/v1/login", #"{"username":"berta","password":"a long enough one","device":{"id":"d"}}"#)
            #expect(login.string("user", "user_id") == tokens.userID)
        }
    }

    @Test func revokeAll_endsThem() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            _ = try Tokens(await server.anonymous())
            #expect(await server.admin(.post, "/admin/v1/revoke-all").status < 300)
            #expect(try await server.sweep() == 1)
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").status == 200)
        }
    }
}
