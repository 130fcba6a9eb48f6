import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// The second step of a login on the page.
struct FactorPageTests {
    /// The fields of the page that asks for the code.
    private struct FactorForm {
        let fields: [String: String]

        init(_ page: Answer) throws {
            let start = try #require(page.text.firstRange(of: #"action="/login/factor""#))
            let form = String(page.text[start.upperBound...])
            fields = Dictionary(
                uniqueKeysWithValues: ["r", "csrf", "login_token", "remember"].compactMap { name in
                    Page.value(name, in: form).map { (name, $0) }
                })
        }

        func with(_ code: String) -> [String: String] { fields.merging(["code": code]) { $1 } }
    }

    /// A user with an authenticator, and the page that a login by password leads to.
    private static func with(
        _ more: String = "", _ body: (PageLoginFixture, Authenticator, Browser, Answer) async throws -> Void
    ) async throws {
        try await PageLoginFixture.with(more) { fixture in
            let (_, authenticator, _) = try await fixture.server.enrolled()
            fixture.server.moveClock(to: 60)
            let browser = Browser(fixture.server)
            let page = await fixture.submit(browser, try await fixture.page(browser))
            try await body(fixture, authenticator, browser, page)
        }
    }

    @Test("A login by password leads to the page of the code, and the code to the client")
    func code() async throws {
        try await Self.with { fixture, authenticator, browser, page in
            #expect(page.status == 200)
            #expect(page.text.contains("one-time-code"))
            let form = try FactorForm(page)
            let answer = await browser.post("/login/factor", form.with(authenticator.code()))
            #expect(answer.status == 303)

            let code = try #require(Redirect(answer)["code"])
            let tokens = await fixture.exchange(code)
            #expect(tokens.status == 200)
            #expect(try Answer.claims(of: try Tokens(tokens).access).strings("amr") == ["pwd", "otp", "mfa"])
            let idToken = try Answer.claims(of: try #require(tokens.string("id_token")))
            #expect(idToken.strings("amr") == ["pwd", "otp", "mfa"])
        }
    }

    @Test("A wrong code asks again with the same first step, and the right one still counts")
    func wrongCode() async throws {
        try await Self.with { _, authenticator, browser, page in
            let again = await browser.post(
                "/login/factor", try FactorForm(page).with(authenticator.wrongCode))
            #expect(again.status == 422)
            let form = try FactorForm(again)
            #expect(form.fields["login_token"] == (try FactorForm(page)).fields["login_token"])
            #expect(await browser.post("/login/factor", form.with(authenticator.code())).status == 303)
        }
    }

    @Test("The first step of one browser is of no use in another one")
    func otherBrowser() async throws {
        try await Self.with { fixture, authenticator, _, page in
            let thief = Browser(fixture.server)
            let own = try await fixture.page(thief)
            let stolen = try FactorForm(page).with(authenticator.code())
            #expect(await thief.post("/login/factor", stolen).status != 303)
            var mixed = stolen
            (mixed["r"], mixed["csrf"]) = (own.request, own.token(of: "/login/factor") ?? own.csrf)
            #expect(await thief.post("/login/factor", mixed).status != 303)
        }
    }

    @Test("A first step by a way that the client takes no more does not go on, and no code is spent")
    func otherMethods() async throws {
        try await Self.with { fixture, authenticator, browser, page in
            func take(_ method: String) async -> Int {
                await fixture.server.admin(
                    .patch, "/admin/v1/clients/shop", #"{"login_methods":["\#(method)"]}"#
                ).status
            }
            let form = try FactorForm(page).with(authenticator.code())
            #expect(await take("phone") == 200)
            let refused = await browser.post("/login/factor", form)
            #expect(refused.field("Location")?.contains("code=") != true, "\(refused.text)")
            #expect(await take("password") == 200)
            #expect(await browser.post("/login/factor", form).status == 303)
        }
    }

    @Test("A form of another site is refused")
    func crossSite() async throws {
        try await Self.with { _, authenticator, browser, page in
            let form = try FactorForm(page).with(authenticator.code())
            #expect(
                await browser.post("/login/factor", form, fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
            #expect(await browser.post("/login/factor", form).status == 303)
        }
    }

    @Test("The session of a browser answers with the second factor that it has, and asks without one")
    func browserSession() async throws {
        try await Self.with(#","browser_session":"client""#) { fixture, authenticator, browser, page in
            let first = await browser.post("/login/factor", try FactorForm(page).with(authenticator.code()))
            #expect(first.status == 303)
            let again = await browser.get(PageLoginFixture.url())
            let code = try #require(Redirect(again)["code"])
            let claims = try Answer.claims(of: try Tokens(await fixture.exchange(code)).access)
            #expect(claims.strings("amr")?.contains("mfa") == true)
        }
        try await PageLoginFixture.with(#","browser_session":"client""#) { fixture in
            let browser = Browser(fixture.server)
            _ = try await fixture.code(browser)
            #expect(try Redirect(await browser.get(PageLoginFixture.url()))["code"] != nil)
            await fixture.server.setPolicy(.required)
            let asked = await browser.get(PageLoginFixture.url())
            #expect(asked.field("Location")?.contains("/login?r=") == true)
        }
    }

    @Test("A user without an authenticator adds one on the page, where the policy demands it")
    func enrolment() async throws {
        try await PageLoginFixture.with { fixture in
            await fixture.server.setPolicy(.requiredAtLogin)
            let browser = Browser(fixture.server)
            let page = await fixture.submit(browser, try await fixture.page(browser))
            #expect(page.status == 200)
            let shown = try #require(page.text.firstMatch(of: #/<code>([A-Z2-7 ]+)<\/code>/#)).output.1
            let seed = try #require(Base32.decode(shown.filter { $0 != " " }))
            let step = TOTP.own.step(at: fixture.server.context.clock.now)
            let form = try FactorForm(page).with(TOTP.own.code(seed: seed, step: step))
            let answer = await browser.post("/login/factor", form)
            #expect(answer.status == 303)
            #expect(await fixture.exchange(try #require(Redirect(answer)["code"])).status == 200)
            let known = await fixture.server.admin(.get, "/admin/v1/users/username:anna/second-factors")
            #expect(known.items.count == 1)
        }
    }

    @Test("acr_values=mfa asks a user without an authenticator for one, and the answer says mfa")
    func stepUp() async throws {
        try await PageLoginFixture.with { fixture in
            _ = try await fixture.server.enrolled()
            await fixture.server.setPolicy(.off)
            fixture.server.moveClock(to: 60)
            let browser = Browser(fixture.server)
            let plain = await fixture.submit(browser, try await fixture.page(browser))
            #expect(plain.status == 303)
            let asked = await fixture.submit(browser, try await fixture.page(browser, ["acr_values": "mfa"]))
            #expect(asked.text.contains("/login/factor"))
        }
    }

    @Test("A recovery code lets the user in on the page")
    func recoveryCode() async throws {
        try await PageLoginFixture.with { fixture in
            let (_, _, codes) = try await fixture.server.enrolled()
            fixture.server.moveClock(to: 60)
            let browser = Browser(fixture.server)
            let page = await fixture.submit(browser, try await fixture.page(browser))
            #expect(await browser.post("/login/factor", try FactorForm(page).with(codes[0])).status == 303)
        }
    }
}
