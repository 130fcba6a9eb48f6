import HTTP
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// The known attacks on a login by browser, each against every page that it concerns. The rows come from the table of routes, so
/// that a new page is attacked as well.
@Suite struct LoginAttackTests {
    private static let mine = #","browser_session":"client","post_logout_redirect_uris":["https://app.example/bye"]"#
    /// The pages of users. Those of admins are on another listener, and have tests of their own.
    private static let pages = Route.all.filter { $0.errorFormat == .page && $0.listeners != .admin }
    private static let sent = pages.filter { $0.method == .post }
    private static let shown = pages.filter { $0.method == .get }
    /// A POST of the authorization endpoint is a request, and not a form of a page (OpenID Connect Core section 3.1.2.1).
    private static let forms = sent.filter { $0.pattern != "/oauth/authorize" }

    /// Texts that end a value, an element, a line or a path, if nothing prevents them.
    private static let hostile = [
        "\"><x-evil>", "' x-evil='", "</title><x-evil>", "</textarea><x-evil>", "<x-evil", "javascript:x-evil()",
        "a\r\nSet-Cookie: x-evil=1\r\n\r\n<x-evil>", "\u{202E}x-evil", "//x-evil.example", "\\\\x-evil.example",
        "%3Cx-evil%3E", "&lt;x-evil&gt;", String(repeating: "é", count: 5000),
    ]

    /// The fields of all forms and the parameters of all pages.
    private static let fields = [
        "r", "csrf", "username", "password", "remember", "credential", "new_password", "token", "which", "session",
        "pause",
        "effective", "end_sessions", "act", "passkey", "name", "user_code", "decision", "account",
        "state", "nonce", "scope", "prompt", "max_age", "acr_values", "ui_locales", "login_hint", "id_token_hint",
        "client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "resource",
        "dpop_jkt", "request_uri", "request", "post_logout_redirect_uri", "code", "error", "iss", "cursor", "done",
    ]

    private func expectHarmless(_ answer: Answer, _ what: String) {
        #expect(answer.status < 500, "\(what): \(answer.status)")
        let text = answer.text.lowercased()
        #expect(!text.contains("<x-evil") && !text.contains("' x-evil='"), "\(what)")
        for (name, value) in answer.response.fields {
            #expect(!value.contains("\r") && !value.contains("\n"), "\(what): \(name)")
            #expect(name.lowercased() != "set-cookie" || !value.hasPrefix("x-evil"), "\(what)")
        }
        if let location = answer.field("Location") {
            let host = location.hasPrefix("https://") ? location.dropFirst(8).prefix { !"/?#".contains($0) } : ""
            #expect(!host.contains("evil") && !location.hasPrefix("//") && !location.hasPrefix("javascript"), "\(what)")
        }
    }

