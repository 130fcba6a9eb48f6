import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The pages to which the links of mails lead.
struct MailLinkTests {
    private static let password = "a longer battery staple"

    private static func anna(_ server: EndpointsFixture) async throws -> Identifier<User> {
        let user = await server.admin(.get, "/admin/v1/users/username:anna")
        return try #require(user.string("user_id").flatMap { Identifier<User>($0) })
    }

    /// A browser that has asked for an account.
    private static func asked(
        _ server: EndpointsFixture, _ email: String = "bert@example.com"
    ) async throws -> ProofBrowser {
        let page = await ProofBrowser(server)
        await page.authorize(["prompt": "create"])
        return try await page.ask("/sign-up", email)
    }

    @Test("The link goes on in the browser that had the mail sent, with the login that waits") func own() async throws {
        try await ProofBrowser.with { server in
            let page = try await Self.asked(server)
            let token = try await page.token(.prove)
            await page.open("/v")
            try await page.send("/v", ["token": token])
            await page.follow()
            #expect(page.text.contains("One last step") && page.text.contains("Shop"), "\(page.text)")
            try await page.send("/sign-up/finish", ["new_password": Self.password])
            let code = try Redirect(page.answer)["code"]
            #expect(code != nil)
        }
    }

    @Test("Elsewhere the link proves nothing, and says where to type the code") func elsewhere() async throws {
        try await ProofBrowser.with { server in
            let (page, scanner) = (try await Self.asked(server), await ProofBrowser(server))
            let token = try await page.token(.prove)
            await scanner.open("/v")
            try await scanner.send("/v", ["token": token])
            #expect(scanner.text.contains("Go back to where you began"), "\(scanner.text)")
            // A program that presses every button has not ticked the box.
            try await scanner.send("/cancel", [:])
            #expect(scanner.text.contains("It was not me") && scanner.answer.status == 200, "\(scanner.text)")
            #expect(try await page.verification().endedAt == nil)
            try await page.send("/sign-up/code", ["code": try await page.code()])
            #expect(await page.follow().text.contains("One last step"))
        }
    }

    @Test("Where the login that waits is lost, the link proves nothing, even in the browser that had the mail sent")
    func lostLogin() async throws {
        try await ProofBrowser.with { server in
            let page = try await Self.asked(server)
            let (token, row) = (try await page.token(.prove), try await page.verification())
            #expect(row.clientID != nil)
            for name in page.browser.cookies.keys where name.contains("sojourn-verification") {
                page.browser.plant(name, "x")
            }
            await page.open("/v")
            try await page.send("/v", ["token": token])
            #expect(page.text.contains("Go back to where you began"), "\(page.text)")
            let now = try await ProofBrowser.verification(row.id, server)
            #expect(now.provenAt == nil && now.endedAt == nil)
        }
    }

    @Test("GET and HEAD of each link change nothing, whatever stands behind it") func reading() async throws {
        try await ProofBrowser.with { server in
            let page = try await Self.asked(server)
            let before = try await page.verification()
            let token = try await page.token(.prove)
            for path in ["/v", "/cancel", "/undo", "/reset"] {
                for target in [path, "\(path)?token=\(token)", "\(path)?r=\(token)"] {
                    let answer = await Browser(server).get(target)
                    #expect(answer.status == 200 && !answer.text.contains(token), "\(target)")
                }
            }
            #expect(try await page.verification() == before)
        }
    }

    @Test("A cancelled verification is over, and no mail follows for an hour") func cancel() async throws {
        try await ProofBrowser.with { server in
            let (page, owner) = (try await Self.asked(server), await ProofBrowser(server))
            let token = try await page.token(.cancel)
            await owner.open("/cancel")
            try await owner.send("/cancel", ["token": "https://login.example/cancel#\(token)"])
            #expect(owner.text.contains("An account is about to be created"), "\(owner.text)")
            #expect(try await page.verification().endedAt == nil)
            try await owner.send("/cancel", ["confirmed": "1"])
            #expect(owner.text.contains("It is stopped"), "\(owner.text)")
            try await page.send("/sign-up/code", ["code": try await page.code()])
            #expect(page.answer.status == 422 && page.text.contains("no longer good"), "\(page.text)")
            await owner.open("/cancel")
            try await owner.send("/cancel", ["token": token])
            #expect(owner.answer.status == 422 && owner.text.contains("no longer works"), "\(owner.text)")
        }
    }

    @Test(
        "Another text is no link, and is answered like one that is over", arguments: ["/v", "/cancel", "/undo"],
        ["", "sjv_x", "sjk_x", "\"><script>alert(1)</script>", String(repeating: "x", count: 5000)])
    func noLink(_ path: String, _ text: String) async throws {
        try await ProofBrowser.with { server in
            let page = await ProofBrowser(server)
            await page.open(path)
            try await page.send(path, ["token": text])
            #expect(page.answer.status == 422 && page.text.contains("no longer works"), "\(page.text)")
            #expect(!page.text.contains("<script>"))
        }
    }

