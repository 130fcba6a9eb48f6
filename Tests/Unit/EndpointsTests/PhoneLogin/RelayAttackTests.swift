import HTTP
import Sessions
import Testing

@testable import Endpoints

/// An attacker with a browser relays codes to a victim by mail, on paper, by chat and live.
struct RelayAttackTests {
    /// What the attacker's browser has got: a code for the client, or nothing.
    private static func loot(_ waiting: PhonePageFixture) async throws -> String? {
        let page = await waiting.page()
        guard page.text.contains("/finish\"") else { return nil }
        return try Redirect(try await waiting.finish())["code"]
    }

    @Test("R1: passkeys come first on the page, and a client without the phone has no way to it")
    func passkeysFirst() async throws {
        try await PasskeyOnPageTests.with(#"["phone","password","passkey"]"#) { scene in
            let text = try await scene.login.page(scene.browser).answer.text
            let places = ["/login/passkey", "/login/phone"].map { path in
                text.firstRange(of: "action=\"\(path)\"")?.lowerBound
            }
            let (passkey, phone) = (try #require(places[0]), try #require(places[1]))
            #expect(passkey < phone)
        }
        try await PasskeyOnPageTests.with { scene in
            let page = try await scene.login.page(scene.browser)
            #expect(!page.answer.text.contains("/login/phone"))
            let forced = await scene.browser.post(
                "/login/phone", ["r": page.request, "csrf": try scene.token(of: "/login/phone", page)])
            #expect(forced.field("Location")?.contains("/login/phone/") != true)
        }
    }

    @Test("a picture in a mail or on paper is stale, and one that is opened as a link lets no device in")
    func stalePicture() async throws {
        try await PhonePageFixture.with { waiting, victim in
            let picture = try await waiting.code()
            #expect(await waiting.claim(picture, victim, source: "deep_link").status == 404)
            waiting.server.moveClock(to: 20)
            #expect(await waiting.claim(picture, victim).status == 404)
            // Nothing of it was noticed by the login, which waits for another quarter of an hour at most.
            waiting.server.moveClock(to: 180)
            #expect(await waiting.event().string("event") == "timed_out")
            #expect(try await Self.loot(waiting) == nil)
        }
    }

    @Test("one code for many victims lets none of them in, and the trail says so")
    func sprayed() async throws {
        try await PhonePageFixture.with { waiting, first in
            let second = try await waiting.server.logIn(device: "phone-2")
            let picture = try await waiting.code()
            #expect(await waiting.claim(picture, first).status == 200)
            let number: String = try #require(await waiting.event().string("data"))
            #expect(await waiting.claim(picture, second).string("code") == "contested")
            #expect(await waiting.approve(first, number: number).string("code") == "session_terminated")
            #expect(try await Self.loot(waiting) == nil)
            let events = await waiting.server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(
                events.filter { $0.string("event") == "login_failed" }.map { $0.string("reason") } == ["contested"])
        }
    }

    @Test("a victim that approves blindly has no number to type, and a guess has one try")
    func blindApproval() async throws {
        try await PhonePageFixture.with { waiting, victim in
            let picture = try await waiting.code()
            #expect(await waiting.claim(picture, victim).status == 200)
            #expect(await waiting.approve(victim, number: nil).string("code") == "number_required")
            let shown = await waiting.event().string("data").flatMap { Int($0) } ?? 0
            let guess = shown == 99 ? 10 : shown + 1
            #expect(await waiting.approve(victim, number: "\(guess)").string("code") == "wrong_number")
            #expect(await waiting.approve(victim, number: "\(shown)").string("code") == "session_terminated")
            #expect(try await Self.loot(waiting) == nil)
        }
    }

    @Test("an approved login is given to the browser that asked, with its cookie, and to no other one")
    func wrongBrowser() async throws {
        try await PhonePageFixture.with { waiting, victim in
            try await waiting.approveByScan(victim)
            for browser in [Browser(waiting.server), try await PhonePageFixture.begin(waiting.hosted).browser] {
                #expect(await browser.get(waiting.path).field("Location")?.contains("/login?r=") == true)
                let finish = await browser.post(waiting.here + "/finish", ["r": "x", "csrf": "x"])
                #expect(finish.field("Location")?.contains("code=") != true)
                #expect(await browser.get(waiting.here + "/events").status == 404)
            }
        }
    }

    @Test("a flood of requests ends in 429, with as many rows as the limit, and leaves phones that wait alone")
    func flood() async throws {
        try await PhonePageFixture.with { waiting, victim in
            let page = try await waiting.hosted.page(waiting.browser)
            let token = try #require(page.token(of: "/login/phone"))
            var refused = 0
            for _ in 0..<200 {
                let answer = await waiting.browser.post("/login/phone", ["r": page.request, "csrf": token])
                if answer.status == 429 { refused += 1 }
            }
            let service = waiting.server.endpoints.services.phoneLogins
            let rows = try await service.logins(ofUser: nil, in: .requested, after: nil, limit: 200).items
            // The limit is 60 a minute, and this takes some seconds.
            #expect(rows.count + refused == 201 && rows.count < 121, "\(rows.count) rows, \(refused) refused")
            try await waiting.approveByScan(victim)
            // The clean-up forgets them all in time.
            waiting.server.moveClock(to: 180)
            var swept = 0
            while true {
                let count = try await service.sweep()
                if count == 0 { break }
                swept += count
            }
            #expect(swept == rows.count)
        }
    }

    @Test("a live relay gets a session that takes nothing with it, and ends by one press of its owner")
    func liveRelay() async throws {
        try await PhonePageFixture.with { waiting, victim in
            // The victim sees another browser in another place, and goes on all the same.
            let claimed = await waiting.claim(try await waiting.code(), victim)
            #expect(claimed.bool("browser_known") == false && claimed.string("user_agent") != nil)
            let number: String = try #require(await waiting.event().string("data"))
            #expect(await waiting.approve(victim, number: number).string("state") == "ACTIVE")
            let code: String = try #require(try await Self.loot(waiting))
            let thief = try Tokens(await waiting.hosted.exchange(code))
            for (method, path, json) in [
                (HTTP.Method.delete, "/v1/me/devices", nil),
                (.put, "/v1/me/password", #"{"old_password":"x","new_password":"another good horse"}"#),
                (.post, "/v1/me/app-login", #"{"client_id":"shop"}"#),
            ] as [(HTTP.Method, String, String?)] {
                #expect(
                    await waiting.server.call(method, path, json, bearer: thief.access).string("code")
                        == "insufficient_scope")
            }
            // A mail scanner follows the link of the message, and nothing happens. The owner presses the button.
            let url = waiting.server.context.notMeURL(of: try #require(Identifier<Session>(thief.sessionID)))
            let owner = Browser(waiting.server)
            let page = await owner.get(url)
            #expect(page.status == 200, "\(page.text)")
            #expect(await waiting.server.call(.get, "/v1/me", bearer: thief.access).status == 200)
            let form = try ["r", "csrf"].map { name in (name, try #require(Page.value(name, in: page.text))) }
            #expect(await owner.post("/not-me", Dictionary(uniqueKeysWithValues: form)).status == 200)
            #expect(await waiting.server.refresh(thief.refresh, more: "&client_id=shop").string("reason") == "not_me")
        }
    }

    @Test("R13: a typed code is reviewed before it lets a device in, by a user with a login of just now")
    func deviceCode() async throws {
        try await DeviceLogin.with { server, _ in
            let pages = AccountPages(server)
            _ = try await pages.open()
            server.moveClock(to: 250)
            let login = try await DeviceLogin(server)
            let code: String = try #require(login.opened.string("user_code"))
            // A link with the code only fills the field in.
            let typing = try await pages.open("/device?user_code=\(code)")
            #expect(typing.text.contains(code) && !typing.text.contains("/device/decision"))
            let review = AccountPage(try await pages.send("/device", of: typing, ["user_code": code]))
            #expect(review.text.contains("/device/decision"), "\(review.text)")
            let approval = ["user_code": code, "decision": "approve"]
            server.moveClock(to: 301)
            let late = try await pages.send("/device/decision", of: review, approval)
            #expect(await login.collect().string("error") == "authorization_pending")
            // The login of the browser is older than five minutes: the user logs in, and the decision counts then.
            let done = try await pages.logIn(late)
            #expect(done.status == 200, "\(done.status) \(done.text)")
            #expect(await login.collect().status == 200)
            #expect(await login.row().string("history") == "LOGGED_IN_ONE_SHOT")
        }
    }

    @Test("R13: wrong user codes are bounded for an address")
    func guessedUserCodes() async throws {
        try await DeviceLogin.with { server, _ in
            let pages = AccountPages(server)
            let page = try await pages.open("/device")
            var statuses: [Int] = []
            for number in 0..<12 {
                let guess = "BCDF-GH" + String(Array("BCDFGHJKLMNP")[number]) + "K"
                statuses.append(try await pages.send("/device", of: page, ["user_code": guess]).status)
            }
            #expect(statuses.first == 422 && statuses.last == 429, "\(statuses)")
        }
    }
}
