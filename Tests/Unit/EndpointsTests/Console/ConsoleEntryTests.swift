import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Who comes into the console, and for how long.
@Suite struct ConsoleEntryTests {
    /// The pages without a parameter.
    private static let pages = Route.console.filter {
        $0.method == .get && !$0.pattern.contains("{") && $0.pattern != "/console/enter"
    }.map(\.pattern)

    @Test func withoutAKeyEveryPageLeadsToTheEntry() async throws {
        #expect(Self.pages.count >= 3)
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            for path in Self.pages {
                let answer = await browser.get(path)
                #expect(answer.status == 303, "\(path)")
                #expect(answer.field("Location")?.hasPrefix("/console/enter?to=%2Fconsole") == true, "\(path)")
                #expect(answer.text.isEmpty)
            }
            #expect(await browser.post("/console/find", ["q": "anna"]).field("Location")?.contains("/enter") == true)
            let entered = try await browser.enter(to: "/console/users")
            #expect(entered.field("Location") == "/console/users")
            let ofForms = ["/console/find", "/console/leave"]
            for path in Self.pages {
                #expect(await browser.get(path).status == (ofForms.contains(path) ? 303 : 200), "\(path)")
            }
        }
    }

    @Test("a form for a malformed id leads to the entry as any other without a key")
    func aMalformedIDIsLookedAtLast() async throws {
        let paths = Route.console.filter { $0.method == .post && $0.pattern.contains("/{") }
            .map { $0.pattern.replacing(#/\{.*\}/#, with: "x") }
        #expect(paths.contains("/console/users/x") && paths.contains("/console/sessions/x"))
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            for path in paths {
                let answer = await browser.post(path, ["act": "end"])
                #expect(answer.status == 200, "\(path)")
                #expect(answer.csrf("/console/enter") != nil, "\(path)")
            }
        }
    }

    @Test func aPathWithoutAPageIsAnsweredWithOne() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            for path in ["/console/nowhere", "/console/", "/console/users/a/b", "/console/%2e%2e/admin"] {
                for answer in [await browser.get(path), await browser.post(path, [:])] {
                    #expect(answer.status == 404 && answer.field("Content-Type") == "text/html; charset=utf-8")
                    #expect(answer.text.contains("<html lang=\"en\"") && answer.text.contains("<main>"), "\(path)")
                    #expect(answer.text.contains("<title>Not here · Sojourn console</title>"))
                    #expect(answer.text.contains("<a href=\"/console\">"))
                    #expect(answer.field("Content-Security-Policy")?.contains("default-src 'none'") == true)
                }
            }
            let unfit = await browser.post("/console/now", [:])
            #expect(unfit.status == 405 && unfit.field("Allow") == "GET, HEAD, OPTIONS")
            #expect(unfit.text.contains("<main>"))
            for path in ["/consolex", "/admin/v1/nowhere"] {
                #expect(await browser.get(path).field("Content-Type") == "application/problem+json")
            }
            let elsewhere = await server.send(Request(.get, "/console/nowhere"), on: .public)
            #expect(elsewhere.status == 404 && elsewhere.field("Content-Type") == "application/problem+json")
        }
    }

    @Test func thePageAfterwardsIsOneOfTheConsole() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            for page in ["https://evil.example/", "//evil.example/console/", "/admin/v1/users", "/consolex", "\\\\x"] {
                let entered = try await browser.enter(to: page)
                #expect(entered.field("Location") == "/console", "\(page)")
            }
        }
    }

    @Test func theCookieIsOfThisHostAlone() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            browser.isSecure = true
            let answer = try await browser.enter()
            let cookie = try #require(
                answer.response.fields.values("Set-Cookie").first { $0.contains("sojourn-console") })
            #expect(cookie.hasPrefix("__Host-sojourn-console="))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure"))
            #expect(!cookie.contains(server.adminKey))
            #expect(await browser.get("/console").status == 200)
        }
    }

    /// Cookies do not know ports. A strict cookie of the name that the login page uses would be missing when a provider sends the
    /// browser back to a server on the same host.
    @Test func everyCookieIsStrictAndHasANameOfTheConsole() async throws {
        try await EndpointsFixture.with { server in
            for isSecure in [false, true] {
                let browser = ConsoleBrowser(server)
                browser.isSecure = isSecure
                let link = await browser.get(try await makeLink(server))
                let entered = try await browser.act(
                    link, "/console/enter", ["token": try #require(Page.value("token", in: link.text))])
                let cookies = [link, entered].flatMap { $0.response.fields.values("Set-Cookie") }
                #expect(cookies.count == 2)
                for cookie in cookies {
                    #expect(cookie.hasPrefix((isSecure ? "__Host-" : "") + "sojourn-console"), "\(cookie)")
                    #expect(cookie.contains("; SameSite=Strict"), "\(cookie)")
                }
            }
        }
    }

    @Test func onlyAnAdminKeyOpens() async throws {
        try await EndpointsFixture.with { server in
            let administration = Administration(server.context)
            let feed = try await administration.createAdminKey(name: "f", scope: .feed, by: .system).1
            let browser = ConsoleBrowser(server)
            for (key, status, words) in [
                ("x", 422, "no admin key of this server"), ("", 422, "no admin key"), (feed, 403, "scope read"),
            ] {
                let answer = try await browser.enter(key)
                #expect(answer.status == status && answer.words.contains(words), "\(answer.words)")
                #expect(browser.cookies[ConsoleBrowser.cookie] == nil)
            }
            let tokens = try await server.logIn()
            #expect(try await browser.enter(tokens.access).status == 422)
        }
    }

    @Test func aBrowserStaysHalfAnHourAfterItsLastRequest() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            for time in [1700, 3400, 5100] as [Int64] {
                server.moveClock(to: time)
                #expect(await browser.get("/console").status == 200)
            }
            server.moveClock(to: 5100 + 1800)
            #expect(await browser.get("/console").status == 303)
        }
    }

    /// A live page loads itself again every five seconds, whether anybody is there or not.
    @Test func aLivePageIsNoUse() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            for path in ["/console/now?live=1", "/console/now?x=%20&live=1"] {
                server.moveClock(to: path.contains("x") ? 1790 : 900)
                #expect(await browser.get(path).status == 200)
            }
            server.moveClock(to: 1800)
            #expect(await browser.get("/console/now?live=1").status == 303)
        }
    }

    @Test func aBrowserStaysEightHoursAtMost() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            for time in stride(from: Int64(0), to: 28_800, by: 1700) {
                server.moveClock(to: time)
                #expect(await browser.get("/console").status == 200)
            }
            server.moveClock(to: 28_800)
            #expect(await browser.get("/console").status == 303)
        }
    }

    @Test func aKeyThatIsDeletedOpensNothingAnyMore() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            #expect(await browser.get("/console").status == 200)
            let keys = try await server.store.adminKeys()
            let id = try #require(keys.first { $0.scope == .read }).id
            #expect(await server.admin(.delete, "/admin/v1/admin-keys/\(id)").status == 204)
            #expect(await browser.get("/console").status == 303)
        }
    }

    @Test func aLogoutEndsTheConsoleSession() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            let page = await browser.get("/console")
            let cookie = browser.cookies[ConsoleBrowser.cookie]
            #expect(try await browser.act(page, "/console/leave", [:]).field("Location") == "/console/enter")
            #expect(browser.cookies[ConsoleBrowser.cookie] == nil)
            let thief = ConsoleBrowser(server)
            thief.plant(ConsoleBrowser.cookie, try #require(cookie))
            #expect(await thief.get("/console").status == 303)
            // The key that was pasted goes on.
            #expect(await server.admin(.get, "/admin/v1/users").status == 200)
        }
    }

    // MARK: Links

    private func makeLink(_ server: EndpointsFixture, _ body: String = #"{"name":"console of ada"}"#) async throws
        -> String
    {
        let answer = await server.send(
            Request(
                .post, "/admin/v1/console-links", fields: ["Content-Type": "application/json"], body: Array(body.utf8)),
            on: .adminSocket)
        #expect(answer.status == 201, "\(answer.text)")
        let url = try #require(answer.string("url"))
        #expect(url.hasPrefix("http://127.0.0.1:8081/console/enter?t=sjl_"))
        return String(url.dropFirst("http://127.0.0.1:8081".count))
    }

    @Test func aLinkLetsOneBrowserIn() async throws {
        try await EndpointsFixture.with { server in
            let link = try await makeLink(server)
            let browser = ConsoleBrowser(server)
            // Looking uses nothing up.
            #expect(await browser.get(link).words.contains("console of ada"))
            let page = await browser.get(link)
            let token = try #require(Page.value("token", in: page.text))
            #expect(try await browser.act(page, "/console/enter", ["token": token]).status == 303)
            #expect(await browser.get("/console").words.contains("console of ada owner"))
            let key = try #require(try await server.store.adminKeys().last)
            #expect(key.name == "console of ada" && key.expiresAt == server.context.clock.now + .seconds(28_800))
            let other = ConsoleBrowser(server)
            let spent = await other.get(link)
            #expect(spent.status == 410 && spent.words.contains("Run sojourn console again"))
            #expect(
                try await other.act(spent, "/console/enter", ["token": token]).status == 410)
            // The key ends with the stay.
            _ = try await browser.act(await browser.get("/console"), "/console/leave", [:])
            #expect(try await server.store.adminKeys().contains { $0.id == key.id } == false)
        }
    }

    @Test func aLinkEndsAfterAMinute() async throws {
        try await EndpointsFixture.with { server in
            let link = try await makeLink(server, #"{"scope":"read"}"#)
            let browser = ConsoleBrowser(server)
            server.moveClock(to: 59)
            let page = await browser.get(link)
            #expect(page.status == 200)
            server.moveClock(to: 60)
            #expect(await browser.get(link).status == 410)
            let token = try #require(Page.value("token", in: page.text))
            #expect(try await browser.act(page, "/console/enter", ["token": token]).status == 410)
            #expect(try await server.store.adminKeys().count == 1)
        }
    }

    @Test func linksAreMadeOnTheMachineAlone() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.post, "/admin/v1/console-links", "{}")
            #expect(answer.status == 403 && answer.string("code") == "local_only")
        }
    }

    // MARK: Forms that come too late

    @Test(
        "a form of a browser that was away for too long is kept through the entry, and does nothing until it is sent again"
    )
    func aLateFormIsKept() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let page = await browser.get(path)
            let search = await browser.get("/console")
            func name() async -> String? {
                await server.admin(.get, "/admin/v1/users/username:anna").string("display_name")
            }
            server.moveClock(to: 1800)
            let entry = try await browser.act(page, path, ["act": "edit", "display_name": "Anna & Ö"])
            #expect(entry.status == 200 && entry.words.contains("What you typed is kept"))
            var form = entry.fields
            form["key"] = "wrong"
            let refused = try await browser.act(entry, "/console/enter", form)
            #expect(refused.status == 422)
            form = refused.fields
            form["key"] = server.adminKey
            let back = try await browser.act(refused, "/console/enter", form)
            #expect(back.status == 200 && back.words.contains("display_nameAnna & Ö"), "\(back.words)")
            #expect(await name() == nil)
            let done = try await browser.follow(back, path, back.fields(after: "action=\"\(path)\""))
            #expect(done.words.contains("The profile is changed."))
            #expect(await name() == "Anna & Ö")
            // What was searched for may be a token, which no page shows.
            server.moveClock(to: 3600)
            #expect(try await browser.act(search, "/console/find", ["q": "x"]).status == 303)
        }
    }

    @Test("each address of the console that takes a form leads somewhere when it is opened")
    func formsHaveAPage() async throws {
        let routes = Route.console.filter { $0.pattern.hasPrefix("/console") }
        let opened = Set(routes.filter { $0.method == .get }.map(\.pattern))
        for route in routes { #expect(opened.contains(route.pattern), "\(route.pattern)") }
        try await ConsoleBrowser.with(.read) { browser, _ in
            for path in ["/console/find", "/console/find?q=x", "/console/leave"] {
                #expect(await browser.get(path).field("Location") == "/console")
            }
        }
    }

    // MARK: Walls

    @Test func onlyTheNamesOfTheOperatorLeadHere() async throws {
        try await EndpointsFixture.with { server in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            for host in [
                "evil.example", "evil.example:8081", "localhost.evil.example", "127.0.0.1.nip.io:8081", "[::2]:1",
            ] {
                browser.host = host
                for isSecure in [false, true] {
                    browser.isSecure = isSecure
                    for path in Self.pages + ["/console/enter"] {
                        #expect(await browser.get(path).status == 421, "\(host) \(path)")
                    }
                    #expect(await browser.post("/console/enter", ["key": server.adminKey]).status == 421)
                }
            }
            browser.isSecure = false
            for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8081", "[::1]:8081"] {
                browser.host = host
                #expect(await browser.get("/console").status == 200, "\(host)")
            }
            // Calls with a key are for programs, which know where they call.
            let fields: Fields = ["Host": "evil.example", "Authorization": "Bearer \(server.adminKey)"]
            #expect(await server.send(Request(.get, "/admin/v1/users", fields: fields), on: .admin).status == 200)
        }
    }

    @Test func aFormOfAnotherSiteDoesNothing() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let page = await browser.get(path)
            for fields in [
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "http://evil.example"],
                ["Origin": "http://localhost:8080"], ["Origin": "https://localhost:8081"], ["Origin": "null"],
            ] as [Fields] {
                #expect(try await browser.act(page, path, ["act": "disable"], fields: fields).status == 403)
            }
            let stale = await browser.post(path, ["act": "disable", "csrf": "x"])
            #expect(stale.status == 409 && stale.words.contains("press once more"))
            #expect(
                await server.admin(.get, "/admin/v1/users/username:anna").string("login_disabled_by_admin", "effective")
                    == nil)
            let own = try await browser.act(page, path, ["act": "disable"], fields: ["Origin": "http://localhost:8081"])
            #expect(own.status == 303)
        }
    }

    @Test func theFormOfOnePageIsNoneOfAnother() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let token = try #require(await browser.get("/console").csrf("/console/find"))
            let answer = await browser.post(path, ["act": "disable", "csrf": token])
            #expect(answer.status == 409 && answer.words.contains("press once more"))
            // Nor is the form of one browser that of another.
            let other = ConsoleBrowser(server)
            try await other.enter()
            let page = await browser.get(path)
            let foreign = await other.post(path, ["act": "disable", "csrf": page.csrf(path) ?? ""])
            #expect(foreign.status == 409 && foreign.words.contains("press once more"))
            #expect(await server.admin(.get, "/admin/v1/users/username:anna").value(["login_disabled_by_admin"]) == nil)
        }
    }
}
