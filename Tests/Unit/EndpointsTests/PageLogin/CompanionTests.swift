import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Which ends of an app's session reach the session of the browser in which it began, and the other way round.
@Suite struct CompanionTests {
    private static let shared = #","browser_session":"shared""#

    private func silent(_ browser: Browser, client: String = PageLoginFixture.clientID) async throws -> Redirect {
        try Redirect(await browser.get(PageLoginFixture.url(["prompt": "none", "client_id": client])))
    }

    /// Two apps that share one browser session.
    private func server(
        _ body: (PageLoginFixture, Browser, _ app: Tokens, _ other: Tokens) async throws -> Void
    ) async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            _ = try await login.server.makeClient(
                #"""
                {"client_id":"other","grant_types":["authorization_code","refresh_token"],"scope":"openid email read",
                 "redirect_uris":["com.example.app:/callback"],"browser_session":"shared"}
                """#)
            let browser = Browser(login.server)
            let scope = ["scope": "openid email read account"]
            let app = try Tokens(await login.exchange(try await login.code(browser, scope)))
            let code = try #require(try await silent(browser, client: "other")["code"])
            let other = try Tokens(await login.exchange(code, ["client_id": "other"]))
            try await body(login, browser, app, other)
        }
    }

    /// The reason of the end in the audit trail; nil: the session goes on.
    private func end(_ session: String, _ login: PageLoginFixture) async -> String? {
        let events = await login.server.admin(.get, "/admin/v1/events?session_id=\(session)").items
        return events.first { $0.string("event") == "session_ended" }?
            .string("reason")
    }

    @Test func aStolenRefreshTokenEndsBoth() async throws {
        try await server { login, browser, app, other in
            // The thief's copy comes after the app has gone on twice.
            var token = app.refresh
            for hour in Int64(1)...2 {
                login.server.moveClock(to: hour * 700)
                token = try #require(await login.server.refresh(token, more: "&client_id=shop").string("refresh_token"))
            }
            #expect(try await silent(browser)["code"] != nil)
            let before = login.writes
            let refused = await login.server.refresh(app.refresh, more: "&client_id=shop")
            #expect(refused.string("reason") == "refresh_token_reused", "\(refused.text)")
            // One transaction.
            #expect(login.writes == before + 1)
            #expect(await end(app.sessionID, login) == "refresh_token_reused")
            #expect(try await silent(browser)["error"] == "login_required")
            // Another app of the browser goes on.
            #expect(await login.server.refresh(other.refresh, more: "&client_id=other").status == 200)
        }
    }

    @Test func aCodeThatIsUsedTwiceEndsBoth() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = Browser(login.server)
            let code = try await login.code(browser)
            #expect(await login.exchange(code).status == 200)
            #expect(await login.exchange(code).status == 400)
            #expect(try await silent(browser)["error"] == "login_required")
        }
    }

    @Test func aNewPasswordEndsAllButTheAsker() async throws {
        try await server { login, browser, app, other in
            let body = #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another long horse"}"#
            let answer = await login.server.call(.put, "/v1/me/password", body, bearer: app.access)
            #expect((200...204).contains(answer.status), "\(answer.text)")
            let answered = try await silent(browser)
            #expect(answered["error"] == "login_required")
            #expect(await end(other.sessionID, login) == "password_changed")
            #expect(await login.server.refresh(app.refresh, more: "&client_id=shop").status == 200)
        }
    }

    @Test(arguments: [
        (Method.delete, "/admin/v1/users/username:anna", String?.none, "user_deleted"),
        (.post, "/admin/v1/users/username:anna/revoke", "{}", "revoked_by_admin"),
        (
            .post, "/admin/v1/users/username:anna/disable", #"{"effective":"immediate","revoke_sessions":true}"#,
            "revoked_by_admin"
        ),
    ])
    func whatEndsAllOfAUserEndsEachOfThem(
        _ method: HTTP.Method, _ path: String, _ body: String?, _ reason: String
    ) async throws {
        try await server { login, browser, app, other in
            let answer = await login.server.admin(method, path, body)
            #expect((200...204).contains(answer.status), "\(answer.text)")
            for tokens in [app, other] { #expect(await end(tokens.sessionID, login) == reason) }
            let answered = try await silent(browser)
            #expect(answered["error"] == "login_required")
        }
    }

    @Test func anAppsLogoutEndsTheBrowsersSessionAndNoOtherApp() async throws {
        try await server { login, browser, app, other in
            #expect(await login.server.call(.post, "/v1/logout", bearer: app.access).status == 204)
            let answered = try await silent(browser)
            #expect(answered["error"] == "login_required")
            #expect(await end(app.sessionID, login) == "logged_out")
            #expect(await end(other.sessionID, login) == nil)
        }
    }

    @Test func theEndOfTheBrowsersSessionEndsItsApps() async throws {
        try await server { login, browser, app, other in
            let waiting = try #require(try await silent(browser)["code"])
            let sessions = await login.server.admin(.get, "/admin/v1/users/username:anna/sessions").items
            let mine = try #require(sessions.first { $0.string("client_id") == "browser" })
            let id = try #require(mine.string("session_id"))
            let before = login.writes
            #expect(await login.server.admin(.delete, "/admin/v1/sessions/\(id)").status == 204)
            #expect(login.writes == before + 1)
            for tokens in [app, other] { #expect(await end(tokens.sessionID, login) == "revoked_by_admin") }
            // A code that was waiting starts no session any more.
            #expect(await login.exchange(waiting).status == 400)
        }
    }

    @Test func aLoginInPlaceOfAnotherEndsNoCompanion() async throws {
        try await server { login, browser, app, _ in
            // The same app on the same device again: its session is replaced.
            let code = try #require(try Redirect(await browser.get(PageLoginFixture.url()))["code"])
            #expect(await login.exchange(code).status == 200)
            #expect(await end(app.sessionID, login) == "replaced")
            #expect(try await silent(browser)["code"] != nil)
        }
    }
}
