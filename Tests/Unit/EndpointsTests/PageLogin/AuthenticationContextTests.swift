import HTTP
import JSON
import Testing

@testable import Endpoints

/// `acr_values`, `max_age` and `prompt`: how, how lately and under which name the user has to log in.
@Suite struct AuthenticationContextTests {
    private static let methods = #"["password","passkey"]"#
    private static let mine = #","browser_session":"client""#

    private func claims(
        _ login: PageLoginFixture, _ answer: Answer, device: String = "phone-1"
    ) async throws -> (id: Answer, access: Answer) {
        let code = try #require(Redirect(answer)["code"], "\(answer.text)")
        let tokens = await login.exchange(code, ["device_id": device])
        return (
            try Answer.claims(of: try #require(tokens.string("id_token"), "\(tokens.text)")),
            try Answer.claims(of: try #require(tokens.string("access_token")))
        )
    }

    @Test(
        "the ID token names the way, in the word that the request prefers",
        arguments: [
            (nil, "phr", "password"), ("phr", "phr", nil), ("presence", "presence", nil), ("password", nil, "password"),
            ("presence phr password", "presence", "password"), ("urn:gold phr", "phr", nil),
            ("urn:gold 1 2", "phr", "password"),
        ] as [(String?, String?, String?)])
    func theIDTokenNamesTheWay(_ values: String?, _ byPasskey: String?, _ byPassword: String?) async throws {
        try await PasskeyOnPageTests.with(Self.methods) { scene in
            let page = try await scene.login.page(scene.browser, ["acr_values": values])
            #expect(page.answer.text.contains("data-options=") == (byPasskey != nil))
            #expect(page.answer.text.contains("name=\"password\"") == (byPassword != nil))
            if let byPasskey {
                let answer = await scene.submit(page, try scene.assertion(page))
                #expect(try await claims(scene.login, answer).id.string("acr") == byPasskey)
            } else {
                // A form that the page does not have is not taken.
                let csrf = try scene.token(of: "/login/passkey", page)
                let answer = await scene.submit(page, nil, more: ["csrf": csrf, "credential": "{}"])
                #expect(answer.status == 200)
            }
            let again = try await scene.login.page(scene.browser, ["acr_values": values])
            let csrf = try scene.token(of: "/login/password", again)
            let answer = await scene.login.submit(scene.browser, again, more: ["csrf": csrf])
            if let byPassword {
                #expect(try await claims(scene.login, answer, device: "phone-2").id.string("acr") == byPassword)
            } else {
                #expect(answer.status == 200 && answer.field("Location") == nil)
            }
        }
    }

    @Test("a demand that no login of the client can meet is refused, also when the request is pushed")
    func anUnmetDemandIsRefused() async throws {
        try await PageLoginFixture.with(#","login_methods":["password"]"#) { login in
            for values in ["phr", "presence", "id_token phr", "urn:gold phr"] {
                let answer = try Redirect(await Browser(login.server).get(PageLoginFixture.url(["acr_values": values])))
                #expect(answer["error"] == "unmet_authentication_requirements")
                #expect(answer["state"] == "a b&c=d" && answer["iss"] == EndpointsFixture.issuer)
                let pushed = await login.server.form(
                    "/oauth/par", Browser.encoded(PageLoginFixture.parameters(["acr_values": values])))
                #expect(pushed.status == 400 && pushed.string("error") == "unmet_authentication_requirements")
            }
            let metadata = await login.server.call(.get, "/.well-known/openid-configuration")
            let values = ["phr", "presence", "password", "id_token", "phone", "email", "mfa"]
            #expect(metadata.strings("acr_values_supported") == values)
        }
    }

    @Test("a server without passkeys does not lead into a page without a way")
    func aServerWithoutPasskeys() async throws {
        try await PageLoginFixture.with(#","login_methods":["password","passkey"]"#) { login in
            let answer = try Redirect(await Browser(login.server).get(PageLoginFixture.url(["acr_values": "phr"])))
            #expect(answer["error"] == "unmet_authentication_requirements")
            #expect(try await login.page(Browser(login.server), ["acr_values": "phr password"]).answer.status == 200)
        }
    }

    @Test("a browser that was let in by password steps up by a passkey, and remembers both")
    func aBrowserStepsUp() async throws {
        try await PasskeyOnPageTests.with(Self.methods, more: Self.mine) { scene in
            let (login, browser) = (scene.login, scene.browser)
            func silent(_ changes: [String: String?]) async throws -> Redirect {
                try Redirect(
                    await browser.get(PageLoginFixture.url(changes.merging(["prompt": "none"]) { given, _ in given })))
            }
            _ = try await login.code(browser)
            let cookie = browser.cookies["__Host-sojourn-session"]
            #expect(try await silent(["acr_values": "phr"])["error"] == "login_required")
            #expect(try await silent(["acr_values": "phr password"])["code"] != nil)
            login.server.moveClock(to: 600)
            _ = try await scene.logIn(["acr_values": "phr"])
            #expect(browser.cookies["__Host-sojourn-session"] == cookie, "the session goes on")
            login.server.moveClock(to: 700)
            let rows: [(changes: [String: String?], acr: String, amr: [String], at: Int64)] = [
                (["acr_values": "phr"], "phr", ["hwk", "user", "mfa"], 600),
                (["acr_values": "presence"], "presence", ["hwk", "user", "mfa"], 600),
                (["acr_values": "password phr"], "password", ["pwd"], 0),
                (["acr_values": "password phr", "max_age": "100"], "phr", ["hwk", "user", "mfa"], 600),
                ([:], "phr", ["hwk", "user", "mfa"], 600),
            ]
            for (index, row) in rows.enumerated() {
                let code = try #require(try await silent(row.changes)["code"], "\(row)")
                let tokens = await login.exchange(code, ["device_id": "d\(index)"])
                let claims = try Answer.claims(of: try #require(tokens.string("id_token")))
                #expect(claims.string("acr") == row.acr && claims.strings("amr") == row.amr, "\(row)")
                #expect(claims.integer("auth_time") == EndpointsFixture.start + row.at, "\(row)")
            }
            for changes in [
                ["max_age": "99"], ["acr_values": "password", "max_age": "699"], ["acr_values": "id_token"],
            ] {
                let error = try await silent(changes)["error"]
                #expect(
                    error
                        == (changes["acr_values"] == "id_token"
                            ? "unmet_authentication_requirements" : "login_required"))
            }
        }
    }

    @Test("auth_time is the time of the user's authentication at the provider, and max_age counts from it")
    func authTimeIsTheProviders() async throws {
        try await ProviderOnPageTests.with(Self.mine) { scene in
            let (start, login) = (EndpointsFixture.start, scene.login)
            let answer = try await scene.logIn(#"{"auth_time":\#(start - 500),"amr":["pwd"]}"#, ["max_age": "1000"])
            let (id, access) = try await claims(login, answer)
            #expect(id.integer("auth_time") == start - 500)
            #expect(id.string("acr") == "id_token", "the provider's own password is not one of this server")
            let sessions = await login.server.admin(.get, "/admin/v1/sessions/\(access.string("sid") ?? "")")
            #expect(sessions.integer("started_at") == start, "\(sessions.text)")
            login.server.moveClock(to: 500)
            func silent(_ maxAge: String) async throws -> Redirect {
                try Redirect(await scene.browser.get(PageLoginFixture.url(["prompt": "none", "max_age": maxAge])))
            }
            #expect(try await silent("999")["error"] == "login_required")
            let code = try #require(try await silent("1000")["code"])
            let again = await login.exchange(code, ["device_id": "phone-2"])
            let claims = try Answer.claims(of: try #require(again.string("id_token")))
            #expect(claims.integer("auth_time") == start - 500)
        }
    }
}

/// `prompt=select_account`.
@Suite struct AccountChoiceTests {
    private static let mine = #","browser_session":"client""#

    /// Gives `body` a browser with a session of anna, and another user.
    private func withSession(_ body: (PageLoginFixture, Browser) async throws -> Void) async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            _ = await login.server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            try await body(login, browser)
        }
    }

    private func choice(_ login: PageLoginFixture, _ browser: Browser) async throws -> Page {
        try await login.page(browser, ["prompt": "select_account"])
    }

    @Test("a browser with a session offers its account, and one press goes on")
    func theAccountIsOffered() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            _ = try await login.code(browser)
            login.server.moveClock(to: 60)
            let before = login.writes
            let page = try await choice(login, browser)
            #expect(page.answer.text.contains("anna") && page.answer.text.contains("action=\"/login/account\""))
            #expect(!page.answer.text.contains("name=\"password\"") && login.writes == before)
            let answer = await browser.post("/login/account", ["r": page.request, "csrf": page.csrf])
            let redirect = try Redirect(answer)
            #expect(redirect["state"] == "a b&c=d" && redirect["iss"] == EndpointsFixture.issuer)
            let tokens = await login.exchange(try #require(redirect["code"]))
            let claims = try Answer.claims(of: try #require(tokens.string("id_token")))
            #expect(claims.integer("auth_time") == EndpointsFixture.start)
        }
    }

    @Test("another account is one link away, and takes its place")
    func anotherAccountIsPossible() async throws {
        try await withSession { login, browser in
            let page = try await choice(login, browser)
            let other = try Page(await browser.get("/login?account=none&r=\(page.request)"))
            #expect(other.answer.text.contains("name=\"password\"") && !other.answer.text.contains("anna"))
            let answer = await login.submit(browser, other, username: "bert", password: "another long horse")
            #expect(try Redirect(answer)["code"] != nil)
            #expect(try await choice(login, browser).answer.text.contains("bert"))
        }
    }

    @Test("the button goes on with the account that was shown, and not with one that has come meanwhile")
    func anotherTab() async throws {
        try await withSession { login, browser in
            let shown = try await choice(login, browser)
            let other = try await login.page(browser, ["prompt": "login"])
            let answer = await login.submit(browser, other, username: "bert", password: "another long horse")
            #expect(try Redirect(answer)["code"] != nil)
            let asked = await browser.post("/login/account", ["r": shown.request, "csrf": shown.csrf])
            #expect(asked.status == 200 && asked.text.contains("bert") && asked.text.contains("once more"))
            let next = try Page(asked)
            let pressed = await browser.post("/login/account", ["r": next.request, "csrf": next.csrf])
            #expect(try Redirect(pressed)["code"] != nil)
        }
    }

    @Test("without a session that may answer, the page asks")
    func withoutASessionThePageAsks() async throws {
        for more in ["", Self.mine] {
            try await PageLoginFixture.with(more) { login in
                let browser = Browser(login.server)
                if more.isEmpty { _ = try await login.code(browser) }
                #expect(try await choice(login, browser).answer.text.contains("name=\"password\""))
                // The account was never offered, so that the form is not taken.
                let page = try await login.page(browser)
                let flow = try #require(browser.cookies["__Host-sojourn-flow"].flatMap { FlowSecret($0) })
                let csrf = flow.formToken("/login/account", page.request)
                let answer = await browser.post("/login/account", ["r": page.request, "csrf": csrf])
                #expect(answer.status == 200 && answer.field("Location") == nil)
            }
        }
    }

    @Test("the choice needs the page's token, this origin and a session that lives")
    func theChoiceIsGuarded() async throws {
        try await PageLoginFixture.with(Self.mine) { login in
            let browser = Browser(login.server)
            let tokens = try Tokens(await login.exchange(try await login.code(browser)))
            let page = try await choice(login, browser)
            let form = ["r": page.request, "csrf": page.csrf]
            #expect(await browser.post("/login/account", form, fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
            let stale = await browser.post("/login/account", ["r": page.request, "csrf": "x"])
            #expect(stale.status == 200 && stale.text.contains("action=\"/login/account\""), "shown again")
            #expect(await login.server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)").status == 204)
            let late = await browser.post("/login/account", form)
            #expect(late.status == 200 && late.text.contains("name=\"password\""))
            #expect(try await choice(login, browser).answer.text.contains("name=\"password\""))
        }
    }
}
