import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What one browser is in the lists of its user: a row, and below it one row for each client.
@Suite struct BrowserRowTests {
    private static let shared = #","browser_session":"shared""#
    private static let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"
    /// A web application names no device.
    private static let unnamed: [String: String?] = ["device_id": nil]

    private func browser(_ login: PageLoginFixture) -> Browser {
        let browser = Browser(login.server)
        browser.userAgent = Self.firefox
        return browser
    }

    /// Gives `body` a browser in which a session of the client lives.
    private func withSession(_ body: (PageLoginFixture, Browser, Tokens) async throws -> Void) async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = browser(login)
            try await body(
                login, browser, try Tokens(await login.exchange(try await login.code(browser), Self.unnamed)))
        }
    }

    private func silent(_ browser: Browser, _ changes: [String: String?] = [:]) async throws -> String {
        let answer = await browser.get(PageLoginFixture.url(changes.merging(["prompt": "none"]) { $1 }))
        return try #require(try Redirect(answer)["code"], "\(answer.text)")
    }

    private func sessions(_ login: PageLoginFixture) async -> [Answer] {
        await login.server.admin(.get, "/admin/v1/users/username:anna/sessions").items
            .filter { $0.string("client_id") == PageLoginFixture.clientID && $0.string("ended_reason") == nil }
    }

    @Test("a request with prompt=none of a client that lives in the browser starts no session")
    func silentChecks() async throws {
        try await withSession { login, browser, first in
            for number in Int64(1)...4 {
                login.server.moveClock(to: number * 900)
                let answer = await login.exchange(try await silent(browser), Self.unnamed)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.string("session_id") == first.sessionID && answer.string("refresh_token") == nil)
                for token in ["access_token", "id_token"] {
                    let claims = try Answer.claims(of: try #require(answer.string(token)))
                    #expect(claims.string("sid") == first.sessionID, "\(token)")
                }
                let access = try #require(answer.string("access_token"))
                #expect(await login.server.call(.get, "/v1/verify", bearer: access).status == 200)
            }
            let living = await sessions(login)
            #expect(living.map { $0.string("session_id") } == [first.sessionID])
            // The check is a use of the session, and the refresh token of the client is the same as before.
            #expect(living[0].integer("last_refreshed_at") == EndpointsFixture.start + 3600)
            #expect(await login.server.refresh(first.refresh, more: "&client_id=shop").status == 200)
        }
    }

    @Test("no check joins a session with a mode that asks for the user") func guardedSession() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = browser(login)
            let changes = Self.unnamed.merging(["authentication_mode": "PASSWORD"]) { $1 }
            let first = try Tokens(await login.exchange(try await login.code(browser), changes))
            login.server.moveClock(to: 900)
            let answer = await login.exchange(try await silent(browser), Self.unnamed)
            #expect(answer.status == 200 && answer.string("session_id") != first.sessionID, "\(answer.text)")
        }
    }

    @Test(
        "a login with stronger demands keeps a session of its own",
        arguments: [
            ["prompt": "none", "scope": "openid email read account"],
            ["prompt": "none", "scope": "openid offline_access"],
            ["prompt": "none", "resource": "https://a.example"],
            ["prompt": nil],
        ] as [[String: String?]])
    func ownSessions(_ changes: [String: String?]) async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            _ = await login.server.admin(
                .patch, "/admin/v1/clients/shop",
                #"{"scope":"openid profile email read account offline_access","resources":["https://a.example"]}"#)
            let browser = browser(login)
            let first = try Tokens(await login.exchange(try await login.code(browser), Self.unnamed))
            let code = try #require(try Redirect(await browser.get(PageLoginFixture.url(changes)))["code"])
            let second = try Tokens(await login.exchange(code, Self.unnamed))
            #expect(second.sessionID != first.sessionID && second.refresh != "")
            // No login ends that of another tab.
            #expect(await sessions(login).count == 2)
        }
    }

    @Test("a session that has ended gets no tokens by a code that joins it, and the next check starts one")
    func endedMeanwhile() async throws {
        try await withSession { login, browser, first in
            let code = try await silent(browser)
            let logout = await login.server.call(.post, "/v1/logout", #"{"refresh_token":"\#(first.refresh)"}"#)
            #expect(logout.status == 204)
            #expect(await login.exchange(code, Self.unnamed).string("error") == "invalid_grant")
            #expect(await sessions(login).isEmpty)
        }
    }

    /// When the provider's confirmation of a session expires.
    enum Expiry: CaseIterable {
        case beforeTheCheck, beforeTheExchange, beforeItsRepetition
    }

    @Test("a check gets no tokens of a session that its provider has to confirm again", arguments: Expiry.allCases)
    func unconfirmed(_ expiry: Expiry) async throws {
        try await PageLoginFixture.with(Self.shared) { plain in
            let terms = RecheckTerms(interval: .seconds(600), outageBudget: .seconds(60))
            let policy = RefreshPolicy(absoluteMaximum: .seconds(86_400 * 365), recheckTerms: ["acme": terms])
            let login = PageLoginFixture(server: plain.server.over(plain.server.store, policy: policy))
            let browser = browser(login)
            let first = try Tokens(await login.exchange(try await login.code(browser), Self.unnamed))
            let id = try #require(Identifier<Session>(first.sessionID))
            let start = Instant(secondsSinceEpoch: EndpointsFixture.start)
            let done: Void? = try await login.server.store.updateProviderCheck(id) {
                $0.session.confirmation = ProviderConfirmation(provider: "acme", at: start)
            }
            #expect(done != nil)
            let (end, key) = (Int64(660), ["Idempotency-Key": "once"] as Fields)
            login.server.moveClock(to: end - 1)
            if expiry == .beforeTheCheck { login.server.moveClock(to: end) }
            let code = try await silent(browser)
            if expiry == .beforeTheExchange { login.server.moveClock(to: end) }
            var answer = await login.exchange(code, Self.unnamed, fields: key)
            if expiry == .beforeItsRepetition {
                #expect(answer.string("session_id") == first.sessionID, "\(answer.text)")
                login.server.moveClock(to: end)
                answer = await login.exchange(code, Self.unnamed, fields: key)
            }
            guard expiry == .beforeTheCheck else {
                #expect(answer.string("error") == "invalid_grant", "\(answer.text)")
                return
            }
            #expect(answer.status == 200 && answer.string("session_id") != first.sessionID, "\(answer.text)")
        }
    }

    @Test("a code that joins a session and comes twice ends that session")
    func codeReuse() async throws {
        try await withSession { login, browser, first in
            let code = try await silent(browser)
            #expect(await login.exchange(code, Self.unnamed).status == 200)
            #expect(await login.exchange(code, Self.unnamed).string("error") == "invalid_grant")
            let refused = await login.server.refresh(first.refresh, more: "&client_id=shop")
            #expect(refused.string("reason") == "code_reused", "\(refused.text)")
            #expect(
                try Redirect(await browser.get(PageLoginFixture.url(["prompt": "none"])))["error"] == "login_required")
        }
    }

    @Test("an exchange that is repeated because its answer was lost gets the tokens of the session again")
    func lostAnswer() async throws {
        try await withSession { login, browser, first in
            let code = try await silent(browser)
            let key: Fields = ["Idempotency-Key": "once"]
            for _ in 0..<2 {
                let answer = await login.exchange(code, Self.unnamed, fields: key)
                #expect(answer.string("session_id") == first.sessionID, "\(answer.text)")
                #expect(answer.string("refresh_token") == nil)
            }
        }
    }

    @Test("five logins of a client in one browser are one row below the browser's, and end together")
    func oneRow() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = browser(login)
            var tokens: [Tokens] = []
            for number in Int64(0)..<5 {
                login.server.moveClock(to: number * 60)
                let code =
                    number == 0
                    ? try await login.code(browser, ["scope": "openid email read account"])
                    : try #require(
                        try Redirect(await browser.get(PageLoginFixture.url(["scope": "openid email read account"])))[
                            "code"]
                    )
                tokens.append(try Tokens(await login.exchange(code, Self.unnamed)))
            }
            #expect(Set(tokens.map(\.sessionID)).count == 5)
            let phone = try await login.server.logIn(device: #"phone-9","name":"Phone"#)
            let account = AccountPages(login.server, browser)
            let page = try await account.open()
            let ids = Set(tokens.map(\.sessionID))
            #expect(page.sessions.count == 2 && page.sessions.contains(phone.sessionID), "\(page.sessions)")
            let row = try #require(page.sessions.first { ids.contains($0) })
            #expect(page.text.contains("Firefox · Linux") && !page.text.contains("Unnamed device"))
            // The list of the API has the same rows: the phone, the browser, and the client in it.
            let devices = await login.server.call(.get, "/v1/me/devices", bearer: tokens[4].access).items
            #expect(devices.count == 3)
            #expect(devices.count { $0.string("name") == "Firefox · Linux" } == 2)
            #expect(devices.count { $0.bool("current") == true } == 1)
            _ = try await account.act("/account/end", of: page, ["session": row])
            for token in tokens {
                #expect(await login.server.refresh(token.refresh, more: "&client_id=shop").status == 400)
            }
            #expect(await login.server.refresh(phone.refresh).status == 200)
        }
    }

    @Test("the API renames and ends the sessions of a row together")
    func rowOfTheAPI() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let browser = browser(login)
            let scope = ["scope": "openid email read account"]
            let first = try Tokens(await login.exchange(try await login.code(browser, scope), Self.unnamed))
            let code = try #require(try Redirect(await browser.get(PageLoginFixture.url(scope)))["code"])
            let second = try Tokens(await login.exchange(code, Self.unnamed))
            let phone = try await login.server.logIn(device: "phone-9")
            let device = try #require(first.answer.string("device_id"))
            #expect(second.answer.string("device_id") != device)
            let path = "/v1/me/devices/\(device)"
            let renamed = await login.server.call(.patch, path, #"{"name":"Work"}"#, bearer: phone.access)
            #expect(renamed.status == 200, "\(renamed.text)")
            #expect(await sessions(login).allSatisfy { $0.string("device", "name") == "Work" })
            #expect(await login.server.call(.delete, path, bearer: phone.access).status == 204)
            #expect(await sessions(login).isEmpty)
            #expect(await login.server.refresh(phone.refresh).status == 200)
        }
    }

    @Test("a client that names its device keeps what it said of it, and its own row")
    func namedDevice() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let answer = await login.exchange(
                try await login.code(browser(login)), ["device_id": "tv-1", "device_name": "Television"])
            #expect(answer.string("device_id") == "tv-1")
            #expect(await sessions(login).map { $0.string("device", "name") } == ["Television"])
        }
    }
}
