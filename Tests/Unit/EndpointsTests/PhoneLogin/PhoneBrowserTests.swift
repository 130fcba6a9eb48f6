import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A browser that a phone has let in asks again, for the same app and for another one: nothing of that escapes the phone.
struct PhoneBrowserTests {
    typealias Way = @Sendable (SharedBrowser) async throws -> Void

    /// A phone, the browser that it has let in for `shop`, and the sessions that this browser has.
    struct SharedBrowser {
        let waiting: PhonePageFixture
        let phone: Tokens
        /// By the code of the phone login.
        let first: Tokens
        /// By a reload, and by the second app: the session of the browser has answered.
        let reloaded: Tokens
        let second: Tokens

        var fixture: EndpointsFixture { waiting.server }
        var all: [(client: String, Tokens)] { [("shop", first), ("shop", reloaded), ("other", second)] }

        /// Why a session has ended; nil if it goes on.
        func reason(_ client: String, _ tokens: Tokens) async -> String? {
            let answer = await fixture.refresh(tokens.refresh, more: "&client_id=\(client)")
            return answer.status == 200 ? nil : answer.string("reason") ?? answer.text
        }

        /// The answer of the browser's session to the next request.
        func silent(_ changes: [String: String?] = [:]) async throws -> Redirect {
            try await PhoneBrowserTests.silent(waiting, changes)
        }

        /// Each session that goes on.
        func living() async -> [String] {
            var living: [String] = []
            for (client, tokens) in all where await reason(client, tokens) == nil { living.append(tokens.sessionID) }
            return living
        }

        /// The phone, or the link in the message, says that the user has not asked for it.
        func stop(_ json: String = #"{"not_me":true}"#) async -> Answer {
            await fixture.call(.post, "/v1/me/logins/\(waiting.id)/stop", json, bearer: phone.access)
        }

        func history() async -> String? {
            await fixture.admin(.get, "/admin/v1/logins/\(waiting.id)").string("history")
        }
    }

    static let shared = #","browser_session":"shared","remote_scope":"openid read""#

    static func silent(_ waiting: PhonePageFixture, _ changes: [String: String?] = [:]) async throws -> Redirect {
        let all = ["prompt": "none"].merging(changes) { $1 }
        return try Redirect(await waiting.browser.get(PageLoginFixture.url(all)))
    }

