import Cryptography
import HTTP
import JSON
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The offer of a passkey after a login by password on the page.
@Suite struct PasskeyOfferTests {
    private static let cookie = "__Host-sojourn-offered"
    private static let policy = PasskeyPolicy(rpID: "example.org", origins: ["https://example.org"])

    /// Gives `body` a client with logins by password and passkey, and anna's phone.
    private static func with(
        _ session: String = "shared", methods: String = #"["password","passkey"]"#,
        _ body: (PageLoginFixture, Browser, Tokens) async throws -> Void
    ) async throws {
        let more = #","login_methods":\#(methods),"browser_session":"\#(session)""#
        try await PageLoginFixture.with(more, passkeys: policy) { login in
            try await body(login, Browser(login.server), try await login.server.logIn())
        }
    }

    /// Logs in by password in a browser that makes passkeys.
    private static func logIn(
        _ login: PageLoginFixture, _ browser: Browser, _ changes: [String: String?] = [:], offer: String = "1"
    ) async throws -> Answer {
        let page = try await login.page(browser, changes)
        return await browser.post(
            "/login/password",
            [
                "r": page.request, "csrf": page.csrf, "username": "anna", "password": EndpointsFixture.password,
                "offer": offer,
            ])
    }

    private static func take(
        _ answer: Answer, _ credential: String? = nil, in browser: Browser
    ) async throws -> Answer {
        let page = try Page(answer)
        var form = ["r": page.request, "csrf": try #require(page.token(of: "/login/offer"))]
        if let credential { form["credential"] = credential }
        return await browser.post("/login/offer", form)
    }

    private static func hasCode(_ answer: Answer) -> Bool { answer.field("Location")?.contains("code=") == true }

    private static func authenticator(_ phone: Tokens) -> SoftAuthenticator {
        SoftAuthenticator(credentialID: [4, 2], userHandle: Hex.decode(phone.userID))
    }

    @Test("the passkey is added, the app gets its code, and the passkey logs in") func added() async throws {
        try await Self.with { login, browser, phone in
            let offer = try await Self.logIn(login, browser)
            #expect(offer.status == 200 && offer.text.contains("Sign in faster next time"))
            #expect(browser.cookies[Self.cookie] == "1")
            let cookies = offer.response.fields.values("Set-Cookie")
            #expect(cookies.contains { $0.hasPrefix(Self.cookie) && $0.hasSuffix("Max-Age=2592000") })
            let authenticator = Self.authenticator(phone)
            let credential = authenticator.register(try Page(offer).challenge())
            let text = try #require(JSONValue.object(credential).compactText)
            // A form that is sent twice adds one passkey, and each answer goes on to the app.
            let first = try Redirect(try await Self.take(offer, text, in: browser))
            let code = try #require(first["code"])
            let repeated = try await Self.take(offer, text, in: browser)
            #expect(try Redirect(repeated)["code"] != nil)
            #expect(first["state"] != nil)
            let tokens = await login.exchange(code)
            #expect(tokens.status == 200, "\(tokens.text)")
            let claims = try tokenParts(try #require(tokens.string("id_token"))).claims
            #expect(claims["amr"] == .array([.string("pwd")]))
            #expect(await login.server.passkeyEvents(of: phone.userID).count == 1)
            #expect(try await login.server.logIn(by: authenticator).status == 200)
        }
    }

    @Test("without the passkey the app gets its code, and the browser is not asked again") func notNow() async throws {
        try await Self.with("client") { login, browser, phone in
            let offer = try await Self.logIn(login, browser)
            let taken = try await Self.take(offer, in: browser)
            #expect(try Redirect(taken)["code"] != nil)
            browser.plant("__Host-sojourn-session", "x")
            let later = try await Self.logIn(login, browser)
            #expect(try Redirect(later)["code"] != nil)
            #expect(await login.server.passkeyEvents(of: phone.userID).isEmpty)
        }
    }

    @Test(
        "no offer holds up a login that cannot use it",
        arguments: [
            ("shared", #"["password"]"#, [:], "1"), ("none", #"["password","passkey"]"#, [:], "1"),
            ("shared", #"["password","passkey"]"#, ["prompt": "login"], "1"),
            ("shared", #"["password","passkey"]"#, ["max_age": "0"], "1"),
            ("shared", #"["password","passkey"]"#, [:], ""), ("shared", #"["password","passkey"]"#, [:], "x"),
        ] as [(String, String, [String: String?], String)])
    func none(_ session: String, _ methods: String, _ changes: [String: String?], _ offer: String) async throws {
        try await Self.with(session, methods: methods) { login, browser, _ in
            let answer = try await Self.logIn(login, browser, changes, offer: offer)
            #expect(try Redirect(answer)["code"] != nil)
            #expect(browser.cookies[Self.cookie] == nil)
        }
    }

    @Test("a user with a passkey is not asked") func known() async throws {
        try await Self.with { login, browser, phone in
            _ = try await login.server.passkey(of: phone)
            let answer = try await Self.logIn(login, browser)
            #expect(try Redirect(answer)["code"] != nil)
        }
    }

    @Test("a fault of the passkey is said, and the login goes on", arguments: ["x", "{}", #"{"id":"AQ"}"#])
    func wrong(_ text: String) async throws {
        try await Self.with { login, browser, phone in
            let offer = try await Self.logIn(login, browser)
            let refused = try await Self.take(offer, text, in: browser)
            #expect(refused.status == 422 && refused.text.contains("could not be added"))
            let foreign = Self.authenticator(phone).register(try await login.server.challenge(for: phone.access))
            let other = try await Self.take(refused, JSONValue.object(foreign).compactText, in: browser)
            #expect(other.status == 422)
            let taken = try await Self.take(other, in: browser)
            #expect(try Redirect(taken)["code"] != nil)
            #expect(await login.server.passkeyEvents(of: phone.userID).isEmpty)
        }
    }

    @Test("another browser, a stale token and an ended session get no code and add nothing")
    func guarded() async throws {
        try await Self.with { login, browser, phone in
            let offer = try await Self.logIn(login, browser)
            let page = try Page(offer)
            let credential = Self.authenticator(phone).register(try page.challenge())
            let text = try #require(JSONValue.object(credential).compactText)
            let stranger = Browser(login.server)
            let form = ["r": page.request, "csrf": page.token(of: "/login/offer") ?? "", "credential": text]
            #expect(!Self.hasCode(await stranger.post("/login/offer", form)))
            var forged = form
            forged["csrf"] = page.token(of: "/oauth/logout") ?? "x"
            #expect(!Self.hasCode(await browser.post("/login/offer", forged)))
            #expect(await browser.post("/login/offer", form, fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
            _ = await login.server.admin(.post, "/admin/v1/users/username:anna/revoke")
            let ended = await browser.post("/login/offer", form)
            #expect(!Self.hasCode(ended) && ended.status == 200)
            #expect(await login.server.passkeyEvents(of: phone.userID).isEmpty)
        }
    }

    @Test("no passkey is added while the user has paused logins")
    func paused() async throws {
        try await Self.with { login, browser, phone in
            let offer = try await Self.logIn(login, browser)
            let credential = Self.authenticator(phone).register(try Page(offer).challenge())
            let pause = #"{"logins_disabled":true}"#
            #expect(await login.server.call(.put, "/v1/me/login-settings", pause, bearer: phone.access).status == 200)
            let answer = try await Self.take(offer, JSONValue.object(credential).compactText, in: browser)
            #expect(!Self.hasCode(answer) && answer.status == 200, "\(answer.text)")
            #expect(await login.server.passkeyEvents(of: phone.userID).isEmpty)
        }
    }

    @Test("R8: a browser that a phone has let in adds no passkey for a day, by the offer or on the page of the account")
    func probation() async throws {
        try await Self.with(methods: #"["password","phone","passkey"]"#) { login, browser, phone in
            let waiting = try await PhonePageFixture.begin(login, browser)
            try await waiting.approveByScan(phone)
            let finished = try await waiting.finish()
            #expect(Self.hasCode(finished))
            let account = AccountPages(login.server, browser)
            let page = AccountPage(await browser.get("/account/security"))
            let credential = Self.authenticator(phone).register(try page.challenge())
            let text = try #require(JSONValue.object(credential).compactText)
            let onAccount = try await account.send("/account/passkeys", of: page, ["act": "add", "credential": text])
            #expect(onAccount.status == 403, "\(onAccount.status)")
            // The token of the form can be made from the cookie, which the browser has.
            let flow = try #require(browser.cookies["__Host-sojourn-flow"].flatMap { FlowSecret($0) })
            let sealed = try await login.page(browser, ["prompt": "login"]).request
            let form = ["r": sealed, "csrf": flow.formToken("/login/offer", sealed), "credential": text]
            #expect(await browser.post("/login/offer", form).status == 403)
            // A login by password in this browser goes on without an offer.
            let again = try await Self.logIn(login, browser, ["prompt": "login"])
            #expect(Self.hasCode(again) && browser.cookies[Self.cookie] == nil)
            #expect(await login.server.passkeyEvents(of: phone.userID).isEmpty)
        }
    }
}