    @Test("A new mailbox is that of the account after its code, and the former one takes it back") func email()
        async throws
    {
        try await ProofBrowser.with { server in
            let account = AccountPages(server)
            let page = try await account.open("/account/email")
            let asked = try await account.send("/account/email", of: page, ["email": "new@example.org"])
            #expect(asked.field("Location") == EndpointsFixture.issuer + "/account/email", "\(asked.text)")
            let form = AccountPage(await account.browser.get("/account/email"))
            #expect(form.text.contains("We send a code to the new address") && !form.text.contains("new@example.org"))
            let user = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
            let pending = try await server.endpoints.services.accounts.pendingEmail(
                of: try #require(Identifier<User>(user)))
            let verification = try #require(pending)
            let wrong = try await account.send("/account/email/code", of: form, ["code": "x"])
            #expect(wrong.status == 422 && wrong.text.contains("4 tries are left"), "\(wrong.text)")
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").string("email") == "anna@example.org")
            // The link proves nothing in another browser.
            let secrets = server.context.verificationSecrets
            let link = try #require(secrets.token(.prove, of: verification))
            let other = await ProofBrowser(server).open("/v")
            try await other.send("/v", ["token": link])
            #expect(other.text.contains("Go back to where you began"))
            let code = try #require(secrets.code(of: verification))
            let done = try await account.act("/account/email/code", of: form, ["code": code])
            #expect(done.text.contains("Your e‑mail address is changed."), "\(done.text)")
            let changed = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(changed.string("email") == "new@example.org" && changed.bool("email_verified") == true)
            let security = AccountPage(await account.browser.get("/account/security"))
            #expect(security.text.contains("anna@example.org"), "\(security.text)")

            let userID = try #require(verification.userID)
            let details = try await server.endpoints.services.accounts.security(of: userID).details
            let until = try #require(details?.formerEmailUntil)
            let undo = secrets.token(.undo, of: userID, until: until)
            await other.open("/undo")
            try await other.send("/undo", ["token": undo])
            #expect(other.text.contains("new@example.org") && other.text.contains("anna@example.org"), "\(other.text)")
            try await other.send("/undo", ["confirmed": "1"])
            #expect(other.text.contains("The former address is back"), "\(other.text)")
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").string("email") == "anna@example.org")
            #expect(await account.browser.get("/account").status == 303)
        }
    }

    @Test(
        "The link of a new mailbox changes it in the browser of its session, and an older session logs in first"
    )
    func emailByLink() async throws {
        try await ProofBrowser.with { server in
            let account = AccountPages(server)
            let page = try await account.open("/account/email")
            server.moveClock(to: 400)
            let answer = try await account.send("/account/email", of: page, ["email": "new@example.org"])
            let asked = try await account.logIn(answer)
            let form = AccountPage(await account.browser.get(try #require(asked.field("Location"))))
            #expect(form.text.contains("We send a code to the new address"), "\(form.text)")
            let user = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
            let pending = try await server.endpoints.services.accounts.pendingEmail(
                of: try #require(Identifier<User>(user)))
            let verification = try #require(pending)
            let link = try #require(server.context.verificationSecrets.token(.prove, of: verification))
            let opened = AccountPage(await account.browser.get("/v"))
            let done = try await account.act("/v", of: opened, ["token": link])
            #expect(done.text.contains("Your e‑mail address is changed."), "\(done.text)")
        }
    }

    @Test("Beside an authenticator a form for a new mailbox or the end of the account needs two factors")
    func secondFactor() async throws {
        try await ProofBrowser.with { server in
            let account = AccountPages(server)
            let forms = [
                ("/account/email", try await account.open("/account/email"), ["email": "new@example.org"]),
                ("/account/delete", try await account.open("/account/delete"), ["confirmed": "1"]),
            ]
            _ = try await server.enrolled()
            for (path, page, fields) in forms {
                let answer = try await account.send(path, of: page, fields)
                #expect(answer.status == 303 && answer.field("Location")?.contains("/login?r=") == true, "\(path)")
            }
        }
    }

    @Test("A user deletes the account after a login of the last minutes, and keeps it by the link of the mail")
    func deletion() async throws {
        try await ProofBrowser.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open("/account/delete")
            #expect(page.text.contains("after 7 days"), "\(page.text)")
            let unticked = try await account.send("/account/delete", of: page, [:])
            #expect(unticked.status == 200 && unticked.text.contains("I want to delete my account"))
            server.moveClock(to: 400)
            let answer = try await account.send("/account/delete", of: page, ["confirmed": "1"])
            let done = try await account.logIn(answer)
            let told = await account.browser.get(try #require(done.field("Location")))
            #expect(told.text.contains("Your account will be deleted"), "\(told.text)")
            #expect(await account.browser.get("/account").status == 303)
            #expect(await server.refresh(phone.refresh).status == 400)

            let userID = try await Self.anna(server)
            let time = try await server.endpoints.services.accounts.pendingDeletion(of: userID)
            let until = try #require(time)
            let link = server.context.verificationSecrets.token(.keep, of: userID, until: until)
            let owner = await ProofBrowser(server).open("/undo")
            try await owner.send("/undo", ["token": link])
            #expect(owner.text.contains("Keep your account?"), "\(owner.text)")
            try await owner.send("/undo", ["confirmed": "1"])
            #expect(owner.text.contains("Your account stays"), "\(owner.text)")
            #expect(try await account.open().answer.status == 200)
        }
    }
}
