import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Forms of pages that are open to every visitor, in a browser that keeps no cookie.
struct PageFormTests {
    /// A browser without cookies: each request is that of a new one.
    private struct Cookieless {
        let server: EndpointsFixture

        func get(_ path: String) async -> Answer { await Browser(server).get(path) }
        func post(_ path: String, _ form: [String: String]) async -> Answer { await Browser(server).post(path, form) }
    }

    /// The hidden fields of the form that goes to `path`.
    private func hidden(_ path: String, _ answer: Answer) -> [String: String] {
        guard let start = answer.text.firstRange(of: "action=\"\(path)\"") else { return [:] }
        let rest = answer.text[start.upperBound...]
        let form = rest[..<(rest.firstRange(of: "</form>")?.lowerBound ?? rest.endIndex)]
        let fields = form.matches(of: #/<input type="hidden" name="([^"]*)" value="([^"]*)">/#)
        return Dictionary(fields.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }

    @Test(
        "A browser that keeps no cookies is asked to press once more, and then told the reason",
        arguments: ["/login/password", "/login/phone", "/login/app", "/reset", "/not-me"])
    func blockedCookies(_ path: String) async throws {
        try await PhonePageFixture.with(PhoneBrowserTests.shared) { waiting, phone in
            let browser = Cookieless(server: waiting.server)
            let page: String
            switch path {
            case "/login/app", "/reset": page = path
            case "/not-me":
                try await waiting.approveByScan(phone)
                let code = try #require(try Redirect(try await waiting.finish())["code"])
                let tokens = try Tokens(await waiting.hosted.exchange(code))
                let id = try #require(Identifier<Session>(tokens.sessionID))
                page = waiting.server.context.notMeURL(of: id)
            default: page = try #require(await browser.get(PageLoginFixture.url()).field("Location"))
            }
            var form = hidden(path, await browser.get(page))
            let typed = ["username": "anna", "password": "x", "token": "typed", "end_sessions": "1"]
            let again = await browser.post(path, form.merging(typed) { $1 })
            #expect(again.status == 200 && again.text.contains("Please press once more"), "\(again.text)")
            form = hidden(path, again)
            #expect(form["again"] == "1")
            let told = await browser.post(path, form.merging(typed) { $1 })
            #expect(told.status == 422 && told.text.contains("blocks the cookies of this site"), "\(told.text)")
            // Nothing that was typed is lost, but the password.
            #expect(!told.text.contains(#"value="x""#))
            let kept =
                switch path {
                case "/login/password": #"value="anna""#
                case "/not-me": #"name="end_sessions" value="1" checked"#
                case "/login/phone": "/login/phone"
                default: #"value="typed""#
                }
            #expect(told.text.contains(kept), "\(told.text)")
            // With cookies the page works.
            let kind = Browser(waiting.server)
            _ = await kind.get(page)
            let stale = await kind.post(path, hidden(path, told))
            #expect(stale.text.contains("Please press once more"))
        }
    }

    @Test("The page of a device names its program, its place and what it gets in plain words")
    func device() async throws {
        try await DeviceLogin.with { server, _ in
            let account = AccountPages(server)
            let page = try await account.open("/device")
            for (program, words) in [
                ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox · Linux"),
                ("CornerTV/2.1 (tv; 4K)", "CornerTV"),
            ] {
                let login = try await DeviceLogin(server, scope: "read%20account", fields: ["User-Agent": program])
                let form = ["user_code": login.opened.string("user_code") ?? "", "csrf": page.csrf("/device") ?? ""]
                let german = await account.browser.post(
                    "/device", form, fields: ["Sec-Fetch-Site": "same-origin", "Accept-Language": "de"])
                for word in [words, "Graz &lt;b&gt;, Österreich", "Ihre Kontoeinstellungen", "read"] {
                    #expect(german.text.contains(word), "\(word): \(german.text)")
                }
                #expect(!german.text.contains("2.1") && !german.text.contains("Gecko"))
            }
        }
    }

    @Test("After a logout the browser forgets the pages that it has kept, unless others lie on the same host")
    func caches() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            let page = try await account.open()
            let out = try await account.send("/oauth/logout", of: page, [:])
            #expect(out.text.contains("You are signed out") && out.field("Clear-Site-Data") == "\"cache\"")
            #expect(await account.browser.get("/oauth/logout").field("Clear-Site-Data") == nil)
        }
    }

    @Test("A page that shows something of the account names the page on which the browser begins anew")
    func kept() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            for path in ["/account", "/account/security", "/account/activity"] {
                let page = try await account.open(path)
                #expect(page.text.contains(#"data-account="\#(path)""#))
            }
            #expect(await account.browser.get("/oauth/logout").text.contains(#"data-account="/oauth/logout""#))
            #expect(!(await account.browser.get("/reset").text.contains("data-account")))
        }
    }
}
