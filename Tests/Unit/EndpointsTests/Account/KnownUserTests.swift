import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A further login in the browser of a session does not ask for the name again.
struct KnownUserTests {
    private static let again: [[String: String?]] = [["prompt": "login"], ["max_age": "0"], ["max_age": "60"]]

    private func isKnown(_ page: Page) -> Bool {
        page.answer.text.contains("Not you?")
            && page.answer.text.contains(#"value="anna" autocomplete="username" hidden"#)
    }

    @Test("The page of `prompt=login` and of `max_age` knows the user, and takes the password alone", arguments: again)
    func known(_ demand: [String: String?]) async throws {
        try await PageLoginFixture.with(#","browser_session":"client""#) { login in
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            login.server.moveClock(to: 100)
            let page = try await login.page(browser, demand)
            #expect(isKnown(page), "\(page.answer.text)")
            let wrong = await login.submit(browser, page, password: "wrong horse")
            let second = try Page(wrong)
            #expect(wrong.status == 422 && isKnown(second))
            // Another user is one press away.
            let link = try #require(page.answer.text.firstMatch(of: #/href="(\/login\?[^"]*account=none)"/#))
            let other = try Page(await browser.get(String(link.1).replacing("&amp;", with: "&")))
            #expect(!isKnown(other) && !other.answer.text.contains("anna"))
            #expect(try Redirect(await login.submit(browser, second))["code"] != nil)
        }
    }

    @Test("The page knows no user without a session, of another client or hint, or where a client keeps none")
    func unknown() async throws {
        for session in ["client", "none"] {
            try await PageLoginFixture.with(#","browser_session":"\#(session)""#) { login in
                let browser = Browser(login.server)
                let first = try await login.page(browser, ["prompt": "login"])
                #expect(!isKnown(first))
                _ = try await login.code(browser)
                let hinted = try await login.page(browser, ["prompt": "login", "login_hint": "bert"])
                #expect(!isKnown(hinted) && hinted.answer.text.contains(#"value="bert""#))
                guard session == "none" else { return }
                // The session of the account pages is none of the client's.
                _ = try await AccountPages(login.server, browser).open()
                let last = try await login.page(browser, ["prompt": "login"])
                #expect(!isKnown(last))
            }
        }
    }

    @Test("A client that takes e-mail addresses alone gets the address that is confirmed, or asks")
    func addresses() async throws {
        for isVerified in [true, false] {
            try await PageLoginFixture.with(#","browser_session":"client""#) { login in
                let browser = Browser(login.server)
                _ = try await login.code(browser)
                _ = await login.server.admin(
                    .patch, "/admin/v1/users/username:anna", #"{"email_verified":\#(isVerified)}"#)
                _ = await login.server.admin(.patch, "/admin/v1/clients/shop", #"{"login_names":"email"}"#)
                let page = try await login.page(browser, ["prompt": "login"])
                #expect(page.answer.text.contains(#"value="anna@example.org""#) == isVerified)
                #expect(page.answer.text.contains("Not you?") == isVerified)
            }
        }
    }
}
