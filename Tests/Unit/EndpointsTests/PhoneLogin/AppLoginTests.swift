import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A web session for the phone's own app.
struct AppLoginTests {
    private static func prove(_ server: EndpointsFixture, _ phone: Tokens, _ id: String, key: String = "k") async
        -> Answer
    {
        await server.call(
            .post, "/v1/me/app-login", #"{"login_id":"\#(id)","password":"\#(EndpointsFixture.password)"}"#,
            bearer: phone.access, fields: ["Idempotency-Key": key])
    }

    private static func exchange(_ server: EndpointsFixture, _ nonce: String) async -> Answer {
        await server.form(
            "/oauth/token", "grant_type=\(DeviceLogin.grant)&client_id=tv&device_code=\(nonce)&device_id=web-1")
    }

    @Test("An AppLogin goes straight to the second factor, and its nonce opens a session once")
    func wholeWay() async throws {
        try await DeviceLogin.with { server, phone in
            let opened = await server.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
            #expect(opened.string("login", "state") == "WAITING_FOR_USER_INPUT", "\(opened.text)")
            #expect(opened.string("login", "input") == "WAIT_FOR_SECOND_FACTOR")
            #expect(opened.bool("login", "is_app_login") == true && opened.string("web_nonce") == nil)
            let id = try #require(opened.string("login", "login_id"))
            let wrong = await server.call(
                .post, "/v1/me/app-login", #"{"login_id":"\#(id)","password":"wrong horse"}"#, bearer: phone.access)
            #expect(wrong.string("code") == "wrong_second_factor" && wrong.integer("attempts_left") == 2)
            let proved = await Self.prove(server, phone, id)
            let nonce = try #require(proved.string("web_nonce"))
            #expect(proved.integer("expires_in") == 30)
            #expect(proved.string("url") == nil, "the client has no page that starts a login")
            #expect(await Self.prove(server, phone, id).string("web_nonce") == nonce)
            let tokens = try Tokens(await Self.exchange(server, nonce))
            #expect(tokens.userID == phone.userID && tokens.sessionID == id)
            #expect(await Self.exchange(server, nonce).string("error") == "invalid_grant")
            _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            #expect(await server.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("A nonce is dead after thirty seconds, and after a logout of the phone")
    func nonceEnds() async throws {
        try await DeviceLogin.with { server, phone in
            for isLate in [true, false] {
                let opened = await server.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
                let id = try #require(opened.string("login", "login_id"))
                let nonce = try #require(await Self.prove(server, phone, id).string("web_nonce"))
                if isLate {
                    server.moveClock(to: 30)
                } else {
                    _ = await server.call(.post, "/v1/logout", bearer: phone.access)
                }
                #expect(await Self.exchange(server, nonce).string("error") == "expired_token")
            }
        }
    }

    @Test("Another session does not get the nonce, and a client without the grant none")
    func strangers() async throws {
        try await DeviceLogin.with { server, phone in
            let opened = await server.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
            let id = try #require(opened.string("login", "login_id"))
            let other = try await server.logIn(device: "phone-2")
            #expect(await Self.prove(server, other, id).status == 403)
            let refused = await server.call(.post, "/v1/me/app-login", #"{"client_id":"mobile"}"#, bearer: phone.access)
            #expect(refused.string("code") == "unauthorized_client")
        }
    }

    // MARK: The page

    private static let start = "https://shop.example/start"

    /// Gives `body` a phone of anna, and a function that makes the URL of an AppLogin for the client `shop`.
    private static func withPage(
        _ more: String = "", _ body: (EndpointsFixture, Tokens, () async throws -> String?) async throws -> Void
    ) async throws {
        try await DeviceLogin.with { server, phone in
            _ = try await server.makeClient(
                #"""
                {"client_id":"shop","client_name":"Shop","scope":"openid read","browser_session":"client",
                 "grant_types":["authorization_code","refresh_token","\#(DeviceLogin.grant)"],
                 "redirect_uris":["com.example.app:/callback"],"initiate_login_uri":"\#(start)",
                 "login_methods":["password","phone"]\#(more)}
                """#)
            try await body(server, phone) {
                let opened = await server.call(
                    .post, "/v1/me/app-login", #"{"client_id":"shop"}"#, bearer: phone.access)
                let id = try #require(opened.string("login", "login_id"), "\(opened.text)")
                return await Self.prove(server, phone, id, key: id).string("url")
            }
        }
    }

    /// Opens a URL of an AppLogin as a browser does whose page sends the fragment. Returns the page that comes.
    private static func open(_ url: String, in browser: Browser) async throws -> Answer {
        let parts = url.split(separator: "#").map(String.init)
        let page = await browser.get(parts[0])
        let csrf = try #require(Page.value("csrf", in: page.text), "\(page.text)")
        return await browser.post("/login/app", ["csrf": csrf, "token": parts[1]])
    }

    /// Presses the button of the question.
    private static func press(_ question: Answer, in browser: Browser) async throws -> Answer {
        let page = try Page(question)
        return await browser.post("/login/app", ["csrf": page.csrf, "r": page.request])
    }

    @Test("the URL names the account, asks, and signs the browser in: the client's own login is then answered at once")
    func page() async throws {
        try await Self.withPage { server, phone, url in
            let browser = Browser(server)
            let question = try await Self.open(try #require(try await url()), in: browser)
            #expect(
                question.status == 200 && question.text.contains("will sign this browser in as"), "\(question.text)")
            #expect(question.text.contains("anna") && question.text.contains("Were you sent this link?"))
            #expect(browser.cookies["__Host-sojourn-session"] == nil, "nothing has happened before the answer")
            let answer = try await Self.press(question, in: browser)
            #expect(answer.status == 303, "\(answer.text)")
            #expect(answer.field("Location") == Self.start + "?iss=https%3A%2F%2Flogin.example")
            #expect(browser.cookies["__Host-sojourn-session"] != nil)
            let login = PageLoginFixture(server: server)
            let code = try #require(Redirect(await browser.get(PageLoginFixture.url(["scope": "openid"])))["code"])
            let tokens = try Tokens(await login.exchange(code))
            #expect(tokens.userID == phone.userID)
            _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            #expect(await server.refresh(tokens.refresh).string("reason") == "parent_ended")
            let after = try Redirect(await browser.get(PageLoginFixture.url(["scope": "openid", "prompt": "none"])))
            #expect(after["error"] == "login_required")
        }
    }

    @Test("the session of a browser in which the user stays logged in goes on")
    func pageInKeptBrowser() async throws {
        try await Self.withPage { server, _, url in
            let browser = Browser(server)
            let first = try await KeptBrowserTests.begin(PageLoginFixture(server: server), browser, ["scope": "openid"])
            let cookie = browser.cookies[AccountPages.cookie]
            let question = try await Self.open(try #require(try await url()), in: browser)
            #expect(try await Self.press(question, in: browser).status == 303)
            #expect(browser.cookies[AccountPages.cookie] == cookie)
            #expect(await server.refresh(first.refresh, more: "&client_id=shop").status == 200)
        }
    }

    @Test("a browser of another user that was idle is asked to sign out first, too")
    func pageOfIdleUser() async throws {
        try await Self.withPage { server, _, url in
            _ = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            let (login, browser) = (PageLoginFixture(server: server), Browser(server))
            let page = try await login.page(browser, ["scope": "openid"])
            #expect(await login.submit(browser, page, username: "bert").status == 303)
            server.moveClock(to: 1800)
            let refused = try await Self.open(try #require(try await url()), in: browser)
            #expect(refused.status == 200 && refused.text.contains("is signed in as"), "\(refused.text)")
        }
    }

    @Test("a nonce signs one browser in, once, within thirty seconds, and never both a browser and a backend")
    func pageOnce() async throws {
        try await Self.withPage { server, _, url in
            let (browser, other) = (Browser(server), Browser(server))
            let link = try #require(try await url())
            let (question, second) = (try await Self.open(link, in: browser), try await Self.open(link, in: other))
            #expect(try await Self.press(question, in: browser).status == 303)
            let late = try await Self.press(second, in: other)
            #expect(late.status == 422 && late.text.contains("The link has expired"), "\(late.text)")
            #expect(other.cookies["__Host-sojourn-session"] == nil)
            #expect(try await Self.open(link, in: other).status == 422)
            let nonce = String(link.split(separator: "#")[1])
            let exchange = await server.form(
                "/oauth/token", "grant_type=\(DeviceLogin.grant)&client_id=shop&device_code=\(nonce)&device_id=web-1")
            #expect(exchange.string("error") == "invalid_grant")

            let next = try #require(try await url())
            let asked = try await Self.open(next, in: other)
            server.moveClock(to: 31)
            #expect(try await Self.press(asked, in: other).status == 422)
            #expect(try await Self.open("/login/app#sjn_nothing", in: other).status == 422)
        }
    }

    @Test("a browser that is signed in to another account keeps it, and a form of another page or site does nothing")
    func pageOfAnotherUser() async throws {
        try await Self.withPage { server, _, url in
            _ = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            let login = PageLoginFixture(server: server)
            let (browser, fresh) = (Browser(server), Browser(server))
            let page = try await login.page(browser, ["scope": "openid"])
            #expect(await login.submit(browser, page, username: "bert").status == 303)
            let cookie = browser.cookies["__Host-sojourn-session"]
            let link = try #require(try await url())
            let refused = try await Self.open(link, in: browser)
            #expect(refused.status == 200 && refused.text.contains("is signed in as"), "\(refused.text)")
            #expect(refused.text.contains("bert") && refused.text.contains("/oauth/logout"))
            #expect(browser.cookies["__Host-sojourn-session"] == cookie)

            let question = try Page(try await Self.open(link, in: fresh))
            let form = ["csrf": question.csrf, "r": question.request]
            let foreign = await fresh.post("/login/app", form, fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(foreign.status == 403)
            let stale = await browser.post("/login/app", form)
            #expect(stale.status == 200 && stale.text.contains("once more") && stale.field("Location") == nil)
            #expect(await fresh.post("/login/app", form).status == 303, "the nonce is still good")
        }
    }

    @Test(
        "there is a URL only for a client that lets a page start its login",
        arguments: [
            #","initiate_login_uri":null"#, #","browser_session":"none""#, #","login_methods":null"#,
        ])
    func withoutPage(change: String) async throws {
        try await Self.withPage { server, _, url in
            let answer = await server.admin(.patch, "/admin/v1/clients/shop", "{\(change.dropFirst())}")
            #expect(answer.status == 200, "\(answer.text)")
            let link = try await url()
            #expect(link == nil)
        }
    }
}
