import Cryptography
import HTTP
import JSON
import Locks
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The login by a passkey on the login page.
@Suite struct PasskeyOnPageTests {
    /// A client with a page that takes passkeys, and a passkey of anna.
    struct Scene {
        let login: PageLoginFixture
        let browser: Browser
        var authenticator: SoftAuthenticator
        let tokens: Tokens

        var server: EndpointsFixture { login.server }

        /// Sends an assertion from the page.
        func submit(
            _ page: Page, _ credential: [String: JSONValue]?, more: [String: String] = [:], in other: Browser? = nil
        ) async -> Answer {
            var form = ["r": page.request, "csrf": page.token(of: "/login/passkey") ?? ""]
            if let credential { form["credential"] = JSONValue.object(credential).compactText }
            for (name, value) in more { form[name] = value }
            return await (other ?? browser).post("/login/passkey", form)
        }

        /// The token of a form that the page may not have.
        func token(of path: String, _ page: Page) throws -> String {
            let flow = try #require(browser.cookies["__Host-sojourn-flow"].flatMap { FlowSecret($0) })
            return flow.formToken(path, page.request)
        }

        /// Signs the challenge of a page.
        func assertion(_ page: Page) throws -> [String: JSONValue] { authenticator.assert(try page.challenge()) }

        /// A whole login.
        func logIn(_ changes: [String: String?] = [:]) async throws -> Answer {
            let page = try await login.page(browser, changes)
            return await submit(page, try assertion(page))
        }
    }

    static func with(
        _ methods: String = #"["password","passkey"]"#, more: String = "", backedUp: Bool = false,
        _ body: (Scene) async throws -> Void
    ) async throws {
        let policy = PasskeyPolicy(rpID: "example.org", origins: ["https://example.org"])
        try await PageLoginFixture.with(#","login_methods":\#(methods)\#(more)"#, passkeys: policy) { login in
            let tokens = try await login.server.logIn()
            let authenticator = try await login.server.passkey(of: tokens) { soft in
                soft.flags = backedUp ? SoftAuthenticator.synced : SoftAuthenticator.deviceBound
            }
            try await body(
                Scene(login: login, browser: Browser(login.server), authenticator: authenticator, tokens: tokens))
        }
    }

