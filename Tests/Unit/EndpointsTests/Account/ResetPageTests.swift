import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// The page for a new password by a reset token.
@Suite struct ResetPageTests {
    private static let new = "a longer battery staple"

    private func token(_ server: EndpointsFixture) async throws -> String {
        let answer = await server.admin(.post, "/admin/v1/users/username:anna/password-reset", "{}")
        let token = try #require(answer.string("reset_token"), "\(answer.text)")
        server.environment.secrets.withLock { _ = $0.insert(token) }
        return token
    }

    @Test func thePasswordIsSetAndEverySessionEnds() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            _ = try await account.open()
            let token = try await token(server)
            let page = AccountPage(await account.browser.get("/reset"))
            #expect(page.answer.status == 200 && page.text.contains(#"name="token""#))
            let answer = try await account.send("/reset", of: page, ["token": token, "new_password": Self.new])
            let location = try #require(answer.field("Location"))
            #expect(answer.status == 303 && !location.contains(token))
            #expect(await account.browser.get(location).text.contains("Your password is changed"))
            #expect(await server.refresh(phone.refresh).string("reason") == "password_changed")
            #expect(await account.browser.get("/account").status == 303)
            #expect(await account.events().contains("password_changed"))
            #expect(try await account.open(password: Self.new).answer.status == 200)
            // The token is spent.
            let again = try await account.send(
                "/reset", of: page, ["token": token, "new_password": "yet another staple"])
            #expect(again.status == 422 && again.text.contains("expired or was used before"))
        }
    }

    @Test(
        arguments: [
            (nil, new, "expired or was used before"), ("sjv_x", new, "expired or was used before"),
            (#""><script>"#, new, "expired or was used before"), ("", "short", "needs at least 8 characters"),
            ("", "", "needs at least 8 characters"), ("", "password1", "guessed first"),
            ("", "anna-anna-2026", "must not be your username"), ("", String(repeating: "x", count: 5000), "too long"),
        ] as [(String?, String, String)])
    func aFormIsRefused(_ wrong: String?, _ password: String, _ sentence: String) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let right = try await token(server)
            let page = AccountPage(await account.browser.get("/reset"))
            var form = ["new_password": password]
            form["token"] = wrong == "" ? right : wrong
            let answer = try await account.send("/reset", of: page, form)
            #expect(answer.status == 422 && answer.text.contains(sentence), "\(answer.text)")
            // The token stays in the form and in no field, the password does not.
            #expect(
                answer.text.contains("type=\"password\"") && !answer.text.contains("name=\"token\" type=\"text\" value")
            )
            #expect(!answer.text.contains("<script>") && !answer.text.contains(#"value="\#(Self.new)""#))
            if wrong == "" { #expect(answer.text.contains(right)) }
            #expect(await server.refresh(phone.refresh).status == 200)
        }
    }

    /// Without script the user pastes what stands in the message.
    @Test(arguments: ["https://login.example/reset#", " https://login.example/reset#", "#", ""])
    func theLinkIsPasted(_ start: String) async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let token = try await token(server)
            let page = AccountPage(await account.browser.get("/reset"))
            #expect(page.text.contains("Link from the message"))
            let short = try await account.send("/reset", of: page, ["token": start + token, "new_password": "short"])
            #expect(short.text.contains(#"<input type="hidden" name="token" value="\#(token)">"#), "\(short.text)")
            let answer = try await account.send(
                "/reset", of: AccountPage(short), ["token": token + "\n", "new_password": Self.new])
            #expect(answer.status == 303, "\(answer.text)")
        }
    }

    @Test func aTokenThatIsTooOldIsRefused() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let token = try await token(server)
            let page = AccountPage(await account.browser.get("/reset"))
            server.moveClock(to: 3600)
            let answer = try await account.send("/reset", of: page, ["token": token, "new_password": Self.new])
            #expect(answer.status == 422)
        }
    }

    @Test func theWalls() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let token = try await token(server)
            let page = AccountPage(await account.browser.get("/reset"))
            let form = ["token": token, "new_password": Self.new]
            let foreign = try await account.send(
                "/reset", of: page, form, fields: ["Origin": "https://evil.example"])
            #expect(foreign.status == 403)
            for csrf in [nil, "x", page.csrf("/reset")] {
                // Another browser, which the page was not made for.
                var all = form
                all["csrf"] = csrf
                let answer = await Browser(server).post("/reset", all)
                #expect(answer.status == 200 && answer.text.contains("Please press once more"))
                #expect(answer.text.contains(token))
            }
            // This browser, with the token of another form.
            for csrf in [nil, "x"] {
                var all = form
                all["csrf"] = csrf
                #expect(await account.browser.post("/reset", all).text.contains("Please press once more"))
            }
            #expect(!(await account.events().contains("password_changed")))
            #expect(!(await account.browser.get("/reset?t=x").text.contains("Your password is changed")))
        }
    }

    @Test func wrongTokensAreLimited() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = AccountPage(await account.browser.get("/reset"))
            var last: Answer?
            for _ in 0..<200 where last?.status != 429 {
                last = try await account.send("/reset", of: page, ["token": "sjv_x", "new_password": Self.new])
            }
            let answer = try #require(last)
            #expect(answer.status == 429 && answer.field("Retry-After") != nil)
            #expect(answer.text.contains("Too many attempts."))
        }
    }
}
