import Cryptography
import HTTP
import JSON
import Pages
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// A new account, a forgotten password and a login by e-mail, on the pages.
struct ProofPageTests {
    private static let password = "a longer battery staple"

    @Test("Without mails there is none of these pages, and the login page leads to none") func off() async throws {
        try await PageLoginFixture.with(#","sign_up":true"#) { login in
            let page = try await login.page(Browser(login.server))
            for path in ["/forgot", "/sign-up", "/login/email"] { #expect(!page.answer.text.contains(path)) }
            let paths = [
                "/forgot", "/forgot/code", "/sign-up", "/sign-up/code", "/sign-up/finish", "/login/email",
                "/login/email/code", "/v", "/cancel", "/undo",
            ]
            for path in paths {
                #expect(await Browser(login.server).get("\(path)?r=\(page.request)").status == 404, "\(path)")
            }
            let account = AccountPages(login.server)
            for path in ["/account/email", "/account/delete"] {
                #expect(await account.browser.get(path).status == 404, "\(path)")
            }
            #expect(!(try await account.open("/account/security")).text.contains("/account/delete"))
        }
    }

    @Test("A stranger becomes a user of the app by three pages", arguments: [false, true])
    func signUp(begunByApp: Bool) async throws {
        try await ProofBrowser.with { server in
            let page = await ProofBrowser(server)
            if begunByApp {
                await page.authorize(["prompt": "create"])
            } else {
                try await page.authorize().press(linkTo: "/sign-up")
            }
            #expect(page.text.contains("Create an account"))
            try await page.ask("/sign-up", "Bert@example.com")
            #expect(page.text.contains("Bert@example.com"), "\(page.text)")
            try await page.send("/sign-up/code", ["code": try await page.wrongCode()])
            #expect(page.answer.status == 422 && page.text.contains("4 tries are left"), "\(page.text)")
            let code = try await page.code()
            try await page.send("/sign-up/code", ["code": " \(code.prefix(4))-\(code.dropFirst(4))"]).follow()
            #expect(page.text.contains("One last step"), "\(page.text)")
            try await page.send("/sign-up/finish", ["new_password": "short"])
            #expect(page.answer.status == 422 && page.text.contains("at least 8 characters"), "\(page.text)")
            try await page.send("/sign-up/finish", ["new_password": Self.password])
            let redirect = try Redirect(page.answer)
            #expect(redirect.uri == PageLoginFixture.redirectURI)
            let login = PageLoginFixture(server: server)
            let answered: String = try #require(redirect["code"])
            let tokens = await login.exchange(answered)
            #expect(tokens.status == 200, "\(tokens.text)")
            let user = await server.admin(.get, "/admin/v1/users/username:bert@example.com")
            #expect(user.bool("email_verified") == true && user.string("email") == "Bert@example.com", "\(user.text)")
        }
    }

    @Test("The page of a password leads back to the login that waited, and begins no session") func reset() async throws
    {
        try await ProofBrowser.with { server in
            let phone = try await server.logIn()
            let page = await ProofBrowser(server)
            try await page.authorize().press(linkTo: "/forgot")
            try await page.ask("/forgot", "anna@example.org")
            try await page.send("/forgot/code", ["code": try await page.code()])
            await page.follow()
            #expect(
                !page.text.contains(#"name="token""#) && page.text.contains("Choose a new password"), "\(page.text)")
            try await page.send("/reset", ["new_password": Self.password])
            #expect(page.answer.status == 303, "\(page.text)")
            await page.follow()
            #expect(page.text.contains("Your password is changed"))
            #expect(page.browser.cookies[AccountPages.cookie] == nil)
            #expect(await server.refresh(phone.refresh).string("reason") == "password_changed")
            try await page.press(linkTo: "/login")
            try await page.send("/login/password", ["username": "anna", "password": Self.password])
            let code = try Redirect(page.answer)["code"]
            #expect(code != nil)
        }
    }

    @Test("The link of a reset works in any browser, starts no session, and serves once") func resetLink() async throws
    {
        try await ProofBrowser.with { server in
            let asker = await ProofBrowser(server)
            try await asker.open("/forgot").ask("/forgot", "anna@example.org")
            let token = try await asker.token(.prove)
            let other = await ProofBrowser(server)
            await other.open("/reset")
            try await other.send(
                "/reset", ["token": "https://login.example/reset#\(token)", "new_password": Self.password])
            #expect(await other.follow().text.contains("Your password is changed"), "\(other.text)")
            #expect(other.browser.cookies[AccountPages.cookie] == nil)
            await other.open("/reset")
            try await other.send("/reset", ["token": token, "new_password": "yet another staple"])
            #expect(other.answer.status == 422 && other.text.contains(#"href="/forgot""#), "\(other.text)")
        }
    }

    @Test("A code signs in where the client takes e-mail, and the session says so") func signInByCode() async throws {
        try await ProofBrowser.with(more: #","login_methods":["password","email"]"#) { server in
            let page = await ProofBrowser(server)
            try await page.authorize().press(linkTo: "/login/email")
            try await page.ask("/login/email", "anna@example.org")
            try await page.send("/login/email/code", ["code": try await page.code()])
            let login = PageLoginFixture(server: server)
            let code: String = try #require(Redirect(page.answer)["code"])
            let tokens = await login.exchange(code)
            #expect(tokens.status == 200, "\(tokens.text)")
            let idToken: String = try #require(tokens.string("id_token"))
            let claims = try tokenParts(idToken).claims
            #expect(claims["acr"] == .string("email") && claims["amr"] == .array([.string("email")]), "\(claims)")
        }
        // Without the word there is no such page.
        try await ProofBrowser.with { server in
            let page = await ProofBrowser(server)
            await page.authorize()
            #expect(!page.text.contains("/login/email"))
            let request = try #require(page.request)
            #expect(await page.browser.get("/login/email?r=\(request)").status == 404)
        }
    }

    @Test("Known and unknown mailboxes get the same pages", arguments: ["/forgot", "/sign-up", "/login/email"])
    func alike(_ path: String) async throws {
        try await ProofBrowser.with(more: #","login_methods":["password","email"]"#) { server in
            var pages: [[String]] = []
            for email in ["anna@example.org", "eve@example.org"] {
                let page = await ProofBrowser(server)
                func note(_ label: String) -> String {
                    let text = page.text.replacing(#/(name="(?:r|csrf)" value|\?r)="?[^"]*"/#, with: "")
                    return "\(label) \(page.answer.status) " + text.replacing(email, with: "EMAIL")
                }
                try await page.authorize().press(linkTo: path)
                try await page.send(path, ["email": email])
                var seen = [note("asked")]
                await page.follow()
                seen.append(note("code"))
                try await page.send("\(path)/code", ["act": "resend"])
                seen.append(note("resent"))
                for _ in 1...6 where page.text.contains("action=\"\(path)/code\"") {
                    try await page.send("\(path)/code", ["code": try await page.wrongCode()])
                    seen.append(note("wrong"))
                }
                pages.append(seen)
            }
            #expect(pages[0] == pages[1])
            #expect(pages[0].last?.contains("no longer good") == true, "\(pages[0].last ?? "")")
        }
    }

    @Test(
        "A mailbox to which nothing is sent is refused before any look-up",
        arguments: ["anna", "a b@example.org", "\"a\"@example.org", "käte@example.org", "a@[1.2.3.4]", "a@b", ""])
    func refused(_ email: String) async throws {
        try await ProofBrowser.with { server in
            let page = await ProofBrowser(server)
            try await page.open("/forgot").send("/forgot", ["email": email])
            #expect(page.answer.status == 422 && page.text.contains("anna@example.com"), "\(page.text)")
        }
    }

    @Test("Only the mailboxes of named domains get accounts") func domains() async throws {
        try await ProofBrowser.with(signUp: .domains(["example.com"])) { server in
            let page = await ProofBrowser(server)
            await page.authorize(["prompt": "create"])
            try await page.send("/sign-up", ["email": "bert@example.net"])
            #expect(page.answer.status == 422 && page.text.contains("another organization"), "\(page.text)")
            try await page.ask("/sign-up", "bert@EXAMPLE.com")
            #expect(page.text.contains("Check your e‑mail"))
        }
    }

    @Test("A code of one browser is none in another, and the page of one begins anew in another") func asker()
        async throws
    {
        try await ProofBrowser.with { server in
            let (victim, thief) = (await ProofBrowser(server), await ProofBrowser(server))
            for page in [victim, thief] {
                await page.authorize(["prompt": "create"])
                try await page.ask("/sign-up", "bert@example.com")
            }
            let code = try await victim.code()
            try await thief.send("/sign-up/code", ["code": code])
            #expect(thief.answer.status == 422)
            let request = try #require(victim.request)
            await thief.open("/sign-up/code?r=\(request)").follow()
            #expect(thief.text.contains(#"action="/sign-up""#), "\(thief.text)")
            await thief.open("/sign-up/finish?r=\(request)").follow()
            #expect(thief.text.contains(#"action="/sign-up""#), "\(thief.text)")
        }
    }

    @Test("The owner of a mailbox with an account is led to the login") func exists() async throws {
        try await ProofBrowser.with { server in
            let page = await ProofBrowser(server)
            await page.authorize(["prompt": "create"])
            try await page.ask("/sign-up", "anna@example.org")
            try await page.send("/sign-up/code", ["code": try await page.code()])
            await page.follow()
            if page.text.contains(#"action="/sign-up/finish""#) {
                try await page.send("/sign-up/finish", ["new_password": Self.password])
            }
            #expect(page.text.contains("You already have an account") || page.answer.status == 422, "\(page.text)")
            let users = await server.admin(.get, "/admin/v1/users").items
            #expect(users.count == 1)
        }
    }

    @Test(
        "A chosen username is checked, and one that is taken is asked for again",
        arguments: [("eve@example.org", 422, "has no @"), ("ANNA", 409, "belongs to someone else")])
    func usernames(_ name: String, _ status: Int, _ sentence: String) async throws {
        try await ProofBrowser.with(usernames: .chosen) { server in
            let page = await ProofBrowser(server)
            await page.authorize(["prompt": "create"])
            try await page.ask("/sign-up", "bert@example.com")
            try await page.send("/sign-up/code", ["code": try await page.code()])
            await page.follow()
            try await page.send("/sign-up/finish", ["username": name, "new_password": Self.password])
            #expect(page.answer.status == status && page.text.contains(sentence), "\(page.text)")
            try await page.send("/sign-up/finish", ["username": "bert", "new_password": Self.password])
            let code = try Redirect(page.answer)["code"]
            #expect(code != nil)
        }
    }

    @Test("prompt=create is declared where strangers make accounts, and is an invalid request elsewhere")
    func create() async throws {
        try await ProofBrowser.with(signUp: .off) { server in
            let metadata = await server.call(.get, "/.well-known/openid-configuration").text
            #expect(!metadata.contains("create"))
            let answer = await Browser(server).get(PageLoginFixture.url(["prompt": "create"]))
            let redirect = try Redirect(answer)
            #expect(redirect["error"] == "invalid_request")
        }
        try await ProofBrowser.with { server in
            let metadata = await server.call(.get, "/.well-known/openid-configuration").text
            #expect(metadata.contains(#""select_account","create"]"#), "\(metadata)")
            // A client that takes none.
            _ = await server.admin(.patch, "/admin/v1/clients/shop", #"{"sign_up":false}"#)
            let answer = await Browser(server).get(PageLoginFixture.url(["prompt": "create"]))
            let redirect = try Redirect(answer)
            #expect(redirect["error"] == "invalid_request")
        }
    }

    @Test("A form of another site, or without the token of its page, has no mail sent") func forms() async throws {
        try await ProofBrowser.with { server in
            let page = await ProofBrowser(server)
            await page.open("/forgot")
            let foreign = await page.browser.post(
                "/forgot", ["email": "anna@example.org"], fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(foreign.status == 403)
            let stale = await page.browser.post("/forgot", ["csrf": "x", "email": "anna@example.org"])
            #expect(stale.status == 200 && stale.text.contains("Please press once more"))
            #expect(stale.text.contains(#"value="anna@example.org""#))
            let count = try await server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.openVerificationCount(at: server.context.clock.now, max: 9).value()
            }
            #expect(count == 0)
        }
    }
}