    @Test func thePasskeyGetsACodeAndItsIDTokenSaysHow() async throws {
        for backedUp in [false, true] {
            try await Self.with(backedUp: backedUp) { scene in
                let code = try #require(Redirect(try await scene.logIn())["code"])
                let answer = await scene.login.exchange(code)
                #expect(answer.status == 200, "\(answer.text)")
                let claims = try tokenParts(try #require(answer.string("id_token"))).claims
                #expect(claims["amr"] == .array([.string(backedUp ? "swk" : "hwk"), .string("user"), .string("mfa")]))
                #expect(claims["sub"] == .string(scene.tokens.userID))
                let events = await scene.server.admin(.get, "/admin/v1/events?limit=200").items
                #expect(events.first { $0.string("event") == "login_approved" }?.string("reason") == "passkey")
            }
        }
    }

    @Test func thePageOffersWhatTheClientAllows() async throws {
        try await Self.with(#"["passkey"]"#) { scene in
            let page = try await scene.login.page(scene.browser)
            #expect(page.answer.text.contains("data-options="))
            #expect(page.answer.text.contains("no-passkeys"))
            #expect(!page.answer.text.contains("name=\"password\""))
            // Neither can a form that the page does not have be sent.
            let hashes = scene.server.environment.hashes.withLock { $0.count }
            let sent = await scene.login.submit(
                scene.browser, page, more: ["csrf": try scene.token(of: "/login/password", page)])
            #expect(sent.status == 200 && sent.field("Location") == nil)
            #expect(scene.server.environment.hashes.withLock { $0.count } == hashes)
        }
        try await Self.with(#"["password"]"#) { scene in
            let page = try await scene.login.page(scene.browser)
            #expect(!page.answer.text.contains("data-options="))
            let credential = scene.authenticator.assert(try await scene.server.challenge())
            let token = try scene.token(of: "/login/passkey", page)
            #expect(await scene.submit(page, credential, more: ["csrf": token]).status == 200)
        }
    }

    @Test func theChallengeIsOfThisPageInThisBrowser() async throws {
        try await Self.with { scene in
            let page = try await scene.login.page(scene.browser)
            // Of an app's login, of another request, of another browser.
            let other = Browser(scene.server)
            let same = try Page(await other.get("/login?r=\(page.request)"))
            let challenges = [
                try await scene.server.challenge(), try await scene.login.page(scene.browser).challenge(),
                try await scene.login.page(other).challenge(), try same.challenge(),
            ]
            for challenge in challenges {
                let answer = await scene.submit(page, scene.authenticator.assert(challenge))
                #expect(answer.status == 422)
                #expect(answer.field("Location") == nil)
            }
            // The other way round: the challenge of a page logs no app in.
            let answer = try await scene.server.logIn(scene.assertion(page))
            #expect(answer.status == 400)
            // Not from another browser with the same form, which leaves the challenge good.
            let credential = try scene.assertion(page)
            #expect(await scene.submit(page, credential, in: other).status == 200)
            #expect(try Redirect(await scene.submit(page, credential))["code"] != nil)
            // Once.
            #expect(await scene.submit(page, credential).status == 422)
        }
    }

    @Test func aPageStaysGoodForAnHour() async throws {
        try await Self.with { scene in
            let page = try await scene.login.page(scene.browser)
            scene.server.moveClock(to: 3500)
            #expect(try Redirect(await scene.submit(page, try scene.assertion(page)))["code"] != nil)
        }
    }

    @Test func aWrongPasskeyIsSaidOnThePage() async throws {
        try await Self.with { scene in
            var stranger = scene.authenticator
            stranger.key = SigningKey.generate(.es256)
            let page = try await scene.login.page(scene.browser)
            let wrong = await scene.submit(page, stranger.assert(try page.challenge()))
            #expect(wrong.status == 422)
            #expect(wrong.text.contains("not accepted"))
            #expect(await scene.submit(page, nil).status == 422)
            // The page that says so works.
            let next = try Page(wrong)
            #expect(try Redirect(await scene.submit(next, try scene.assertion(next)))["code"] != nil)
        }
    }

    @Test("'Not you?' is still true after a passkey that was refused, and without another press")
    func notYou() async throws {
        try await Self.with(more: #","browser_session":"client""#) { scene in
            _ = try await scene.login.code(scene.browser)
            let page = try await scene.login.page(scene.browser, ["prompt": "login"])
            let link = try #require(page.answer.text.firstMatch(of: #/href="(\/login\?[^"]*account=none)"/#))
            let other = try Page(await scene.browser.get(String(link.1).replacing("&amp;", with: "&")))
            let refused = await scene.submit(other, nil)
            let again = await scene.browser.get("/login?r=\(try Page(refused).request)")
            for shown in [other.answer, refused, again] {
                #expect(shown.text.contains(#"name="username""#) && !shown.text.contains("anna"), "\(shown.text)")
            }
        }
    }

    @Test func anotherUserAndADisabledUserAreRefused() async throws {
        try await Self.with { scene in
            _ = await scene.server.admin(
                .post, "/admin/v1/users", #"{"username":"berta","password":"\#(EndpointsFixture.password)"}"#)
            let other = await scene.login.submit(
                scene.browser, try await scene.login.page(scene.browser), username: "berta")
            let code = try #require(Redirect(other)["code"])
            let hint = try #require(await scene.login.exchange(code).string("id_token"))
            let refusal = try Redirect(try await scene.logIn(["id_token_hint": hint]))
            #expect(refusal["error"] == "login_required")
            _ = await scene.server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
            let refused = try await scene.logIn()
            #expect(refused.status == 403)
            #expect(await scene.server.passkeyEvents(of: scene.tokens.userID).count == 1)
        }
    }

    @Test func whatIsOddAboutThePasskeyIsAcceptedAndAudited() async throws {
        try await Self.with { scene in
            var moved = scene
            moved.authenticator.signCount = 7
            let first = try Redirect(try await moved.logIn())
            #expect(first["code"] != nil)
            moved.authenticator.signCount = 3
            moved.authenticator.flags = SoftAuthenticator.synced
            let second = try Redirect(try await moved.logIn())
            #expect(second["code"] != nil)
            let events = await scene.server.passkeyEvents(of: scene.tokens.userID)
            #expect(events.last?.hasPrefix("passkey_changed") == true)
            #expect(events.last?.hasSuffix("counter backup") == true, "\(events)")
        }
    }

    @Test func theBrowsersSessionIsReusedOnlyWherePasskeysAreAllowed() async throws {
        try await Self.with(more: #","browser_session":"shared""#) { scene in
            _ = try await scene.server.makeClient(
                #"""
                {"client_id":"strict","grant_types":["authorization_code","refresh_token"],"scope":"openid","login_methods":["passkey"],
                 "browser_session":"shared","redirect_uris":["com.example.app:/callback"]}
                """#)
            let strict = ["client_id": "strict", "scope": "openid"]
            // A session by password does not open a client that takes passkeys only.
            _ = try await scene.login.code(scene.browser)
            let silent = strict.merging(["prompt": "none"]) { $1 }
            #expect(try Redirect(await scene.browser.get(PageLoginFixture.url(silent)))["error"] == "login_required")
            #expect(try Redirect(try await scene.logIn(strict))["code"] != nil)
            #expect(try Redirect(await scene.browser.get(PageLoginFixture.url(silent)))["code"] != nil)
        }
    }
}

extension Page {
    /// The challenge of the passkey button.
    func challenge() throws -> [UInt8] {
        let options = try Self.passkeyOptions(in: answer.text)
        return try #require(options["challenge"]?.string.flatMap { Base64URL.decode($0) })
    }

    /// The options of a passkey button.
    static func passkeyOptions(in text: String) throws -> [String: JSONValue] {
        let start = try #require(text.firstRange(of: "data-options=\""))
        let text = String(text[start.upperBound...].prefix { $0 != "\"" }).replacing("&quot;", with: "\"")
            .replacing("&#34;", with: "\"")
        return try StrictJSON.object(Array(text.utf8))
    }
}
