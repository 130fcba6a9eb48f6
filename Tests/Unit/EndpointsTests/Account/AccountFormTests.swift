import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The three walls before each form of the account: the cookies, the origin, and the token.
@Suite struct AccountFormTests {
    /// Each form with the page that has it, and what it would do.
    static let forms: [(path: String, page: String, form: [String: String])] = [
        ("/account/end", "/account", ["which": "all"]), ("/account/end", "/account", ["which": "others"]),
        (
            "/account/password", "/account/security",
            ["password": EndpointsFixture.password, "new_password": "a longer battery staple"]
        ),
        ("/account/logins", "/account/security", ["pause": "1"]),
        ("/account/passkeys", "/account/security", ["act": "remove", "passkey": "AQIDBAUGBwgJCgsMDQ4PEA"]),
    ]

    /// Gives `body` anna's page with a form, and checks that nothing has happened afterwards.
    private func withForm(
        _ number: Int,
        _ body: (AccountPages, AccountPage, (path: String, page: String, form: [String: String])) async throws -> Void
    ) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let phone = try await server.logIn()
            let authenticator = try await server.passkey(of: phone)
            let account = AccountPages(server)
            let form = Self.forms[number]
            let page = try await account.open(form.page)
            try #require(page.csrf(form.path) != nil)
            try await body(account, page, form)
            #expect(await server.refresh(phone.refresh).status == 200)
            #expect(try await server.logIn(by: authenticator).status == 200)
            #expect(await account.browser.get("/account").status == 200)
        }
    }

    @Test(
        arguments: forms.indices,
        [
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
            ["Sec-Fetch-Site": "none"], ["Origin": "https://evil.example"], ["Origin": "null"],
        ] as [Fields])
    func aFormOfAnotherSiteIsRefused(_ number: Int, _ fields: Fields) async throws {
        try await withForm(number) { account, page, form in
            let answer = try await account.send(form.path, of: page, form.form, fields: fields)
            #expect(answer.status == 403, "\(answer.status)")
        }
    }

    @Test(arguments: forms.indices) func aFormWithoutItsTokenIsShownAgain(_ number: Int) async throws {
        try await withForm(number) { account, page, form in
            let others = [
                nil, "", "x", page.csrf("/oauth/logout"),
                Self.forms.lazy.map(\.path).first { $0 != form.path && page.csrf($0) != nil }.flatMap { page.csrf($0) },
                AccountPage(await AccountPages(account.server).browser.get("/reset")).csrf("/reset"),
            ]
            for token in others {
                var all = form.form
                all["csrf"] = token
                let answer = await account.browser.post(form.path, all)
                #expect(answer.status == 200, "\(String(describing: token)) \(answer.status)")
                #expect(answer.text.contains("Please press once more"))
                // The page that is shown again works.
                #expect(AccountPage(answer).csrf(form.path) == page.csrf(form.path))
            }
        }
    }

    @Test(arguments: forms.indices) func aFormOfAnotherSessionIsShownAgain(_ number: Int) async throws {
        try await withForm(number) { account, page, form in
            _ = await account.server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            // Bert's page, in a browser with the flow cookie of Anna's.
            let bert = AccountPages(account.server)
            bert.browser.plant("__Host-sojourn-flow", account.browser.cookies["__Host-sojourn-flow"] ?? "")
            let other = try await bert.open(form.page, username: "bert", password: "another long horse")
            let form2 = try #require(
                other.csrf(form.path) ?? other.csrf("/account/logins") ?? other.csrf("/account/end"))
            var all = form.form
            all["csrf"] = form2
            let answer = await account.browser.post(form.path, all)
            #expect(answer.status == 200 && answer.text.contains("Please press once more"))
        }
    }

    @Test(arguments: forms.indices) func withoutTheCookieTheLoginPageComes(_ number: Int) async throws {
        try await withForm(number) { account, page, form in
            let stranger = Browser(account.server)
            stranger.plant("__Host-sojourn-flow", account.browser.cookies["__Host-sojourn-flow"] ?? "")
            var all = form.form
            all["csrf"] = page.csrf(form.path)
            let answer = await stranger.post(form.path, all)
            #expect(answer.status == 303 && answer.field("Location")?.contains("/login?r=") == true)
            // And without the flow cookie the form is shown again.
            let half = Browser(account.server)
            half.plant(AccountPages.cookie, account.browser.cookies[AccountPages.cookie] ?? "")
            let shown = await half.post(form.path, all)
            #expect(shown.status == 200 && half.cookies["__Host-sojourn-flow"] != nil)
        }
    }

    /// A password is carried through no login.
    @Test func anExpiredSessionLeadsToTheLoginPageAndBack() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open("/account/security")
            server.moveClock(to: 1800)
            let answer = try await account.send(
                "/account/password", of: page,
                ["password": EndpointsFixture.password, "new_password": "a longer battery staple"])
            let answered = try await account.logIn(answer)
            #expect(answered.field("Location") == EndpointsFixture.issuer + "/account/security")
            #expect(!(await account.events().contains { $0.hasPrefix("password_changed") }))
        }
    }

    /// A link of a stranger does not make a page say what has not happened.
    @Test func onlyThePagesOwnRedirectsMakeItSpeak() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            _ = try await account.open()
            for query in ["done=paused", "done=paused&t=", "done=password&t=x", "t=x"] {
                #expect(!(await account.browser.get("/account/security?\(query)").text.contains("notice")), "\(query)")
            }
            #expect(!(await account.browser.get("/account?done=7&t=x").text.contains("7 devices")))
        }
    }

    @Test func whatIsNoFormIsRefused() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open()
            let token = try #require(page.csrf("/account/end"))
            for form in [["csrf": token], ["csrf": token, "which": "everything"]] {
                #expect(await account.browser.post("/account/end", form).status == 200)
            }
            let cookies = account.browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
            for (type, body, status) in [
                ("application/json", "{}", 415), ("application/x-www-form-urlencoded", "which=all&which=all", 400),
                ("application/x-www-form-urlencoded", "which=%zz", 400),
            ] {
                let answer = await server.send(
                    Request(
                        .post, "/account/end",
                        fields: ["Cookie": cookies, "Content-Type": type, "Sec-Fetch-Site": "same-origin"],
                        body: Array(body.utf8)), isSecure: true)
                #expect(answer.status == status, "\(body)")
            }
        }
    }
}