    @Test("hostile strings in every field of every page stay texts", arguments: shown + sent)
    func hostileStrings(_ route: Route) async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let account = AccountPages(login.server)
            _ = try await account.open()
            let base = route.pattern == "/oauth/authorize" ? PageLoginFixture.parameters() : [:]
            func send(_ form: [String: String]) async -> Answer {
                let form = base.merging(form) { $1 }
                if route.method == .post { return await account.browser.post(route.pattern, form) }
                return await account.browser.get(route.pattern + "?" + Browser.encoded(form))
            }
            for (index, field) in Self.fields.enumerated() {
                for text in [Self.hostile[0], Self.hostile[index % Self.hostile.count]] {
                    expectHarmless(await send([field: text]), field)
                }
            }
            for text in Self.hostile {
                expectHarmless(await send(Dictionary(uniqueKeysWithValues: Self.fields.map { ($0, text) })), "all")
            }
        }
    }

    @Test("hostile strings in the fields of a right form are shown again as texts", arguments: hostile.indices)
    func hostileStringsInARightForm(_ number: Int) async throws {
        let text = Self.hostile[number]
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            // What the app sends along comes back to the app, whole.
            let page = try await login.page(browser, ["state": text.utf8.count < 1000 ? text : "s", "login_hint": "x"])
            expectHarmless(page.answer, "page")
            let refused = await login.submit(browser, page, username: text, password: text)
            expectHarmless(refused, "username")
            #expect(refused.status == 422 || refused.status == 400)
            let answer = await login.submit(browser, page, more: ["remember": text])
            expectHarmless(answer, "remember")
            if text.utf8.count < 1000 { #expect(try Redirect(answer)["state"] == text) }
        }
    }

    @Test("open redirect: a browser goes to registered addresses and to this server only")
    func openRedirect() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let evil = [
                "https://evil.example/", "//evil.example", "https://app.example.evil.example/cb", "javascript:alert(1)",
                "https://app.example@evil.example/cb", "https://app.example/cb?a=1&b=2", "https://app.example/cb?a=1#x",
                "com.example.app:/callback/../x", "com.example.app://evil.example/callback", "http://127.0.0.1.evil/cb",
                "http://127.0.0.1@evil.example/cb", "HTTPS://app.example/cb?a=1", " https://app.example/cb?a=1",
            ]
            for uri in evil {
                for changes in [["redirect_uri": uri], ["redirect_uri": uri, "prompt": "none"]] {
                    let answer = await browser.get(PageLoginFixture.url(changes))
                    #expect(answer.status == 400 && answer.field("Location") == nil, "\(uri)")
                }
                let query = Browser.encoded(["client_id": "shop", "post_logout_redirect_uri": uri])
                let answer = await browser.get("/oauth/logout?\(query)")
                #expect(answer.status == 200 && answer.field("Location") == nil, "\(uri)")
                for name in ["next", "return", "continue", "url", "redirect_uri", "r"] {
                    let open = await browser.get("/account?\(Browser.encoded([name: uri]))")
                    #expect(open.field("Location")?.hasPrefix(EndpointsFixture.issuer + "/login?r=") == true)
                }
            }
        }
    }

    @Test("mix-up: each answer to a client names the issuer, right or wrong")
    func mixUp() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let code = try Redirect(await login.submit(browser, try await login.page(browser)))
            #expect(code["code"] != nil && code["iss"] == EndpointsFixture.issuer)
            for changes in [
                ["prompt": "none", "max_age": "0"], ["response_type": "token"], ["scope": "admin"],
                ["acr_values": "phr"],
                ["code_challenge_method": "plain"], ["prompt": "none"],
            ] {
                let answer = try Redirect(await browser.get(PageLoginFixture.url(changes)))
                #expect(answer["iss"] == EndpointsFixture.issuer, "\(changes)")
            }
            let metadata = await login.server.call(.get, "/.well-known/openid-configuration")
            #expect(metadata.bool("authorization_response_iss_parameter_supported") == true)
        }
    }

    @Test("code injection: a code is worth nothing to another request, client, redirect URI or key")
    func codeInjection() async throws {
        try await PageLoginFixture.with { login in
            _ = try await login.server.makeClient(
                #"""
                {"client_id":"other","grant_types":["authorization_code","refresh_token"],"scope":"openid",
                 "redirect_uris":["com.example.app:/callback"]}
                """#)
            let stolen = try await login.code()
            let own = String(repeating: "v", count: 43)
            for changes in [
                ["code_verifier": own], ["code_verifier": ""], ["client_id": "other"],
                ["redirect_uri": "http://127.0.0.1/cb"], ["redirect_uri": ""], ["code": stolen + "A"],
                ["code": String(stolen.dropLast())], ["code": "sjc_" + stolen.dropFirst(4).uppercased()],
            ] {
                let answer = await login.exchange(stolen, changes)
                #expect(answer.status == 400 && answer.string("access_token") == nil, "\(changes)")
            }
            // None of these has used it up, or ended anything.
            #expect(await login.exchange(stolen).status == 200)
        }
    }

    @Test("CSRF: no form of another site, or without the page's token, does anything", arguments: forms.map(\.pattern))
    func crossSiteForms(_ pattern: String) async throws {
        var accounts = AccountRules()
        accounts.signUp = .open
        try await EndpointsFixture.withPasskeys(mails: MailWaker(), accounts: accounts) { server in
            let account = AccountPages(server)
            _ = try await account.open()
            let before = server.environment.writes.load(ordering: .relaxed)
            let form = Dictionary(uniqueKeysWithValues: Self.fields.map { ($0, "1") })
            for fields: Fields in [
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "https://evil.example"],
                ["Origin": "null"],
            ] {
                let answer = await account.browser.post(pattern, form, fields: fields)
                #expect(answer.status == 403, "\(fields): \(answer.status)")
            }
            var guess = form
            guess["which"] = "all"
            let answer = await account.browser.post(pattern, guess)
            #expect(answer.status < 500)
            #expect(server.environment.writes.load(ordering: .relaxed) == before)
            #expect(await account.browser.get("/account").status == 200, "the session goes on")
        }
    }

    @Test("login CSRF: a page of a stranger starts no session")
    func loginCSRF() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let (mallory, victim) = (Browser(login.server), Browser(login.server))
            let page = try await login.page(mallory)
            _ = try await login.page(victim)
            // Mallory's form, sent by the victim's browser as from this very page, with mallory's right password.
            let answer = await login.submit(victim, page)
            #expect(answer.status == 200 && answer.field("Location") == nil)
            #expect(victim.cookies[AccountPages.cookie] == nil)
        }
    }

    @Test("clickjacking: no page may stand in a frame, nor tell another site where it came from", arguments: shown)
    func frames(_ route: Route) async throws {
        try await EndpointsFixture.withPasskeys { server in
            let account = AccountPages(server)
            _ = try await account.open()
            let answer = await account.browser.get(route.pattern)
            let fields = answer.response.fields
            if answer.status == 303 { return }
            #expect(fields.first("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
            #expect(fields.first("Referrer-Policy") == "no-referrer")
            #expect(fields.first("Cache-Control") == "no-store")
            #expect(fields.first("Cross-Origin-Opener-Policy") == "same-origin")
        }
    }

    @Test("session fixation: cookies of a stranger become no other user's session")
    func sessionFixation() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            _ = await login.server.admin(
                .post, "/admin/v1/users", #"{"username":"mallory","password":"another long horse"}"#)
            let mallory = Browser(login.server)
            _ = await login.submit(
                mallory, try await login.page(mallory), username: "mallory", password: "another long horse")
            let planted = try #require(mallory.cookies[AccountPages.cookie])
            let victim = Browser(login.server)
            for (name, value) in mallory.cookies { victim.plant(name, value) }
            let answer = await login.submit(victim, try await login.page(victim, ["prompt": "login"]))
            #expect(try Redirect(answer)["code"] != nil)
            let own = try #require(victim.cookies[AccountPages.cookie])
            #expect(own != planted, "another session")
            // The stranger's cookie does not open the victim's account, and is over.
            #expect(await mallory.get("/account").status == 303)
            #expect(await victim.get("/account").text.contains("anna"))
            for forged in ["", "sjb_", own + "A", String(own.dropLast()), planted.uppercased()] {
                let other = Browser(login.server)
                other.plant(AccountPages.cookie, forged)
                #expect(await other.get("/account").status == 303, "\(forged)")
            }
        }
    }
}
