import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The session of a browser: which requests it answers, and what ends it.
@Suite struct BrowserSessionTests {
    private static let cookie = "__Host-sojourn-session"
    private static let mine = #","browser_session":"client""#
    private static let shared = #","browser_session":"shared","post_logout_redirect_uris":["https://app.example/bye"]"#

    private func makeOther(_ login: PageLoginFixture, _ rule: String) async throws {
        _ = try await login.server.makeClient(
            #"""
            {"client_id":"other","grant_types":["authorization_code","refresh_token"],"scope":"openid email read",
             "redirect_uris":["com.example.app:/callback"],"browser_session":"\#(rule)"}
            """#)
    }

    private func silent(_ browser: Browser, _ changes: [String: String?] = [:]) async throws -> Redirect {
        var all = changes
        all["prompt"] = changes["prompt"] ?? "none"
        return try Redirect(await browser.get(PageLoginFixture.url(all)))
    }

    @Test func itAnswersTheNextRequest() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let first = try Tokens(await login.exchange(try await login.code(browser)))
            #expect(Set(browser.cookies.keys) == [Self.cookie, "__Host-sojourn-flow"])
            login.server.moveClock(to: 600)
            let answer = try await silent(browser)
            let second = await login.exchange(try #require(answer["code"]), ["device_id": "phone-2"])
            let claims = try Answer.claims(of: try #require(second.string("id_token")))
            #expect(claims.integer("auth_time") == EndpointsFixture.start)
            #expect(claims.string("sid") == first.sessionID)
            let access = try Answer.claims(of: try #require(second.string("access_token")))
            #expect(access.integer("auth_time") == EndpointsFixture.start)
            #expect(access.strings("amr") == ["pwd"])
            // Without `prompt` there is no page either.
            let again = try Redirect(await browser.get(PageLoginFixture.url()))
            #expect(again["code"] != nil)
        }
    }

    @Test(arguments: [
        ("prompt", "login"), ("prompt", "consent"), ("max_age", "0"), ("max_age", "599"),
    ])
    func aRequestCanDemandALogin(_ name: String, _ value: String) async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            login.server.moveClock(to: 600)
            let page = try await login.page(browser, [name: value])
            let before = browser.cookies[Self.cookie]
            let code = try #require(try Redirect(await login.submit(browser, page))["code"])
            let claims = try Answer.claims(of: try #require(await login.exchange(code).string("id_token")))
            #expect(claims.integer("auth_time") == EndpointsFixture.start + 600)
            // The same user in the same browser: the session goes on, and its value stays.
            #expect(browser.cookies[Self.cookie] == before)
            #expect(try await silent(browser, ["max_age": "60"])["code"] != nil)
        }
    }

    @Test func maxAgeIsMetUpToItsLastSecond() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            login.server.moveClock(to: 600)
            #expect(try await silent(browser, ["max_age": "600"])["code"] != nil)
            #expect(try await silent(browser, ["max_age": "599"])["error"] == "login_required")
        }
    }

    @Test(arguments: [
        ("client", "client", false), ("client", "shared", false), ("shared", "client", false),
        ("shared", "shared", true), ("shared", "none", false),
    ])
    func itIsForTheClientsThatShareIt(_ first: String, _ second: String, _ isAnswered: Bool) async throws {
        try await PageLoginFixture.with(#","browser_session":"\#(first)""#) { login in
            try await makeOther(login, second)
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            let answer = try await silent(browser, ["client_id": "other"])
            #expect((answer["code"] != nil) == isAnswered)
            #expect(try await silent(browser)["code"] != nil)
        }
    }

    /// Seed 003: after a logout the app asks for a login, and no browser has to be opened for the logout.
    @Test(arguments: ["/v1/logout", "/oauth/revoke", "admin"])
    func theLogoutOfTheAppEndsIt(_ way: String) async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let tokens = try Tokens(await login.exchange(try await login.code(browser)))
            #expect(try await silent(browser)["code"] != nil)
            let before = login.writes
            switch way {
            case "/v1/logout": #expect(await login.server.call(.post, way, bearer: tokens.access).status == 204)
            case "/oauth/revoke":
                #expect(await login.server.form(way, "token=\(tokens.refresh)&client_id=shop").status == 200)
            default:
                #expect(await login.server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            }
            #expect(login.writes == before + 1)
            #expect(try await silent(browser)["error"] == "login_required")
            _ = try await login.page(browser)
        }
    }

    @Test func whatEndsTheUsersSessionsEndsIt() async throws {
        for (path, body) in [
            ("/admin/v1/users/username:anna/revoke", "{}"), ("/admin/v1/revoke-all", "{}"),
            ("/admin/v1/users/username:anna/disable", #"{"effective":"immediate"}"#),
        ] {
            try await PageLoginFixture.with(Self.mine) { login in
                let browser = Browser(login.server)
                _ = try await login.code(browser)
                let answer = await login.server.admin(.post, path, body)
                #expect((200...204).contains(answer.status), "\(answer.text)")
                #expect(try await silent(browser)["error"] == "login_required", "\(path)")
            }
        }
    }

    @Test func itEndsAfterHalfAnHourUnlessTheUserStays() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let (short, long) = (Browser(login.server), Browser(login.server))
            _ = try await login.code(short)
            let answer = await login.submit(long, try await login.page(long), more: ["remember": "1"])
            let cookie = try #require(answer.response.fields.values("Set-Cookie").first)
            #expect(cookie.contains("; Max-Age=1209600"))
            login.server.moveClock(to: 1799)
            #expect(try await silent(short)["code"] != nil)
            login.server.moveClock(to: 1799 + 1800)
            #expect(try await silent(short)["error"] == "login_required")
            login.server.moveClock(to: 10 * EndpointsFixture.day)
            #expect(try await silent(long)["code"] != nil)
            login.server.moveClock(to: 24 * EndpointsFixture.day)
            #expect(try await silent(long)["error"] == "login_required")
        }
    }

    @Test func onlyThisServersCookiesAreRead() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let tokens = try Tokens(await login.exchange(try await login.code(browser)))
            let value = try #require(browser.cookies[Self.cookie])
            // Another character than the one that is there.
            let seventh = value.dropFirst(6).first == "B" ? "C" : "B"
            for forged in [
                "", "sjb_", String(value.dropLast(2)) + (value.hasSuffix("AA") ? "BB" : "AA"),
                "sjb_" + tokens.sessionID, value + "A", "x" + value,
                String(value.prefix(6)) + seventh + value.dropFirst(7),
            ] {
                let thief = Browser(login.server)
                thief.plant(Self.cookie, forged)
                #expect(try await silent(thief)["error"] == "login_required", "\(forged)")
            }
        }
    }

    @Test func anotherUserTakesTheBrowserOver() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let made = await login.server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            #expect(made.status == 201)
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            let old = try #require(browser.cookies[Self.cookie])
            let page = try await login.page(browser, ["prompt": "login"])
            #expect(await login.submit(browser, page, username: "bert", password: "another long horse").status == 303)
            #expect(browser.cookies[Self.cookie] != old)
            // The session of before is over.
            let thief = Browser(login.server)
            thief.plant(Self.cookie, old)
            #expect(try await silent(thief)["error"] == "login_required")
        }
    }

    @Test func aHintOfAnotherUserIsNotAnswered() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let made = await login.server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            #expect(made.status == 201)
            let (anna, bert) = (Browser(login.server), Browser(login.server))
            let token = try #require(await login.exchange(try await login.code(anna)).string("id_token"))
            let page = try await login.page(bert)
            #expect(await login.submit(bert, page, username: "bert", password: "another long horse").status == 303)
            #expect(try await silent(anna, ["id_token_hint": token])["code"] != nil)
            #expect(try await silent(bert, ["id_token_hint": token])["error"] == "login_required")
        }
    }

    // MARK: Logout by the relying party

    @Test func aHintOfThisUserLogsOutAtOnce() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = Browser(login.server)
            let answer = await login.exchange(try await login.code(browser))
            let hint = try #require(answer.string("id_token"))
            let out = await browser.get(
                "/oauth/logout?id_token_hint=\(hint)&post_logout_redirect_uri=https://app.example/bye&state=a%26b")
            #expect(out.status == 303)
            #expect(out.field("Location") == "https://app.example/bye?state=a%26b")
            #expect(browser.cookies[Self.cookie] == nil)
            #expect(try await silent(browser)["error"] == "login_required")
            // The app's session began in this browser, and ends with it.
            #expect(await login.server.refresh(answer.string("refresh_token") ?? "").string("reason") == "logged_out")
        }
    }

    @Test func withoutAHintTheUserIsAsked() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            let page = try Page(
                await browser.get("/oauth/logout?client_id=shop&post_logout_redirect_uri=https://app.example/bye"))
            #expect(try await silent(browser)["code"] != nil)
            let forged = await browser.post("/oauth/logout", ["r": page.request.htmlDecoded, "csrf": "x"])
            #expect(forged.status == 200)
            let foreign = await browser.post(
                "/oauth/logout", ["r": page.request.htmlDecoded, "csrf": page.csrf],
                fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(foreign.status == 403)
            #expect(try await silent(browser)["code"] != nil)
            let answer = await browser.post("/oauth/logout", ["r": page.request.htmlDecoded, "csrf": page.csrf])
            #expect(answer.field("Location") == "https://app.example/bye", "\(answer.text)")
            #expect(try await silent(browser)["error"] == "login_required")
        }
    }

    @Test func aLeakedIDTokenEndsNothing() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = Browser(login.server)
            let answer = await login.exchange(try await login.code(browser))
            let hint = try #require(answer.string("id_token"))
            let thief = await Browser(login.server).get("/oauth/logout?id_token_hint=\(hint)")
            #expect(thief.status == 200 && thief.text.contains("This browser is not signed in"))
            #expect(try await silent(browser)["code"] != nil)
            #expect(await login.server.refresh(answer.string("refresh_token") ?? "").status == 200)
        }
    }

    @Test(arguments: [
        "client_id=shop&post_logout_redirect_uri=https://evil.example/",
        "client_id=shop&post_logout_redirect_uri=https://app.example/bye/",
        "client_id=shop&post_logout_redirect_uri=https://app.example/bye%23x",
        "client_id=shop&post_logout_redirect_uri=com.example.app:/callback",
        "client_id=nobody&post_logout_redirect_uri=https://app.example/bye",
        "post_logout_redirect_uri=https://app.example/bye", "id_token_hint=x", "client_id=shop&client_id=shop",
        "post_logout_redirect_uri=https://evil.example/&post_logout_redirect_uri=https://app.example/bye&client_id=shop",
    ])
    func noOpenRedirect(_ query: String) async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let answer = await Browser(login.server).get("/oauth/logout?\(query)")
            #expect(answer.status == 200 && answer.field("Location") == nil, "\(answer.text)")
            #expect(answer.text.contains("cannot lead back to it"), "\(answer.text)")
        }
    }

    /// Requests with a fault, with `HINT` for a right ID token, and what the page says to developers.
    static let faults: [(query: String, isOutAtOnce: Bool, detail: String)] = [
        ("id_token_hint=HINT&post_logout_redirect_uri=https://app.example/bye/", true, "is not registered"),
        ("id_token_hint=HINT&post_logout_redirect_uri=https://app.example/bye?a=1&state=s", true, "is not registered"),
        ("id_token_hint=HINT&post_logout_redirect_uri=javascript:alert(1)", true, "is not registered"),
        ("id_token_hint=HINT&client_id=shop&client_id=shop", true, "client_id must stand only once"),
        ("id_token_hint=HINT&client_id=a&post_logout_redirect_uri=https://app.example/bye", false, "must be that of"),
        ("id_token_hint=HINTx&post_logout_redirect_uri=https://app.example/bye", false, "not an ID token of"),
        ("id_token_hint=x&client_id=shop&post_logout_redirect_uri=https://app.example/bye", false, "not an ID token"),
        ("post_logout_redirect_uri=https://app.example/bye", false, "needs an id_token_hint"),
        ("client_id=shop&post_logout_redirect_uri=https://app.example/by", false, "is not registered"),
        ("state=%zz", false, "cannot be read"),
    ]

    @Test("a fault in the request never keeps the user signed in: out at once, or after a question, and told why")
    func faultsLogOut() async throws {
        for (query, isOutAtOnce, detail) in Self.faults {
            try await PageLoginFixture.with(Self.shared) { login in
                let browser = Browser(login.server)
                let hint = try #require(await login.exchange(try await login.code(browser)).string("id_token"))
                var answer = await browser.get("/oauth/logout?" + query.replacing("HINT", with: hint))
                #expect(answer.status == 200 && answer.field("Location") == nil, "\(query): \(answer.text)")
                #expect(answer.text.contains(detail), "\(query): \(answer.text)")
                if !isOutAtOnce {
                    #expect(try await silent(browser)["code"] != nil, "\(query)")
                    let page = try Page(answer)
                    answer = await browser.post("/oauth/logout", ["r": page.request.htmlDecoded, "csrf": page.csrf])
                    #expect(answer.status == 200 && answer.text.contains(detail) || query.contains("%"), "\(query)")
                }
                #expect(answer.text.contains("You are signed out"), "\(query): \(answer.text)")
                #expect(browser.cookies[Self.cookie] == nil && answer.field("Location") == nil)
                #expect(try await silent(browser)["error"] == "login_required", "\(query)")
            }
        }
    }

    @Test func aPostOfAnotherSiteGoesOnAsAGet() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let answer = await Browser(login.server).post(
                "/oauth/logout", ["client_id": "shop", "state": "x y"], fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(answer.field("Location") == "https://login.example/oauth/logout?client_id=shop&state=x%20y")
        }
    }
}

extension String {
    /// The text of an attribute without the entities of HTML.
    var htmlDecoded: String {
        replacing("&quot;", with: "\"").replacing("&#34;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
