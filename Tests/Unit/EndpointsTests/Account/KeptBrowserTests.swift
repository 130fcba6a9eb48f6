import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A browser in which the user stays logged in: a further login of the same user lets its session go on, by whatever way.
struct KeptBrowserTests {
    static let remember = ["remember": "1"]
    private static let mine = #","browser_session":"client""#

    /// Whether the session of the browser outlives half an hour without use.
    static func isKept(_ browser: Browser, _ server: EndpointsFixture) throws -> Bool {
        let cookie = try #require(browser.cookies[AccountPages.cookie])
        return try #require(server.endpoints.services.pageLogin.handle(cookie)).isKept
    }

    /// Logs anna in by password, to stay, and returns the tokens of the app.
    static func begin(
        _ login: PageLoginFixture, _ browser: Browser, _ changes: [String: String?] = [:]
    ) async throws -> Tokens {
        let page = try await login.page(browser, changes)
        let code = try #require(Redirect(await login.submit(browser, page, more: remember))["code"])
        #expect(try isKept(browser, login.server))
        return try Tokens(await login.exchange(code))
    }

    @Test(
        "The page that knows the user has the box as it was, and the session goes on with what began in it",
        arguments: [["prompt": "login"], ["max_age": "0"], ["acr_values": "password", "max_age": "1"]])
    func stepUp(_ demand: [String: String?]) async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            for isKept in [true, false] {
                let browser = Browser(login.server)
                let first =
                    isKept
                    ? try await Self.begin(login, browser)
                    : try Tokens(await login.exchange(try await login.code(browser)))
                let cookie = browser.cookies[AccountPages.cookie]
                login.server.moveClock(to: isKept ? 100 : 200)
                let page = try await login.page(browser, demand)
                #expect(page.answer.text.contains("Not you?"))
                #expect(page.answer.text.contains(#"name="remember" value="1" checked"#) == isKept)
                let answer = await login.submit(browser, page, more: isKept ? Self.remember : [:])
                #expect(try Redirect(answer)["code"] != nil && browser.cookies[AccountPages.cookie] == cookie)
                #expect(await login.server.refresh(first.refresh, more: "&client_id=shop").status == 200)
            }
            // An unknown user has ticked nothing.
            let browser = Browser(login.server)
            _ = try await Self.begin(login, browser)
            let page = try await login.page(browser, ["prompt": "login", "login_hint": "bert"])
            #expect(!page.answer.text.contains("checked"))
        }
    }

    @Test("A form that is sent twice keeps the cookie, and another box is another form")
    func sentTwice() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let page = try await login.page(browser)
            var codes: [String?] = []
            for _ in 0..<2 {
                let answer = await login.submit(browser, page, more: Self.remember)
                codes.append(try Redirect(answer)["code"])
                let cookies = answer.response.fields.values("Set-Cookie")
                #expect(
                    cookies.contains { $0.hasPrefix(AccountPages.cookie) && $0.hasSuffix("Max-Age=1209600") },
                    "\(cookies)")
            }
            #expect(codes[0] != nil && codes[0] == codes[1])
            let other = try await login.page(browser, ["prompt": "login"])
            let short = try Redirect(await login.submit(browser, other))["code"]
            let long = try Redirect(await login.submit(browser, other, more: Self.remember))["code"]
            #expect(short != nil && long != nil && short != long)
            #expect(try Self.isKept(browser, login.server))
        }
    }

    @Test("A login with the phone lets the kept session go on")
    func phone() async throws {
        try await PhonePageFixture.with(PhoneBrowserTests.shared) { waiting, phone in
            let browser = Browser(waiting.server)
            let first = try await Self.begin(waiting.hosted, browser)
            let cookie = browser.cookies[AccountPages.cookie]
            let again = try await PhonePageFixture.begin(waiting.hosted, browser, ["prompt": "login"])
            try await again.approveByScan(phone)
            #expect(try Redirect(try await again.finish())["code"] != nil)
            #expect(browser.cookies[AccountPages.cookie] == cookie)
            #expect(await waiting.server.refresh(first.refresh, more: "&client_id=shop").status == 200)
        }
    }

    @Test(
        "A login at a provider starts another session, which is kept for the same user alone", arguments: [true, false])
    func provider(_ isSameUser: Bool) async throws {
        try await ProviderOnPageTests.with(Self.mine) { scene in
            let server = scene.server
            if isSameUser {
                let linked = await server.admin(
                    .put, "/admin/v1/users/username:anna/identities", #"{"provider":"acme","subject":"u1"}"#)
                #expect(linked.status < 300, "\(linked.text)")
            }
            _ = try await Self.begin(scene.login, scene.browser)
            var cookies = [scene.browser.cookies[AccountPages.cookie]]
            for _ in 0..<2 {
                #expect(try Redirect(try await scene.logIn("{}", ["prompt": "login"]))["code"] != nil)
                #expect(try Self.isKept(scene.browser, server) == isSameUser)
                cookies.append(scene.browser.cookies[AccountPages.cookie])
            }
            // The second one is of the same kind.
            #expect(cookies[0] != cookies[1] && cookies[1] == cookies[2])
        }
    }
}
