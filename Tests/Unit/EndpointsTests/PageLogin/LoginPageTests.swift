import Cryptography
import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// The login page: what it shows, what it stores, and which browsers can send its form.
@Suite struct LoginPageTests {
    private static let flow = "__Host-sojourn-flow"

    @Test func nothingIsStoredBeforeThePassword() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let before = login.writes
            let page = try await login.page(browser)
            for _ in 0..<3 { _ = await browser.get("/login?r=\(page.request)") }
            #expect(login.writes == before)
            #expect(await login.submit(browser, page).status == 303)
            // The login and its event are one change; nothing else was written.
            #expect(login.writes == before + 1)
            let events = await login.server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(events.last?.string("event") == "login_approved")
        }
    }

    @Test func aLoginWithoutABrowserSessionLeavesOnlyTheFlowCookie() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let answer = try await login.logIn(browser)
            #expect(answer.status == 303)
            #expect(Array(browser.cookies.keys) == [Self.flow])
            let silent = try Redirect(await browser.get(PageLoginFixture.url(["prompt": "none"])))
            #expect(silent["error"] == "login_required")
            _ = try await login.page(browser)
        }
    }

    @Test func theCookieIsForThisHostAlone() async throws {
        try await PageLoginFixture.with { login in
            let location = try #require(await Browser(login.server).get(PageLoginFixture.url()).field("Location"))
            let answer = await login.server.send(
                Request(.get, String(location.dropFirst(EndpointsFixture.issuer.count))), isSecure: true)
            let cookie = try #require(answer.field("Set-Cookie"))
            #expect(cookie.hasPrefix(Self.flow + "="))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure"))
            let policy = try #require(answer.field("Content-Security-Policy"))
            #expect(policy.contains("form-action 'self' com.example.app:;"))
        }
    }

    @Test func wrongCredentialsGetOneAnswer() async throws {
        try await PageLoginFixture.with { login in
            func text(_ username: String) async throws -> String {
                let browser = Browser(login.server)
                let answer = await login.submit(
                    browser, try await login.page(browser), username: username, password: "wrong horse")
                #expect(answer.status == 422)
                #expect(answer.field("Location") == nil)
                let page = try Page(answer)
                #expect(answer.text.contains("value=\"\(username)\""))
                #expect(!answer.text.contains("wrong horse"))
                return answer.text.replacing(page.request, with: "").replacing(page.csrf, with: "")
                    .replacing(username, with: "")
            }
            let (known, unknown) = (try await text("anna"), try await text("nobody"))
            #expect(known == unknown)
            #expect(login.server.environment.hashes.withLock { $0.count } >= 3)
        }
    }

    @Test func aPageAfterAWrongPasswordWorks() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let wrong = await login.submit(browser, try await login.page(browser), password: "wrong horse")
            login.server.moveClock(to: 60)
            let right = await login.submit(browser, try Page(wrong))
            #expect(try Redirect(right)["code"] != nil)
        }
    }

    @Test func disabledLoginsAreToldAfterTheRightPassword() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let disabled = await login.server.admin(
                .post, "/admin/v1/users/username:anna/disable", #"{"effective":"on_expiry"}"#)
            #expect(disabled.status == 200)
            let wrong = await login.submit(browser, try await login.page(browser), password: "wrong horse")
            #expect(wrong.status == 422)
            login.server.moveClock(to: 600)
            let right = await login.submit(browser, try await login.page(browser))
            #expect(right.status == 403 && right.field("Location") == nil)
        }
    }

    @Test func tooManyAttemptsAreDelayed() async throws {
        try await PageLoginFixture.with { login in
            var answers: [Int] = []
            for _ in 0..<12 {
                let browser = Browser(login.server)
                answers.append(try await login.logIn(browser, password: "wrong horse").status)
            }
            #expect(answers.first == 422 && answers.last == 429)
        }
    }

    // MARK: The three walls against forged forms

    @Test(arguments: ["cross-site", "same-site", "none", "x"])
    func aFormOfAnotherSiteIsRefused(_ site: String) async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            var fields = Fields()
            fields.append("Sec-Fetch-Site", site)
            fields.append("Origin", EndpointsFixture.issuer)
            let answer = await login.submit(browser, try await login.page(browser), fields: fields)
            #expect(answer.status == 403 && answer.field("Location") == nil)
        }
    }

    @Test(arguments: [
        ("https://evil.example", 403), ("null", 403), ("http://login.example", 403), ("https://login.example:444", 403),
        ("https://login.example.evil.example", 403), ("https://login.example", 303), ("HTTPS://LOGIN.example", 303),
        (nil, 303),
    ])
    func withoutThatFieldTheOriginDecides(_ origin: String?, _ status: Int) async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            var fields = Fields()
            if let origin { fields.append("Origin", origin) }
            let answer = try await login.logIn(browser, fields: fields)
            #expect(answer.status == status)
        }
    }

    @Test(arguments: ["no cookie", "another cookie", "no token", "wrong token", "token of another request"])
    func aStaleFormIsShownAgain(_ way: String) async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let page = try await login.page(browser)
            var csrf = page.csrf
            switch way {
            case "no cookie": browser.plant(Self.flow, "")
            case "another cookie": browser.plant(Self.flow, Base64URL.encode([UInt8](repeating: 7, count: 32)))
            case "no token": csrf = ""
            case "wrong token": csrf = Base64URL.encode([UInt8](repeating: 0, count: 32))
            default: csrf = try await login.page(browser, ["state": "other"]).csrf
            }
            let before = login.writes
            let answer = await login.submit(browser, page, more: ["csrf": csrf])
            #expect(answer.status == 200 && answer.field("Location") == nil)
            #expect(answer.text.contains("value=\"anna\""))
            #expect(!answer.text.contains(EndpointsFixture.password))
            #expect(login.writes == before)
            // Pressing once more is enough.
            #expect(try Redirect(await login.submit(browser, try Page(answer)))["code"] != nil)
        }
    }

    /// The attacker's page in the victim's browser, with the attacker's request and token.
    @Test func theFormOfAnotherBrowserIsNotSent() async throws {
        try await PageLoginFixture.with { login in
            let attacker = try await login.page(Browser(login.server))
            let victim = Browser(login.server)
            _ = try await login.page(victim)
            let answer = await login.submit(victim, attacker)
            #expect(answer.status == 200 && answer.field("Location") == nil)
        }
    }

    /// A planted flow cookie opens nothing, before or after the login.
    @Test func aPlantedFlowCookieOpensNothing() async throws {
        try await PageLoginFixture.with(#","browser_session":"client""#) { login in
            let attacker = Browser(login.server)
            _ = try await login.page(attacker)
            let planted = try #require(attacker.cookies[Self.flow])
            let victim = Browser(login.server)
            victim.plant(Self.flow, planted)
            let answer = try Redirect(try await login.logIn(victim))
            #expect(answer["code"] != nil)
            let silent = try Redirect(await attacker.get(PageLoginFixture.url(["prompt": "none"])))
            #expect(silent["error"] == "login_required")
        }
    }

    @Test func aRequestExpiresAfterAnHour() async throws {
        try await PageLoginFixture.with { login in
            let (browser, other) = (Browser(login.server), Browser(login.server))
            let page = try await login.page(browser)
            let late = try await login.page(other)
            login.server.moveClock(to: 3599)
            #expect(try Redirect(await login.submit(browser, page))["code"] != nil)
            login.server.moveClock(to: 3600)
            let before = login.writes
            let answer = await login.submit(other, late)
            #expect(answer.status == 200 && answer.field("Location") == nil)
            #expect(answer.text.contains("com.example.app:/callback?error=access_denied"))
            #expect(login.writes == before)
            #expect(await other.get("/login?r=\(late.request)").text.contains("error=access_denied"))
        }
    }

    @Test func onlyASealedRequestIsOpened() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let page = try await login.page(browser)
            let half = page.request.count / 2
            let changed =
                String(page.request.prefix(half)) + (page.request.dropFirst(half).first == "A" ? "B" : "A")
                + String(page.request.dropFirst(half + 1))
            for sealed in ["", "x", changed, page.request + "AAAA", String(repeating: "A", count: 5000)] {
                #expect(await browser.get("/login?r=\(sealed)").status == 400)
                #expect(await login.submit(browser, page, more: ["r": sealed]).status == 400)
            }
            #expect(await browser.get("/login").status == 400)
        }
    }

    @Test func passwordsTravelOverHTTPSOnly() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            browser.isSecure = false
            let answer = await browser.get(PageLoginFixture.url())
            #expect(answer.status == 421)
            #expect(answer.text.contains("server.tls_certificate"))
            #expect(await browser.get("/login?r=x").status == 421)
            #expect(await browser.post("/login/password", [:]).status == 421)
            let evil = await browser.get("/login?r=x", fields: ["Host": "localhost.evil.example"])
            #expect(evil.status == 421)
        }
    }

    @Test(arguments: ["localhost:8080", "127.0.0.1", "[::1]:8080", "LOCALHOST"])
    func aDeveloperNeedsNoTLS(_ host: String) async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            browser.isSecure = false
            var fields: Fields = ["Sec-Fetch-Site": "same-origin"]
            fields.append("Host", host)
            let start = await browser.get(PageLoginFixture.url(), fields: fields)
            let page = try Page(await browser.get(try #require(start.field("Location")), fields: fields))
            #expect(Array(browser.cookies.keys) == ["sojourn-flow"])
            let answer = await login.submit(browser, page, fields: fields)
            #expect(try Redirect(answer)["code"] != nil)
        }
    }

    @Test func theHintedUserHasToLogIn() async throws {
        try await PageLoginFixture.with { login in
            let answer = await login.exchange(try await login.code())
            let hint = try #require(answer.string("id_token"))
            _ = try await login.code(nil, ["id_token_hint": hint])
            let made = await login.server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            #expect(made.status == 201)
            let browser = Browser(login.server)
            let other = await login.submit(
                browser, try await login.page(browser, ["id_token_hint": hint]), username: "bert",
                password: "another long horse")
            #expect(try Redirect(other)["error"] == "login_required")
        }
    }

    @Test func theFilesOfThePageAreThere() async throws {
        try await PageLoginFixture.with { login in
            let page = try await login.page(Browser(login.server))
            var count = 0
            for part in page.answer.text.split(separator: "\"") where part.hasPrefix("/assets/") {
                count += 1
                let answer = await login.server.call(.get, String(part))
                #expect(answer.status == 200 && answer.field("Cache-Control")?.contains("immutable") == true)
            }
            #expect(count >= 2)
            #expect(await login.server.call(.get, "/assets/x.css").status == 404)
        }
    }
}
