import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A server with the issuer `https://login.example/auth`, behind a proxy that shows nothing of it outside `/auth/` but the
/// documents at the root of the host. The proxy removes the path from requests, or passes them on as they are.
private final class ProxiedBrowser {
    static let host = "https://login.example"
    static let issuer = host + "/auth"

    let server: EndpointsFixture
    let removesPath: Bool
    private(set) var cookies: [String: String] = [:]

    init(_ server: EndpointsFixture, removesPath: Bool) { (self.server, self.removesPath) = (server, removesPath) }

    /// Sends a request to an absolute URL, or to a path as it stands on a page. Nil for another site, and for a path that the
    /// proxy does not pass on.
    func send(_ method: HTTP.Method, _ url: String, _ form: [String: String]? = nil) async -> Answer? {
        var target = url
        if url.hasPrefix("https://") {
            guard url.hasPrefix(Self.host + "/") else { return nil }
            target = String(url.dropFirst(Self.host.count))
        }
        target = String(target.prefix { $0 != "#" })
        let isAtRoot = target.hasPrefix("/.well-known/")
        guard isAtRoot || target.hasPrefix("/auth/") else { return nil }
        if removesPath, !isAtRoot { target = String(target.dropFirst("/auth".count)) }
        var fields: Fields = ["Accept": "text/html", "Sec-Fetch-Site": "same-origin"]
        if form != nil { fields.append("Content-Type", "application/x-www-form-urlencoded") }
        if !cookies.isEmpty { fields.append("Cookie", cookies.map { "\($0)=\($1)" }.joined(separator: "; ")) }
        let body = Array(form.map(Browser.encoded)?.utf8 ?? "".utf8)
        let answer = await server.send(Request(method, target, fields: fields, body: body), isSecure: true)
        for line in answer.response.fields.values("Set-Cookie") {
            let pair = line.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            #expect(line.contains("; Path=/;"))
            cookies[String(pair[0])] = line.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return answer
    }

    /// The page behind all redirects, with its addresses checked.
    func page(_ method: HTTP.Method, _ url: String, _ form: [String: String]? = nil) async throws -> (String, Answer) {
        var (url, answer) = (url, try #require(await send(method, url, form), "outside of the path: \(url)"))
        for _ in 0..<5 {
            guard (300..<400).contains(answer.status), let location = answer.field("Location"),
                location.hasPrefix(Self.host)
            else { break }
            #expect(location.hasPrefix(Self.issuer + "/"), "\(url) leads to \(location)")
            (url, answer) = (location, try #require(await send(.get, location), "outside of the path: \(location)"))
        }
        try await checkAddresses(of: answer, at: url)
        return (url, answer)
    }

    /// Each address on a page that begins with a slash begins with the path of the issuer, and what the page loads is there.
    func checkAddresses(of answer: Answer, at url: String) async throws {
        guard answer.field("Content-Type")?.hasPrefix("text/html") == true else { return }
        #expect(!answer.response.body.contains(0xFF), "\(url)")
        for match in answer.text.matches(of: #/ ([a-z-]+)="(\/[^"]*)"/#) {
            let (name, address) = (String(match.1), String(match.2))
            #expect(address.hasPrefix("/auth/"), "\(url): \(name)=\(address)")
            guard name == "src" || name == "href" && address.contains("/assets/") else { continue }
            #expect(await send(.get, address)?.status == 200, "\(url): \(name)=\(address)")
        }
    }

    /// The hidden fields of the form that goes to `path`, and more.
    func form(_ path: String, on answer: Answer, _ more: [String: String] = [:]) throws -> [String: String] {
        let start = try #require(answer.text.firstRange(of: "action=\"\(path)\""), "\(answer.text)")
        let html = String(answer.text[start.upperBound...].prefix { $0 != "\u{0}" })
        var fields = more
        for name in ["csrf", "r"] { fields[name] = fields[name] ?? Page.value(name, in: html) }
        return fields
    }
}

@Suite("An issuer with a path") struct IssuerPathTests {
    private static func with(
        removesPath: Bool, _ body: (ProxiedBrowser) async throws -> Void
    ) async throws {
        var accounts = AccountRules()
        accounts.signUp = .open
        try await EndpointsFixture.with(issuer: ProxiedBrowser.issuer, mails: MailWaker(), accounts: accounts) {
            server in
            _ = try await server.makeClient(
                #"""
                {"client_id":"shop","client_name":"Shop","scope":"openid","redirect_uris":["https://app.example/cb"],
                 "browser_session":"client","grant_types":["authorization_code","refresh_token",
                 "urn:ietf:params:oauth:grant-type:device_code"],"post_logout_redirect_uris":["https://app.example/out"]}
                """#)
            try await body(ProxiedBrowser(server, removesPath: removesPath))
        }
    }

    private static let authorize =
        ProxiedBrowser.issuer + "/oauth/authorize?"
        + Browser.encoded(PageLoginFixture.parameters(["redirect_uri": "https://app.example/cb", "scope": "openid"]))

    @Test("login, account, logout: no address, redirect or cookie leaves the path", arguments: [true, false])
    func walk(removesPath: Bool) async throws {
        try await Self.with(removesPath: removesPath) { browser in
            var (url, page) = try await browser.page(.get, Self.authorize)
            #expect(url.hasPrefix(ProxiedBrowser.issuer + "/login?r=") && page.status == 200)
            let login = "/auth/login/password"
            (_, page) = try await browser.page(
                .post, login,
                browser.form(login, on: page, ["username": "anna", "password": EndpointsFixture.password]))
            let location = try #require(page.field("Location"))
            #expect(location.hasPrefix("https://app.example/cb?code="), "\(page.status) \(location)")
            #expect(location.contains("iss=https%3A%2F%2Flogin.example%2Fauth"))
            #expect(Set(browser.cookies.keys) == ["__Host-sojourn-flow.auth", "__Host-sojourn-session.auth"])

            for path in ["/account", "/account/security", "/account/activity"] {
                (url, page) = try await browser.page(.get, ProxiedBrowser.issuer + path)
                if url.contains("/login?r=") {
                    (url, page) = try await browser.page(
                        .post, login,
                        browser.form(login, on: page, ["username": "anna", "password": EndpointsFixture.password]))
                }
                #expect(page.status == 200 && url.hasPrefix(ProxiedBrowser.issuer + path), "\(url)")
            }
            let logout = "/auth/oauth/logout"
            (url, page) = try await browser.page(.post, logout, browser.form(logout, on: page))
            #expect(page.status == 200 && page.text.contains("You are signed out"), "\(page.text)")
        }
    }

    @Test("every page that opens without more, and the page of every error", arguments: [true, false])
    func everyPage(removesPath: Bool) async throws {
        try await Self.with(removesPath: removesPath) { browser in
            let routes = Route.all.filter { $0.listeners == .public && $0.errorFormat == .page && !$0.isStreaming }
            #expect(routes.count > 25)
            for route in routes {
                let path = route.pattern.replacing(#/\{[a-z_]+\}/#, with: "x")
                for form in route.method == .get ? [nil] : [[:], ["csrf": "x"]] {
                    let (url, page) = try await browser.page(route.method, "/auth" + path, form)
                    // A code by e-mail is asked for by a login that waits.
                    let isElsewhere = route.pattern.contains("{") || route.pattern == "/login/email"
                    #expect(page.status != 404 || isElsewhere, "\(route.name): \(url)")
                }
            }
            let (_, nothing) = try await browser.page(.get, "/auth/nothing")
            #expect(nothing.status == 404 && nothing.text.contains("/auth/assets/"))
        }
    }

    @Test("codes, links and metadata name URLs below the path") func urlsOfAnswers() async throws {
        try await Self.with(removesPath: false) { browser in
            let issuer = ProxiedBrowser.issuer
            let device = await browser.server.form("/auth/oauth/device_authorization", "client_id=shop")
            #expect(device.string("verification_uri") == issuer + "/device")
            #expect(device.string("qr")?.hasPrefix("HTTPS://LOGIN.EXAMPLE/auth/L/") == true)
            let metadata = await browser.server.call(.get, "/auth/.well-known/openid-configuration")
            let endpoints = try StrictJSON.object(metadata.response.body).compactMap { name, value in
                name.hasSuffix("_endpoint") || name.hasSuffix("_uri") ? value.string : nil
            }
            #expect(endpoints.count > 8 && endpoints.allSatisfy { $0.hasPrefix(issuer + "/") }, "\(endpoints)")
        }
    }

    @Test("the documents of RFC 8414 and of phones answer at the root of the host", arguments: [true, false])
    func rootOfTheHost(removesPath: Bool) async throws {
        try await Self.with(removesPath: removesPath) { browser in
            for path in browser.server.endpoints.issuerPath.metadataPaths {
                #expect(path.hasSuffix("/auth"))
                let answer = try #require(await browser.send(.get, ProxiedBrowser.host + path))
                #expect(answer.string("issuer") == ProxiedBrowser.issuer, "\(path)")
            }
            for path in Endpoints.rootDocuments {
                let answer = try #require(await browser.send(.get, ProxiedBrowser.host + path))
                let place = answer.field("Location")
                #expect(answer.status == 200 || place == ProxiedBrowser.issuer + "/account/security", "\(path)")
            }
        }
    }

    @Test("a request below the path proves a key for its public URL, with the path") func proofs() async throws {
        try await Self.with(removesPath: true) { browser in
            for removesPath in [true, false] {
                let path = (removesPath ? "" : "/auth") + "/v1/me"
                #expect(await browser.server.call(.get, path).status == 401)
            }
            let finding = browser.server.endpoints.findWithoutIssuerPath(
                Request(.get, "/auth/v1/me?x=1"), Caller(remoteAddress: nil, listener: .public))
            #expect(finding?.0.target == RequestTarget(path: "/v1/me", query: "x=1"))
            let admin = Caller(remoteAddress: nil, listener: .admin)
            #expect(browser.server.endpoints.findWithoutIssuerPath(Request(.get, "/auth/metrics"), admin) == nil)
        }
    }

    @Test(
        "a path has one form where the configuration says what the proxy does", arguments: IssuerPath.Arrival.allCases)
    func oneForm(_ arrival: IssuerPath.Arrival) async throws {
        try await EndpointsFixture.with(issuer: ProxiedBrowser.issuer) { fixture in
            let server = fixture.receiving(arrival)
            for route in ["/account", "/v1/me", "/.well-known/openid-configuration", "/device"] {
                func isThere(_ path: String) async -> Bool {
                    let answer = await server.send(Request(.get, path + route), isSecure: true)
                    return answer.status != 404
                }
                #expect(await isThere("") == (arrival != .kept), "\(route)")
                #expect(await isThere("/auth") == (arrival != .removed), "\(route)")
                #expect(await !isThere("/auth/auth"), "\(route)")
            }
            let root = server.endpoints.issuerPath.metadataPaths + Endpoints.rootDocuments + Endpoints.healthPaths
            for path in root {
                #expect(await server.send(Request(.get, path), isSecure: true).status != 404, "\(path)")
            }
            // No call hides another one.
            #expect(await server.admin(.get, "/admin/v1/clients").status == 200)
            #expect(await server.admin(.get, "/auth/admin/v1/clients").status == 404)
        }
    }

    @Test("without a path in the issuer the setting changes nothing", arguments: IssuerPath.Arrival.allCases)
    func noPath(_ arrival: IssuerPath.Arrival) async throws {
        try await EndpointsFixture.with { fixture in
            #expect(await fixture.receiving(arrival).call(.get, "/v1/me").status == 401)
        }
    }

    @Test("cookies of two paths have two names, and without a path the name is the bare one")
    func cookieNames() {
        let paths = ["", "/auth", "/auth/b", "/auth.b", "/auth-b", "/b/auth"]
        let names = paths.map { path in
            PageCookie.session.name(
                PageTransport(isSecure: true, issuerPath: IssuerPath(of: "https://login.example" + path)))
        }
        #expect(names[0] == "__Host-sojourn-session" && names[1] == "__Host-sojourn-session.auth")
        #expect(Set(names).count == paths.count)
        let separators = "()<>@,;:\\\"/[]?={}".utf8
        for name in names { #expect(name.utf8.allSatisfy { (0x21...0x7E).contains($0) && !separators.contains($0) }) }
    }

    @Test("a path is ambiguous if a call below it has the path of another call")
    func ambiguousPaths() {
        func paths(_ path: String) -> [String] { IssuerPath(of: "https://login.example" + path).ambiguousPaths }
        for path in ["", "/auth", "/id/v1", "/oauth"] { #expect(paths(path) == [], "\(path)") }
        #expect(paths("/l").contains("/login") && paths("/assets").contains("/login"))
        #expect(paths("/v1/verify").contains("/oauth/token"))
    }
}
