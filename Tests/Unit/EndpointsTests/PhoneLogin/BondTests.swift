import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What the end of a phone's session does to the sessions that it has let in.
struct BondTests {
    typealias Way = @Sendable (EndpointsFixture, Tokens) async throws -> Void

    /// Each way in which the session of a phone ends by a decision.
    static let ways: [(name: String, reason: String, end: Way)] = [
        (
            "the phone logs out", "parent_ended",
            { server, phone in
                _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            }
        ),
        (
            "an admin ends it", "parent_ended",
            { server, phone in
                _ = await server.admin(.delete, "/admin/v1/sessions/\(phone.sessionID)")
            }
        ),
        (
            "the user ends the phone elsewhere", "parent_ended",
            { server, phone in
                let other = try await server.logIn(device: "phone-2")
                _ = await server.call(.delete, "/v1/me/devices/phone-1", bearer: other.access)
            }
        ),
        (
            "an old refresh token comes back", "parent_ended",
            { server, phone in
                let first = try Tokens(await server.refresh(phone.refresh))
                server.moveClock(to: EndpointsFixture.day)
                let second = try Tokens(await server.refresh(first.refresh))
                server.moveClock(to: 2 * EndpointsFixture.day)
                _ = await server.refresh(try Tokens(await server.refresh(second.refresh)).refresh)
                server.moveClock(to: 3 * EndpointsFixture.day)
                _ = await server.refresh(phone.refresh)
            }
        ),
        (
            "the password changes", "password_changed",
            { server, phone in
                let changed = await server.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another good horse"}"#,
                    bearer: phone.access)
                #expect(changed.status == 200 || changed.status == 204, "\(changed.text)")
            }
        ),
        (
            "an admin ends all of the user's", "revoked_by_admin",
            { server, phone in
                _ = await server.admin(.post, "/admin/v1/users/\(phone.userID)/revoke")
            }
        ),
        (
            "all sessions of all users end", "revoked_by_admin",
            { server, _ in
                server.moveClock(to: 1)
                _ = await server.admin(.post, "/admin/v1/revoke-all")
            }
        ),
    ]

    @Test("A desktop ends with its phone, however that ends, and its login says so", arguments: 0..<ways.count)
    func cascade(_ number: Int) async throws {
        let way = Self.ways[number]
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            let before = await server.admin(.get, "/admin/v1/revocations?limit=200").items.count
            try await way.end(server, phone)
            let refused = await server.refresh(tokens.refresh)
            #expect(refused.string("reason") == way.reason, "\(way.name): \(refused.text)")
            #expect(refused.bool("reauthenticate") == true)
            let row = await login.row()
            #expect(row.string("state") == "DONE" && row.string("history") == "LOGGED_OUT", "\(way.name)")
            #expect(await login.look().string("event") == "logged_out")
            let news = await server.admin(.get, "/admin/v1/revocations?limit=200").items
            #expect(news.count > before, "\(way.name)")
        }
    }

    @Test("The end of the phone and that of the desktop come in one transaction, with a feed item and an event each")
    func oneTransaction() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, one) = try await DeviceLogin.complete(server, phone, device: "tv-1")
            let (_, two) = try await DeviceLogin.complete(server, phone, "&bond=none", device: "tv-2")
            _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            let feed = await server.admin(.get, "/admin/v1/revocations?limit=200").items
            #expect(feed.compactMap { $0.string("reason") }.sorted() == ["logged_out", "parent_ended"])
            let events = await server.admin(.get, "/admin/v1/events?session_id=\(one.sessionID)&limit=200").items
            #expect(events.filter { $0.string("event") == "session_ended" }.count == 1)
            // A login without a bond is a single act.
            #expect(await server.refresh(two.refresh).status == 200)
        }
    }

    @Test("A new login of the phone takes the desktop with it")
    func replaced() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            let again = try await server.logIn()
            #expect(await server.refresh(tokens.refresh).status == 200)
            let child = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(child.string("parent_session_id") == again.sessionID)
            #expect(await login.row().string("phone_session_id") == again.sessionID)
            _ = await server.call(.post, "/v1/logout", bearer: again.access)
            #expect(await server.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("A phone that was not used for two weeks takes the desktop with it, though that was used")
    func idlePhone() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, tokens) = try await DeviceLogin.complete(server, phone)
            server.moveClock(to: 10 * EndpointsFixture.day)
            let renewed = await server.refresh(tokens.refresh)
            #expect(renewed.status == 200)
            // The token of the desktop does not outlive the phone either.
            #expect(renewed.integer("expires_in") == 4 * EndpointsFixture.day)
            let next = try #require(renewed.string("refresh_token"))
            server.moveClock(to: 14 * EndpointsFixture.day)
            let access = try #require(renewed.string("access_token"))
            #expect(await server.call(.get, "/v1/me", bearer: access).status == 401)
            #expect(await server.refresh(next).string("reason") == "parent_ended")
        }
    }

    @Test("A phone that pings keeps the desktop; a silent one loses it, also for APIs that only check signatures")
    func pings() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone, "&ping_seconds=300")
            #expect(tokens.answer.integer("expires_in") == 300)
            server.moveClock(to: 200)
            let pinged = await server.call(.post, "/v1/me/logins/ping", bearer: phone.access)
            #expect(pinged.integer("kept") == 1)
            server.moveClock(to: 499)
            #expect(await server.refresh(tokens.refresh).integer("expires_in") == 1)
            server.moveClock(to: 500)
            #expect(try await server.endpoints.services.phoneLogins.sweep() == 1)
            #expect(await login.row().string("cause") == "presence_lost")
            #expect(await server.refresh(tokens.refresh).string("reason") == "presence_lost")
            #expect(try await server.endpoints.services.phoneLogins.sweep() == 0)
        }
    }

    @Test("A logout of the desktop is seen by the phone, and the phone goes on")
    func desktopLogsOut() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            let mine = await server.call(.get, "/v1/me/logins/\(login.id)", bearer: phone.access)
            #expect(mine.string("history") == "LOGGED_OUT" && mine.string("cause") == "logged_out")
            #expect(await server.refresh(phone.refresh).status == 200)
        }
    }

    @Test("The phone stops the desktop; 'not me' says so in the reason")
    func phoneStops() async throws {
        try await DeviceLogin.with { server, phone in
            for (json, reason) in [(nil, "revoked_by_user"), (#"{"not_me":true}"#, "not_me")] {
                let (login, tokens) = try await DeviceLogin.complete(server, phone)
                #expect(await login.act("stop", json, phone).string("history") == "LOGGED_OUT")
                #expect(await server.refresh(tokens.refresh).string("reason") == reason)
            }
        }
    }

    @Test("Disabled logins refuse the desktop as the phone, and both go on afterwards")
    func disabled() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, tokens) = try await DeviceLogin.complete(server, phone)
            _ = await server.admin(.post, "/admin/v1/users/\(phone.userID)/disable", #"{"effective":"immediate"}"#)
            for token in [phone.refresh, tokens.refresh] {
                #expect(await server.refresh(token).string("reason") == "login_disabled_by_admin")
            }
            _ = await server.admin(.post, "/admin/v1/users/\(phone.userID)/enable")
            for token in [phone.refresh, tokens.refresh] { #expect(await server.refresh(token).status == 200) }
        }
    }

    @Test("The deletion of a user ends all its logins as deleted, and no other user's")
    func deleted() async throws {
        try await DeviceLogin.with { server, phone in
            let (living, tokens) = try await DeviceLogin.complete(server, phone, device: "tv-1")
            let (over, _) = try await DeviceLogin.complete(server, phone, "&bond=none", device: "tv-2")
            #expect(await server.admin(.delete, "/admin/v1/users/\(phone.userID)").status == 204)
            #expect(await server.refresh(tokens.refresh).string("reason") == "user_deleted")
            for login in [living, over] {
                #expect(await login.row().string("history") == "DELETED")
                #expect(await login.row().string("state") == "DONE")
            }
        }
    }

    @Test("The new phone of the user adopts the desktop with a second factor")
    func adoption() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            let new = try await server.logIn(device: "phone-2")
            let wrong = await login.act("adopt", #"{"password":"wrong horse"}"#, new)
            #expect(wrong.status == 403)
            let adopted = await login.act("adopt", #"{"password":"\#(EndpointsFixture.password)"}"#, new)
            #expect(adopted.string("phone_session_id") == new.sessionID, "\(adopted.text)")
            _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            #expect(await server.refresh(tokens.refresh).status == 200)
            _ = await server.call(.post, "/v1/logout", bearer: new.access)
            #expect(await server.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("A desktop that let another in, after its probation, takes it with it")
    func chain() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, middle) = try await DeviceLogin.complete(server, phone, device: "tv-1", scope: "read+account")
            server.moveClock(to: EndpointsFixture.day)
            let (_, last) = try await DeviceLogin.complete(server, middle, device: "tv-2")
            _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            for tokens in [middle, last] {
                #expect(await server.refresh(tokens.refresh).string("reason") == "parent_ended")
            }
        }
    }
}
