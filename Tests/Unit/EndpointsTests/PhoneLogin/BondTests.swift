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
            { stage, phone in
                _ = await stage.call(.post, "/v1/logout", bearer: phone.access)
            }
        ),
        (
            "an admin ends it", "parent_ended",
            { stage, phone in
                _ = await stage.admin(.delete, "/admin/v1/sessions/\(phone.sessionID)")
            }
        ),
        (
            "the user ends the phone elsewhere", "parent_ended",
            { stage, phone in
                let other = try await stage.logIn(device: "phone-2")
                _ = await stage.call(.delete, "/v1/me/devices/phone-1", bearer: other.access)
            }
        ),
        (
            "an old refresh token comes back", "parent_ended",
            { stage, phone in
                let first = try Tokens(await stage.refresh(phone.refresh))
                stage.moveClock(to: EndpointsFixture.day)
                let second = try Tokens(await stage.refresh(first.refresh))
                stage.moveClock(to: 2 * EndpointsFixture.day)
                _ = await stage.refresh(try Tokens(await stage.refresh(second.refresh)).refresh)
                stage.moveClock(to: 3 * EndpointsFixture.day)
                _ = await stage.refresh(phone.refresh)
            }
        ),
        (
            "the password changes", "password_changed",
            { stage, phone in
                let changed = await stage.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another good horse"}"#,
                    bearer: phone.access)
                #expect(changed.status == 200 || changed.status == 204, "\(changed.text)")
            }
        ),
        (
            "an admin ends all of the user's", "revoked_by_admin",
            { stage, phone in
                _ = await stage.admin(.post, "/admin/v1/users/\(phone.userID)/revoke")
            }
        ),
        (
            "all sessions of all users end", "revoked_by_admin",
            { stage, _ in
                stage.moveClock(to: 1)
                _ = await stage.admin(.post, "/admin/v1/revoke-all")
            }
        ),
    ]

    @Test("A desktop ends with its phone, however that ends, and its login says so", arguments: 0..<ways.count)
    func cascade(_ number: Int) async throws {
        let way = Self.ways[number]
        try await DeviceLogin.with { stage, phone in
            let (login, tokens) = try await DeviceLogin.complete(stage, phone)
            let before = await stage.admin(.get, "/admin/v1/revocations?limit=200").items.count
            try await way.end(stage, phone)
            let refused = await stage.refresh(tokens.refresh)
            #expect(refused.string("reason") == way.reason, "\(way.name): \(refused.text)")
            #expect(refused.bool("reauthenticate") == true)
            let row = await login.row()
            #expect(row.string("state") == "DONE" && row.string("history") == "LOGGED_OUT", "\(way.name)")
            #expect(await login.look().string("event") == "logged_out")
            let news = await stage.admin(.get, "/admin/v1/revocations?limit=200").items
            #expect(news.count > before, "\(way.name)")
        }
    }

    @Test("The end of the phone and that of the desktop come in one transaction, with a feed item and an event each")
    func oneTransaction() async throws {
        try await DeviceLogin.with { stage, phone in
            let (_, one) = try await DeviceLogin.complete(stage, phone, device: "tv-1")
            let (_, two) = try await DeviceLogin.complete(stage, phone, "&bond=none", device: "tv-2")
            _ = await stage.call(.post, "/v1/logout", bearer: phone.access)
            let feed = await stage.admin(.get, "/admin/v1/revocations?limit=200").items
            #expect(feed.compactMap { $0.string("reason") }.sorted() == ["logged_out", "parent_ended"])
            let events = await stage.admin(.get, "/admin/v1/events?session_id=\(one.sessionID)&limit=200").items
            #expect(events.filter { $0.string("event") == "session_ended" }.count == 1)
            // A login without a bond is a single act.
            #expect(await stage.refresh(two.refresh).status == 200)
        }
    }

    @Test("A new login of the phone takes the desktop with it")
    func replaced() async throws {
        try await DeviceLogin.with { stage, phone in
            let (login, tokens) = try await DeviceLogin.complete(stage, phone)
            let again = try await stage.logIn()
            #expect(await stage.refresh(tokens.refresh).status == 200)
            let child = await stage.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(child.string("parent_session_id") == again.sessionID)
            #expect(await login.row().string("phone_session_id") == again.sessionID)
            _ = await stage.call(.post, "/v1/logout", bearer: again.access)
            #expect(await stage.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("A phone that was not used for two weeks takes the desktop with it, though that was used")
    func idlePhone() async throws {
        try await DeviceLogin.with { stage, phone in
            let (_, tokens) = try await DeviceLogin.complete(stage, phone)
            stage.moveClock(to: 10 * EndpointsFixture.day)
            let renewed = await stage.refresh(tokens.refresh)
            #expect(renewed.status == 200)
            // The token of the desktop does not outlive the phone either.
            #expect(renewed.integer("expires_in") == 4 * EndpointsFixture.day)
            let next = try #require(renewed.string("refresh_token"))
            stage.moveClock(to: 14 * EndpointsFixture.day)
            let access = try #require(renewed.string("access_token"))
            #expect(await stage.call(.get, "/v1/me", bearer: access).status == 401)
            #expect(await stage.refresh(next).string("reason") == "parent_ended")
        }
    }

    @Test("A phone that pings keeps the desktop; a silent one loses it, also for APIs that only check signatures")
    func pings() async throws {
        try await DeviceLogin.with { stage, phone in
            let (login, tokens) = try await DeviceLogin.complete(stage, phone, "&ping_seconds=300")
            #expect(tokens.answer.integer("expires_in") == 300)
            stage.moveClock(to: 200)
            let pinged = await stage.call(.post, "/v1/me/logins/ping", bearer: phone.access)
            #expect(pinged.integer("kept") == 1)
            stage.moveClock(to: 499)
            #expect(await stage.refresh(tokens.refresh).integer("expires_in") == 1)
            stage.moveClock(to: 500)
            #expect(try await stage.endpoints.services.phoneLogins.sweep() == 1)
            #expect(await login.row().string("cause") == "presence_lost")
            #expect(await stage.refresh(tokens.refresh).string("reason") == "presence_lost")
            #expect(try await stage.endpoints.services.phoneLogins.sweep() == 0)
        }
    }

    @Test("A logout of the desktop is seen by the phone, and the phone goes on")
    func desktopLogsOut() async throws {
        try await DeviceLogin.with { stage, phone in
            let (login, tokens) = try await DeviceLogin.complete(stage, phone)
            #expect(await stage.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            let mine = await stage.call(.get, "/v1/me/logins/\(login.id)", bearer: phone.access)
            #expect(mine.string("history") == "LOGGED_OUT" && mine.string("cause") == "logged_out")
            #expect(await stage.refresh(phone.refresh).status == 200)
        }
    }

    @Test("The phone stops the desktop; 'not me' says so in the reason")
    func phoneStops() async throws {
        try await DeviceLogin.with { stage, phone in
            for (json, reason) in [(nil, "revoked_by_user"), (#"{"not_me":true}"#, "not_me")] {
                let (login, tokens) = try await DeviceLogin.complete(stage, phone)
                #expect(await login.act("stop", json, phone).string("history") == "LOGGED_OUT")
                #expect(await stage.refresh(tokens.refresh).string("reason") == reason)
            }
        }
    }

    @Test("Disabled logins refuse the desktop as the phone, and both go on afterwards")
    func disabled() async throws {
        try await DeviceLogin.with { stage, phone in
            let (_, tokens) = try await DeviceLogin.complete(stage, phone)
            _ = await stage.admin(.post, "/admin/v1/users/\(phone.userID)/disable", #"{"effective":"immediate"}"#)
            for token in [phone.refresh, tokens.refresh] {
                #expect(await stage.refresh(token).string("reason") == "login_disabled_by_admin")
            }
            _ = await stage.admin(.post, "/admin/v1/users/\(phone.userID)/enable")
            for token in [phone.refresh, tokens.refresh] { #expect(await stage.refresh(token).status == 200) }
        }
    }

    @Test("The deletion of a user ends all its logins as deleted, and no other user's")
    func deleted() async throws {
        try await DeviceLogin.with { stage, phone in
            let (living, tokens) = try await DeviceLogin.complete(stage, phone, device: "tv-1")
            let (over, _) = try await DeviceLogin.complete(stage, phone, "&bond=none", device: "tv-2")
            #expect(await stage.admin(.delete, "/admin/v1/users/\(phone.userID)").status == 204)
            #expect(await stage.refresh(tokens.refresh).string("reason") == "user_deleted")
            for login in [living, over] {
                #expect(await login.row().string("history") == "DELETED")
                #expect(await login.row().string("state") == "DONE")
            }
        }
    }

    @Test("The new phone of the user adopts the desktop with a second factor")
    func adoption() async throws {
        try await DeviceLogin.with { stage, phone in
            let (login, tokens) = try await DeviceLogin.complete(stage, phone)
            let new = try await stage.logIn(device: "phone-2")
            let wrong = await login.act("adopt", #"{"password":"wrong horse"}"#, new)
            #expect(wrong.status == 403)
            let adopted = await login.act("adopt", #"{"password":"\#(EndpointsFixture.password)"}"#, new)
            #expect(adopted.string("phone_session_id") == new.sessionID, "\(adopted.text)")
            _ = await stage.call(.post, "/v1/logout", bearer: phone.access)
            #expect(await stage.refresh(tokens.refresh).status == 200)
            _ = await stage.call(.post, "/v1/logout", bearer: new.access)
            #expect(await stage.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("A desktop that let another in, after its probation, takes it with it")
    func chain() async throws {
        try await DeviceLogin.with { stage, phone in
            let (_, middle) = try await DeviceLogin.complete(stage, phone, device: "tv-1", scope: "read+account")
            stage.moveClock(to: EndpointsFixture.day)
            let (_, last) = try await DeviceLogin.complete(stage, middle, device: "tv-2")
            _ = await stage.call(.post, "/v1/logout", bearer: phone.access)
            for tokens in [middle, last] {
                #expect(await stage.refresh(tokens.refresh).string("reason") == "parent_ended")
            }
        }
    }
}