    static func makeOther(_ server: EndpointsFixture) async throws {
        _ = try await server.makeClient(
            #"""
            {"client_id":"other","grant_types":["authorization_code","refresh_token"],"scope":"openid email read",
             "redirect_uris":["com.example.app:/callback"],"login_methods":["password","phone"]\#(shared)}
            """#)
    }

    /// Gives `body` two apps that share the session of a browser, which the phone has let in for the first one.
    static func with(_ body: (SharedBrowser) async throws -> Void) async throws {
        try await PhonePageFixture.with(shared) { waiting, phone in
            try await makeOther(waiting.server)
            try await waiting.approveByScan(phone)
            let code = try #require(try Redirect(try await waiting.finish())["code"])
            let first = try Tokens(await waiting.hosted.exchange(code, ["device_id": "browser-1"]))
            let again = try #require(try await silent(waiting, ["prompt": nil])["code"])
            let reloaded = try Tokens(await waiting.hosted.exchange(again, ["device_id": "browser-2"]))
            let next = try #require(try await silent(waiting, ["client_id": "other"])["code"])
            let second = try Tokens(
                await waiting.hosted.exchange(next, ["client_id": "other", "device_id": "browser-3"]))
            try await body(
                SharedBrowser(waiting: waiting, phone: phone, first: first, reloaded: reloaded, second: second))
        }
    }

    @Test("A session that the browser's session answers has the phone, the probation and the scope of the phone login")
    func inheritance() async throws {
        try await Self.with { server in
            for (client, tokens) in server.all {
                let shown = await server.fixture.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
                #expect(shown.string("parent_session_id") == server.phone.sessionID, "\(client): \(shown.text)")
                #expect(shown.integer("probation_until") == EndpointsFixture.start + EndpointsFixture.day)
                let claims = try Answer.claims(of: tokens.access)
                #expect(claims.string("scope") == "openid read" && claims.strings("amr") == ["phone"], "\(client)")
                let barred = await server.fixture.call(.delete, "/v1/me/encryption-key", bearer: tokens.access)
                #expect(barred.string("code") == "barred")
            }
        }
    }

    static let ends: [(name: String, reason: String, isOfAll: Bool, end: Way)] = [
        ("not me", "not_me", true, { _ = await $0.stop() }),
        ("the phone ends the login", "revoked_by_user", true, { _ = await $0.stop("{}") }),
        (
            "the phone logs out", "parent_ended", true,
            { _ = await $0.fixture.call(.post, "/v1/logout", bearer: $0.phone.access) }
        ),
        (
            "an admin ends the first session", "revoked_by_admin", true,
            { _ = await $0.fixture.admin(.delete, "/admin/v1/sessions/\($0.first.sessionID)") }
        ),
        (
            "an admin ends the second session", "revoked_by_admin", true,
            { _ = await $0.fixture.admin(.delete, "/admin/v1/sessions/\($0.second.sessionID)") }
        ),
        (
            "an admin ends the login", "revoked_by_admin", true,
            { _ = await $0.fixture.admin(.delete, "/admin/v1/logins/\($0.waiting.id)") }
        ),
        (
            "the first app logs out, and then it was not me", "not_me", true,
            { server in
                _ = await server.fixture.call(.post, "/v1/logout", bearer: server.first.access)
                #expect(await server.history() == "LOGGED_IN")
                #expect(await server.stop().status == 200)
            }
        ),
        (
            "the first app logs out, and then the phone", "parent_ended", true,
            { server in
                _ = await server.fixture.call(.post, "/v1/logout", bearer: server.first.access)
                _ = await server.fixture.call(.post, "/v1/logout", bearer: server.phone.access)
            }
        ),
        (
            "the first app logs out", "logged_out", false,
            { _ = await $0.fixture.call(.post, "/v1/logout", bearer: $0.first.access) }
        ),
        (
            "an old refresh token of the first app comes back", "refresh_token_reused", false,
            { server in
                var token = server.first.refresh
                for hour in Int64(1)...2 {
                    server.fixture.moveClock(to: hour * 700)
                    let next = await server.fixture.refresh(token, more: "&client_id=shop")
                    token = try #require(next.string("refresh_token"))
                }
                _ = await server.fixture.refresh(server.first.refresh, more: "&client_id=shop")
            }
        ),
    ]

    @Test("An end that is about the login reaches every session of it, and every other end one", arguments: 0..<10)
    func reach(_ number: Int) async throws {
        let way = Self.ends[number]
        try await Self.with { server in
            let waiting = try #require(try await server.silent()["code"])
            try await way.end(server)
            #expect(try await server.silent()["error"] == "login_required", "\(way.name)")
            let living = await server.living()
            if way.isOfAll {
                #expect(living == [], "\(way.name)")
                #expect(await server.reason("other", server.second) == way.reason, "\(way.name)")
                #expect(await server.history() == "LOGGED_OUT", "\(way.name)")
                // A code that was waiting starts no session any more.
                #expect(await server.waiting.hosted.exchange(waiting, ["device_id": "b-9"]).status == 400)
            } else {
                #expect(living == [server.reloaded.sessionID, server.second.sessionID], "\(way.name)")
                #expect(await server.reason("shop", server.first) == way.reason, "\(way.name)")
                #expect(await server.history() == "LOGGED_IN", "\(way.name)")
            }
        }
    }

    @Test("A login is logged in for as long as one of its sessions lives")
    func lastSession() async throws {
        try await Self.with { server in
            for (_, tokens) in server.all {
                #expect(await server.history() == "LOGGED_IN")
                _ = await server.fixture.call(.post, "/v1/logout", bearer: tokens.access)
            }
            #expect(await server.history() == "LOGGED_OUT")
            #expect(await server.stop().string("code") == "session_terminated")
        }
    }

    @Test("'Not me' before the code is exchanged ends the code and the session of the browser")
    func beforeExchange() async throws {
        try await PhonePageFixture.with(Self.shared) { waiting, phone in
            try await waiting.approveByScan(phone)
            let code = try #require(try Redirect(try await waiting.finish())["code"])
            let again = try #require(try await Self.silent(waiting)["code"])
            let stopped = await waiting.server.call(
                .post, "/v1/me/logins/\(waiting.id)/stop", #"{"not_me":true}"#, bearer: phone.access)
            #expect(stopped.string("history") == "LOGGED_OUT", "\(stopped.text)")
            for code in [code, again] { #expect(await waiting.hosted.exchange(code).status == 400) }
            #expect(try await Self.silent(waiting)["error"] == "login_required")
        }
    }

    @Test("A check with prompt=none belongs to a session that the phone has let in, and ends with the phone")
    func silentCheck() async throws {
        try await Self.with { server in
            let code = try #require(try await server.silent()["code"])
            let answer = await server.waiting.hosted.exchange(code, ["device_id": nil])
            let joined = try #require(answer.string("session_id"), "\(answer.text)")
            #expect([server.first.sessionID, server.reloaded.sessionID].contains(joined))
            #expect(answer.string("refresh_token") == nil)
            #expect(await server.living().count == 3)
            let access = try #require(answer.string("access_token"))
            #expect(await server.fixture.call(.get, "/v1/verify", bearer: access).status == 200)
            _ = await server.fixture.call(.post, "/v1/logout", bearer: server.phone.access)
            #expect(await server.fixture.call(.get, "/v1/verify", bearer: access).status == 401)
        }
    }

    @Test("A new login of the phone takes all of them with it")
    func replaced() async throws {
        try await Self.with { server in
            let again = try await server.fixture.logIn()
            for (_, tokens) in server.all {
                let shown = await server.fixture.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
                #expect(shown.string("parent_session_id") == again.sessionID)
            }
            #expect(try await server.silent()["code"] != nil)
            _ = await server.fixture.call(.post, "/v1/logout", bearer: again.access)
            #expect(await server.living() == [])
            #expect(try await server.silent()["error"] == "login_required")
        }
    }

    @Test("A session that a password opened in the same browser inherits nothing, and goes on without the phone")
    func password() async throws {
        try await Self.with { server in
            let hosted = server.waiting.hosted
            // Of two authentications in one second, that of the phone counts.
            server.fixture.moveClock(to: 5)
            let page = try await hosted.page(server.waiting.browser, ["prompt": "login"])
            let answer = try Redirect(await hosted.submit(server.waiting.browser, page))
            let typed = try Tokens(await hosted.exchange(try #require(answer["code"]), ["device_id": "browser-4"]))
            let code = try #require(try await server.silent(["client_id": "other"])["code"])
            let own = try Tokens(
                await hosted.exchange(code, ["client_id": "other", "device_id": "browser-5"]))
            for tokens in [typed, own] {
                let shown = await server.fixture.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
                #expect(shown.string("parent_session_id") == nil && shown.integer("probation_until") == nil)
                let claims = try Answer.claims(of: tokens.access)
                #expect(claims.string("scope")?.contains("email") == true)
            }
            #expect(await server.stop().status == 200)
            #expect(await server.living() == [])
            #expect(await server.reason("shop", typed) == nil)
            #expect(await server.reason("other", own) == nil)
        }
    }

    @Test("A phone renews no presence of a session that the browser had before, and answers with its own time")
    func olderSession() async throws {
        try await PhonePageFixture.with(Self.shared) { first, phone in
            let (hosted, browser) = (first.hosted, Browser(first.server))
            _ = try await hosted.code(browser)
            first.server.moveClock(to: 600)
            let page = try await hosted.page(browser, ["prompt": "login"])
            let token = try #require(page.token(of: "/login/phone"))
            let opened = await browser.post("/login/phone", ["r": page.request, "csrf": token])
            let location = try #require(opened.field("Location"))
            let waiting = PhonePageFixture(
                hosted: hosted, browser: browser, path: String(location.dropFirst(EndpointsFixture.issuer.count)))
            try await waiting.approveByScan(phone)
            let code = try #require(try Redirect(try await waiting.finish())["code"])
            let tokens = try Tokens(await hosted.exchange(code, ["device_id": "browser-1"]))
            // The account pages ask again before a change.
            let pages = first.server.endpoints.services.pageLogin
            let cookie = try #require(browser.cookies["__Host-sojourn-session"])
            let handle = try #require(pages.handle(cookie))
            let visit = try #require(try await pages.accountVisit(handle))
            #expect(!visit.isRecent && visit.session.phoneID == nil && visit.session.probationUntil == nil)
            let again = try #require(try await Self.silent(waiting, ["prompt": nil])["code"])
            let reloaded = try Tokens(await hosted.exchange(again, ["device_id": "browser-2"]))
            let claims = try Answer.claims(of: reloaded.access)
            #expect(claims.strings("amr") == ["phone"])
            #expect(claims.integer("auth_time") == EndpointsFixture.start + 600)
            _ = await first.server.call(.post, "/v1/logout", bearer: phone.access)
            for tokens in [tokens, reloaded] {
                let refused = await first.server.refresh(tokens.refresh, more: "&client_id=shop")
                #expect(refused.string("reason") == "parent_ended")
            }
        }
    }

    @Test("The link in the message ends all of them, says what it has ended, and does so after the first one's logout")
    func link() async throws {
        for logsOut in [false, true] {
            try await Self.with { server in
                if logsOut { _ = await server.fixture.call(.post, "/v1/logout", bearer: server.first.access) }
                let id = try #require(Identifier<Session>(server.first.sessionID))
                let owner = Browser(server.fixture)
                let page = await owner.get(server.fixture.context.notMeURL(of: id))
                #expect(await server.living().count == (logsOut ? 2 : 3))
                let form = try ["r", "csrf"].map { name in (name, try #require(Page.value(name, in: page.text))) }
                let done = await owner.post("/not-me", Dictionary(uniqueKeysWithValues: form))
                #expect(done.status == 200)
                let lines = done.text.components("<li>").dropFirst()
                #expect(lines.count == (logsOut ? 2 : 4), "\(done.text)")
                #expect(lines.contains { $0.contains("other") } && lines.contains { $0.contains("Shop") })
                #expect(await server.living() == [])
                #expect(await server.reason("other", server.second) == "not_me")
                let events = await server.fixture.admin(.get, "/admin/v1/events?limit=200").items
                #expect(events.contains { $0.string("event") == "login_reported" })
                let again = await owner.get(server.fixture.context.notMeURL(of: id))
                #expect(again.text.contains("signed out already"))
            }
        }
    }
}

extension String {
    /// The parts between `separator`.
    fileprivate func components(_ separator: String) -> [String] {
        var (parts, rest) = ([String](), Substring(self))
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}

/// The bond that a client may ask for.
struct MinimumBondTests {
    @Test("No client has a weaker bond than an admin allows it, and the default is that of the phone's session")
    func minimum() async throws {
        try await DeviceLogin.with { server, phone in
            _ = try await server.makeClient(
                #"{"client_id":"box","grant_types":["\#(DeviceLogin.grant)"],"scope":"read"}"#)
            let shown = await server.admin(.get, "/admin/v1/clients/box")
            #expect(shown.string("minimum_bond") == "session")
            let refused = await server.form("/oauth/device_authorization", "client_id=box&bond=none")
            #expect(refused.status == 400 && refused.string("error") == "invalid_request", "\(refused.text)")
            #expect(refused.text.contains("bond"))
            for bond in ["&bond=session", "&bond=ping&ping_seconds=60", ""] {
                #expect(await server.form("/oauth/device_authorization", "client_id=box" + bond).status == 200)
            }
            let wrong = await server.admin(.patch, "/admin/v1/clients/box", #"{"minimum_bond":"ping"}"#)
            #expect(wrong.status == 400, "\(wrong.text)")
            let lowered = await server.admin(.patch, "/admin/v1/clients/box", #"{"minimum_bond":"none"}"#)
            #expect(lowered.string("minimum_bond") == "none")
            #expect(await server.form("/oauth/device_authorization", "client_id=box&bond=none").status == 200)
        }
    }

    @Test("'Not me' ends the session of a login of one act, and leaves its state and its history")
    func oneShot() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone, "&bond=none")
            #expect(await login.row().string("history") == "LOGGED_IN_ONE_SHOT")
            // A user who refuses it later changes nothing of an act that is done.
            #expect(await login.act("stop", nil, phone).string("code") == "session_terminated")
            let stopped = await login.act("stop", #"{"not_me":true}"#, phone, key: "key-1")
            #expect(stopped.status == 200, "\(stopped.text)")
            #expect(stopped.string("state") == "DONE" && stopped.string("history") == "LOGGED_IN_ONE_SHOT")
            #expect(await server.refresh(tokens.refresh).string("reason") == "not_me")
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(events.filter { $0.string("event") == "login_reported" }.count == 1)
            #expect(await login.act("stop", #"{"not_me":true}"#, phone).string("code") == "session_terminated")
        }
    }

    @Test("A new login of the phone can still say that a login of one act was not its user's")
    func oneShotLater() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone, "&bond=none")
            let again = try await server.logIn()
            let other = try await server.logIn(device: "phone-2")
            #expect(await login.act("stop", #"{"not_me":true}"#, other).string("code") == "session_terminated")
            #expect(await login.act("stop", #"{"not_me":true}"#, again).status == 200)
            #expect(await server.refresh(tokens.refresh).string("reason") == "not_me")
        }
    }
}
