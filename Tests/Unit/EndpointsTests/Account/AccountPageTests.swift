import HTTP
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// The account pages show the user of the browser's session, after the login page.
@Suite struct AccountPageTests {
    private static let pages = ["/account", "/account/security", "/account/activity"]

    @Test(arguments: pages) func withoutASessionTheLoginPageComesFirst(_ path: String) async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let answer = await account.browser.get(path)
            #expect(answer.field("Set-Cookie") == nil)
            let answered = try await account.logIn(answer)
            #expect(answered.field("Location") == EndpointsFixture.issuer + path)
            #expect(answered.text.isEmpty)
            let page = AccountPage(await account.browser.get(path))
            #expect(page.answer.status == 200 && page.text.contains("anna"))
            #expect(page.answer.field("Cache-Control") == "no-store")
            #expect(page.answer.field("Content-Security-Policy")?.contains("default-src 'none'") == true)
            // The stay of the browser is a session like any other, and no code was made.
            let sessions = await server.admin(.get, "/admin/v1/users/username:anna/sessions").items
            #expect(sessions.map { $0.string("client_id") } == ["browser"])
            #expect(!(await account.events().contains { $0.hasPrefix("login_approved") }))
        }
    }

    @Test func aWrongPasswordOpensNothing() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let answer = try await account.logIn(await account.browser.get("/account"), password: "wrong horse")
            #expect(answer.status == 422)
            #expect(account.browser.cookies[AccountPages.cookie] == nil)
            #expect(await account.browser.get("/account").status == 303)
        }
    }

    @Test func theLoginPageOfTheAccountHasItsOwnWalls() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let location = try #require(await account.browser.get("/account").field("Location"))
            let page = try Page(await account.browser.get(location))
            let form = [
                "r": page.request, "csrf": page.csrf, "username": "anna", "password": EndpointsFixture.password,
            ]
            // The page of one browser is stale in another one: a login for a stranger's session cannot be planted.
            let other = Browser(server)
            #expect(await other.post("/login/password", form).status == 200)
            #expect(other.cookies[AccountPages.cookie] == nil)
            let foreign = await account.browser.post(
                "/login/password", form, fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(foreign.status == 403)
        }
    }

    @Test func noClientCanAskAsTheAccountPages() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            _ = try await account.open()
            let url = PageLoginFixture.url([
                "client_id": "browser", "redirect_uri": EndpointsFixture.issuer + "/account",
            ])
            let answer = await account.browser.get(url)
            #expect(answer.status == 400 && answer.field("Location") == nil)
        }
    }

    /// The session for the account pages gives no app a code, and that of an app opens the account pages.
    @Test func appsAndAccountPages() async throws {
        try await PageLoginFixture.with(#","browser_session":"shared""#) { login in
            let account = AccountPages(login.server)
            _ = try await account.open()
            let silent = try Redirect(await account.browser.get(PageLoginFixture.url(["prompt": "none"])))
            #expect(silent["error"] == "login_required")
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            let before = browser.cookies[AccountPages.cookie]
            #expect(await browser.get("/account").status == 200)
            #expect(browser.cookies[AccountPages.cookie] == before)
            // To authenticate again keeps the session of the app.
            login.server.moveClock(to: 400)
            let shop = AccountPages(login.server, browser)
            let page = try await shop.open("/account/security")
            let again = try await shop.send("/account/logins", of: page, ["pause": "0"])
            _ = try await shop.logIn(again)
            #expect(browser.cookies[AccountPages.cookie] == before)
            #expect(try Redirect(await browser.get(PageLoginFixture.url(["prompt": "none"])))["code"] != nil)
        }
    }

    @Test func aSessionEndsAfterHalfAnHourWithoutUseUnlessTheUserStays() async throws {
        try await EndpointsFixture.with { server in
            let (short, long) = (AccountPages(server), AccountPages(server))
            _ = try await short.open()
            _ = try await long.open(more: ["remember": "1"])
            // Looking counts as use.
            for time in [1000, 2500, 4000] as [Int64] {
                server.moveClock(to: time)
                #expect(await short.browser.get("/account").status == 200)
            }
            server.moveClock(to: 4000 + 1800)
            #expect(await short.browser.get("/account").status == 303)
            server.moveClock(to: 13 * EndpointsFixture.day)
            let answer = await long.browser.get("/account")
            #expect(answer.status == 200)
            #expect(answer.field("Set-Cookie")?.contains("; Max-Age=1209600") == true)
            server.moveClock(to: 28 * EndpointsFixture.day)
            #expect(await long.browser.get("/account").status == 303)
        }
    }

    @Test func aVisitWritesSeldom() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            _ = try await account.open()
            let before = server.environment.writes.load(ordering: .relaxed)
            server.moveClock(to: 299)
            for path in Self.pages { #expect(await account.browser.get(path).status == 200) }
            #expect(server.environment.writes.load(ordering: .relaxed) == before)
        }
    }

    @Test(arguments: ["revoke", "disable", "delete"]) func whatAnAdminEndsIsOver(_ act: String) async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open()
            switch act {
            case "delete": #expect(await server.admin(.delete, "/admin/v1/users/username:anna").status == 204)
            default: #expect(await server.admin(.post, "/admin/v1/users/username:anna/\(act)", "{}").status < 300)
            }
            for path in Self.pages { #expect(await account.browser.get(path).status == 303, "\(path)") }
            let answer = try await account.send("/account/end", of: page, ["which": "all"])
            #expect(answer.field("Location")?.contains("/login?r=") == true)
        }
    }

    @Test func aDisabledUserIsTold() async throws {
        try await EndpointsFixture.with { server in
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/disable", "{}").status < 300)
            let account = AccountPages(server)
            let answer = try await account.logIn(await account.browser.get("/account"))
            #expect(answer.status == 403 && answer.text.contains("disabled"))
            #expect(account.browser.cookies[AccountPages.cookie] == nil)
            #expect(await account.events().contains("login_refused login_disabled_by_admin"))
        }
    }

    @Test func aLoginPageThatIsTooOldIsMadeAnew() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let location = try #require(await account.browser.get("/account/activity").field("Location"))
            server.moveClock(to: 3601)
            let answer = await account.browser.get(location)
            #expect(answer.field("Location") == EndpointsFixture.issuer + "/account/activity")
        }
    }

    @Test func thePagesNeedTLS() async throws {
        try await EndpointsFixture.with { server in
            let browser = Browser(server)
            browser.isSecure = false
            for path in Self.pages + ["/reset"] { #expect(await browser.get(path).status == 421, "\(path)") }
        }
    }

    @Test func passwordManagersFindThePage() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.call(.get, "/.well-known/change-password")
            #expect(answer.status == 302)
            #expect(answer.field("Location") == EndpointsFixture.issuer + "/account/security")
        }
    }

    @Test func thePagesSpeakGerman() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            _ = try await account.open()
            let answer = await account.browser.get("/account", fields: ["Accept-Language": "de-AT"])
            #expect(answer.text.contains("<h1>Geräte</h1>") && answer.field("Content-Language") == "de")
        }
    }
}
