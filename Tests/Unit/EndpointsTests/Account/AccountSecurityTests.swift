import Cryptography
import HTTP
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The page of password, passkeys and the user's own switch.
@Suite struct AccountSecurityTests {
    private static let path = "/account/security"
    private static let new = "a longer battery staple"

    // MARK: Password

    @Test func thePasswordIsChanged() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            let after = try await account.act(
                "/account/password", of: page, ["password": EndpointsFixture.password, "new_password": Self.new])
            #expect(after.text.contains("Your password is changed"))
            #expect(await server.refresh(phone.refresh).string("reason") == "password_changed")
            #expect(await account.events().contains("password_changed"))
            // This session goes on, and the new password opens another.
            #expect(await account.browser.get("/account").status == 200)
            #expect(try await AccountPages(server).open(password: Self.new).answer.status == 200)
        }
    }

    @Test(arguments: [
        ("wrong horse", new, "The current password is wrong."), ("", new, "The current password is wrong."),
        ("correct horse", "short", "needs at least 8 characters"), ("correct horse", "", "needs at least 8 characters"),
        ("correct horse", "password1", "guessed first"), ("correct horse", "annaanna1", "must not be your username"),
        ("correct horse", String(repeating: "x", count: 5000), "too long"),
    ])
    func aPasswordIsRefused(_ old: String, _ new: String, _ sentence: String) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            let answer = try await account.send(
                "/account/password", of: page, ["password": old, "new_password": new])
            #expect(answer.status == 422 && answer.text.contains(sentence), "\(answer.text)")
            #expect(await server.refresh(phone.refresh).status == 200)
        }
    }

    /// Guesses at an open browser count for its session alone, and are recorded.
    @Test func guessesAreCounted() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            var last: Answer?
            for _ in 0..<20 where last?.status != 429 {
                last = try await account.send(
                    "/account/password", of: page, ["password": "wrong horse", "new_password": Self.new])
            }
            let answer = try #require(last)
            #expect(answer.status == 429 && answer.field("Retry-After") != nil, "\(answer.status)")
            #expect(answer.text.contains("Too many attempts."))
            #expect(await account.events().contains("login_failed wrong_password"))
            _ = try await server.logIn()
        }
    }

    // MARK: The own switch

    @Test(arguments: ["immediate", "on_expiry"]) func loginsArePausedAndResumed(_ effective: String) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            let paused = try await account.act("/account/logins", of: page, ["pause": "1", "effective": effective])
            #expect(paused.text.contains("Done: nobody can sign in now."))
            #expect(await account.events().contains("logins_disabled \(effective)"))
            #expect(await server.refresh(phone.refresh).string("reason") == "login_disabled_by_user")
            let access = await server.call(.get, "/v1/me", bearer: phone.access)
            #expect(access.status == (effective == "immediate" ? 401 : 200))
            // There is the switch alone, on every path.
            #expect(paused.csrf("/account/password") == nil)
            #expect(await account.browser.get("/account").field("Location")?.hasSuffix(Self.path) == true)
            let resumed = try await account.act("/account/logins", of: paused, ["pause": "0"])
            #expect(resumed.text.contains("Sign-ins are possible again."))
            #expect(await account.events().contains("logins_enabled"))
            // The session was kept.
            #expect(await server.refresh(phone.refresh).status == 200)
        }
    }

    /// A user with all logins paused, from the phone or long ago, gets in by the password, to the switch alone.
    @Test func aPausedUserResumesInAnotherBrowser() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let body = #"{"logins_disabled":true}"#
            #expect(await server.call(.put, "/v1/me/login-settings", body, bearer: phone.access).status == 200)
            let account = AccountPages(server)
            let answer = try await account.logIn(await account.browser.get("/account"))
            #expect(answer.status == 303)
            let back = await account.browser.get(try #require(answer.field("Location")))
            #expect(back.field("Location") == EndpointsFixture.issuer + Self.path)
            let page = AccountPage(await account.browser.get(Self.path))
            #expect(page.text.contains("Resume sign-ins") && page.csrf("/account/password") == nil)
            // Nothing else works, not even with tokens of a page from before.
            for (path, form) in [
                ("/account/end", ["which": "all"]),
                ("/account/password", ["password": EndpointsFixture.password, "new_password": Self.new]),
                ("/account/passkeys", ["act": "remove", "passkey": "AQID"]),
            ] {
                var all = form
                all["csrf"] = page.csrf("/account/logins")
                let answer = await account.browser.post(path, all)
                #expect(answer.status == (path == "/account/end" ? 303 : 200), "\(path)")
            }
            #expect(try await account.act("/account/logins", of: page, ["pause": "0"]).answer.status == 200)
            #expect(await server.refresh(phone.refresh).status == 200)
        }
    }

    @Test func aPausedUsersBrowserGivesNoAppACode() async throws {
        try await PageLoginFixture.with(#","browser_session":"shared""#) { login in
            let account = AccountPages(login.server)
            _ = try await login.code(account.browser)
            let page = try await account.open(Self.path)
            _ = try await account.act("/account/logins", of: page, ["pause": "1"])
            let silent = try Redirect(await account.browser.get(PageLoginFixture.url(["prompt": "none"])))
            #expect(silent["error"] == "login_required")
        }
    }

    @Test func aPauseCanEndAllSessions() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            let after = try await account.act("/account/logins", of: page, ["pause": "1", "end_sessions": "1"])
            #expect(after.text.contains("You are signed out"))
            #expect(account.browser.cookies[AccountPages.cookie] == nil)
            #expect(await server.refresh(phone.refresh).string("reason") == "revoked_by_user")
        }
    }

    @Test(arguments: [0, 299, 300, 1000] as [Int64])
    func theSwitchNeedsALoginOfTheLastMinutes(_ age: Int64) async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            let cookie = account.browser.cookies[AccountPages.cookie]
            server.moveClock(to: age)
            let answer = try await account.send("/account/logins", of: page, ["pause": "1"])
            let location = try #require(answer.field("Location"))
            #expect(location.contains("/login?r=") == (age >= 300))
            guard age >= 300 else { return }
            #expect(!(await account.events().contains { $0.hasPrefix("logins_disabled") }))
            // The page says why, knows the user, and the act is done after the login.
            let login = await account.browser.get(location)
            #expect(login.text.contains("Please confirm that it’s you.") && login.text.contains(#"value="anna""#))
            let answered = try await account.logIn(answer)
            let back = AccountPage(await account.browser.get(try #require(answered.field("Location"))))
            #expect(back.text.contains("Done:"))
            #expect(account.browser.cookies[AccountPages.cookie] == cookie)
        }
    }

    /// An open browser is not enough to resume logins: its user has paused them because a device is lost.
    @Test func toResumeNeedsThePasswordToo() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            let paused = try await account.act("/account/logins", of: page, ["pause": "1"])
            server.moveClock(to: 300)
            let answer = try await account.send("/account/logins", of: paused, ["pause": "0"])
            #expect(answer.field("Location")?.contains("/login?r=") == true)
            #expect(!(await account.events().contains("logins_enabled")))
        }
    }

    // MARK: Passkeys

    @Test func passkeysAreListedNamedAndRemoved() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let phone = try await server.logIn()
            _ = try await server.passkey(of: phone, name: #"<b>"Blue" key"#)
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            #expect(page.text.contains("&lt;b&gt;&quot;Blue&quot; key") && !page.text.contains("<b>"))
            let id = Base64URL.encode(Array(1...16) as [UInt8])
            let rename = ["act": "rename", "passkey": id, "name": "Green key"]
            let renamed = try await account.act("/account/passkeys", of: page, rename)
            #expect(renamed.text.contains("Green key") && renamed.text.contains("new name"))
            for name in ["", "\u{7}", String(repeating: "x", count: 129)] {
                let answer = try await account.send(
                    "/account/passkeys", of: page, ["act": "rename", "passkey": id, "name": name])
                #expect(answer.status == 422 && answer.text.contains("Green key"), "\(name)")
            }
            let removed = try await account.act("/account/passkeys", of: page, ["act": "remove", "passkey": id])
            #expect(removed.text.contains("The passkey is removed") && !removed.text.contains("Green key"))
            #expect(await server.passkeyEvents(of: phone.userID).contains { $0.hasPrefix("passkey_removed") })
            for form in [["act": "remove", "passkey": id], rename, ["act": "remove", "passkey": "!"]] {
                let gone = try await account.act("/account/passkeys", of: page, form)
                #expect(gone.text.contains("had already been removed"))
            }
        }
    }

    @Test func noOtherUsersPasskeyIsTouched() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let phone = try await server.logIn()
            let authenticator = try await server.passkey(of: phone, name: "Anna's")
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            _ = try await server.passkey(
                of: try Tokens(
                    await server.call(
                        .post, "/v1/login",
                        #"{"username":"bert","password":"another long horse","device":{"id":"b"}}"#)), id: [7])
            let account = AccountPages(server)
            let page = try await account.open(Self.path, username: "bert", password: "another long horse")
            #expect(!page.text.contains("Anna"))
            let id = Base64URL.encode(Array(1...16) as [UInt8])
            for form in [["act": "remove", "passkey": id], ["act": "rename", "passkey": id, "name": "x"]] {
                let after = try await account.act("/account/passkeys", of: page, form)
                #expect(after.text.contains("had already been removed"))
            }
            #expect(try await server.logIn(by: authenticator).status == 200)
        }
    }

    @Test func passkeysNeedALoginOfTheLastMinutes() async throws {
        try await EndpointsFixture.withPasskeys { server in
            let authenticator = try await server.passkey(of: try await server.logIn())
            let account = AccountPages(server)
            let page = try await account.open(Self.path)
            server.moveClock(to: 300)
            let id = Base64URL.encode(Array(1...16) as [UInt8])
            for form in [["act": "remove", "passkey": id], ["act": "rename", "passkey": id, "name": "x"]] {
                let answer = try await account.send("/account/passkeys", of: page, form)
                #expect(answer.field("Location")?.contains("/login?r=") == true)
            }
            #expect(try await server.logIn(by: authenticator).status == 200)
        }
    }

    @Test func aServerWithoutPasskeysShowsNone() async throws {
        try await EndpointsFixture.with { server in
            let page = try await AccountPages(server).open(Self.path)
            #expect(!page.text.contains("asskey"))
        }
    }
}
