import Cryptography
import HTTP
import JSON
import Sessions
import Synchronization
import Telemetry
import Testing

@testable import Endpoints

/// A browser: it keeps cookies, and follows redirects when a test says so.
final class Browser {
    private(set) var cookies: [String: String] = [:]
    private let server: EndpointsFixture
    var isSecure = true
    var userAgent: String? = "Mozilla/5.0 (test)"

    init(_ server: EndpointsFixture) { self.server = server }

    func plant(_ name: String, _ value: String) { cookies[name] = value }

    /// Opens a URL of the server. The path of an absolute one is enough.
    func get(_ url: String, fields: Fields = Fields()) async -> Answer { await send(.get, url, nil, fields) }

    /// Sends a form, as a browser does from a page of the server unless `fields` says otherwise.
    func post(_ url: String, _ form: [String: String], fields: Fields = ["Sec-Fetch-Site": "same-origin"]) async
        -> Answer
    {
        await send(.post, url, form, fields)
    }

    private func send(_ method: HTTP.Method, _ url: String, _ form: [String: String]?, _ more: Fields) async -> Answer {
        var fields = more
        if form != nil { fields.append("Content-Type", "application/x-www-form-urlencoded") }
        if let userAgent { fields.append("User-Agent", userAgent) }
        if !cookies.isEmpty {
            fields.append("Cookie", cookies.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: "; "))
        }
        let target = url.hasPrefix(EndpointsFixture.issuer) ? String(url.dropFirst(EndpointsFixture.issuer.count)) : url
        let answer = await server.send(
            Request(method, target, fields: fields, body: Array((form.map(Self.encoded) ?? "").utf8)),
            isSecure: isSecure)
        for line in answer.response.fields.values("Set-Cookie") { keep(line) }
        return answer
    }

    private func keep(_ line: String) {
        let pair = line.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        cookies[pair[0]] = line.contains("Max-Age=0") ? nil : pair[1]
    }

    static func encoded(_ form: [String: String]) -> String {
        form.sorted { $0.key < $1.key }.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }
}

/// What the tests of the hosted login share.
struct PageLoginFixture {
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let redirectURI = "com.example.app:/callback"
    static let clientID = "shop"

    let server: EndpointsFixture

    /// Gives `body` a server with the public client `shop`.
    static func with(
        _ more: String = "", proofs: DPoPPolicy = DPoPPolicy(),
        identities: ((WallClock, Logger) -> any IdentityVerifier)? = nil, passkeys: PasskeyPolicy? = nil,
        _ body: (PageLoginFixture) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with(proofs: proofs, identities: identities, passkeys: passkeys) { server in
            _ = try await server.makeClient(
                #"""
                {"client_id":"shop","client_name":"Shop","grant_types":["authorization_code","refresh_token"],
                 "scope":"openid profile email read account","redirect_uris":["com.example.app:/callback","http://127.0.0.1/cb","https://app.example/cb?a=1"]\#(more)}
                """#)
            try await body(PageLoginFixture(server: server))
        }
    }

    /// The parameters of a right authorization request, with changes; nil removes one.
    static func parameters(_ changes: [String: String?] = [:]) -> [String: String] {
        var parameters = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI, "state": "a b&c=d",
            "nonce": "n-1", "scope": "openid email read", "code_challenge": challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { parameters[name] = value }
        return parameters
    }

    static func url(_ changes: [String: String?] = [:]) -> String {
        "/oauth/authorize?" + Browser.encoded(parameters(changes))
    }

    /// The login page of an authorization request.
    func page(_ browser: Browser, _ changes: [String: String?] = [:]) async throws -> Page {
        let answer = await browser.get(Self.url(changes))
        #expect(answer.status == 303)
        let location = try #require(answer.field("Location"))
        try #require(location.hasPrefix(EndpointsFixture.issuer + "/login?r="))
        return try Page(await browser.get(location))
    }

    /// Logs anna in, and returns the answer to the form.
    func submit(
        _ browser: Browser, _ page: Page, username: String = "anna", password: String = EndpointsFixture.password,
        more: [String: String] = [:], fields: Fields = ["Sec-Fetch-Site": "same-origin"]
    ) async -> Answer {
        var form = ["r": page.request, "csrf": page.csrf, "username": username, "password": password]
        for (name, value) in more { form[name] = value }
        return await browser.post("/login/password", form, fields: fields)
    }

    /// Opens the page and logs anna in.
    func logIn(
        _ browser: Browser, password: String = EndpointsFixture.password,
        fields: Fields = ["Sec-Fetch-Site": "same-origin"]
    ) async throws -> Answer {
        let page = try await page(browser)
        return await submit(browser, page, password: password, fields: fields)
    }

    /// The code of a whole login.
    func code(_ browser: Browser? = nil, _ changes: [String: String?] = [:]) async throws -> String {
        let browser = browser ?? Browser(server)
        let answer = await submit(browser, try await page(browser, changes))
        #expect(answer.status == 303, "\(answer.text)")
        return try #require(Redirect(answer)["code"])
    }

    /// Exchanges a code at the token endpoint; nil removes a parameter.
    func exchange(
        _ code: String, _ changes: [String: String?] = [:], fields: Fields = Fields(), basic: String? = nil
    ) async -> Answer {
        var form = [
            "grant_type": "authorization_code", "code": code, "client_id": Self.clientID,
            "redirect_uri": Self.redirectURI, "code_verifier": Self.verifier, "device_id": "phone-1",
        ]
        for (name, value) in changes { form[name] = value }
        return await server.form("/oauth/token", Browser.encoded(form), basic: basic, fields: fields)
    }

    /// How many changes the database has committed.
    var writes: Int { server.environment.writes.load(ordering: .relaxed) }
}

/// A page with the form of the login.
struct Page {
    let answer: Answer
    let request: String
    let csrf: String

    init(_ answer: Answer) throws {
        self.answer = answer
        request = try #require(Self.value("r", in: answer.text), "\(answer.text)")
        csrf = try #require(
            Self.token(of: "/login/password", in: answer.text) ?? Self.value("csrf", in: answer.text))
    }

    /// The form token of the form that is sent to `path`.
    func token(of path: String) -> String? { Self.token(of: path, in: answer.text) }

    private static func token(of path: String, in html: String) -> String? {
        guard let start = html.firstRange(of: "action=\"\(path)\"") else { return nil }
        return value("csrf", in: String(html[start.upperBound...]))
    }

    /// The value of a hidden field.
    static func value(_ name: String, in html: String) -> String? {
        guard let start = html.firstRange(of: "name=\"\(name)\" value=\"") else { return nil }
        return String(html[start.upperBound...].prefix { $0 != "\"" })
    }
}

/// The parameters of a redirect to a client.
struct Redirect {
    let uri: String
    private let parameters: [String: String]

    init(_ answer: Answer) throws {
        #expect(answer.status == 303, "\(answer.text)")
        let location = try #require(answer.field("Location"))
        let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
        uri = parts[0]
        let pairs = try FormDecoder.decode(Array((parts.count > 1 ? parts[1] : "").utf8))
        parameters = Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0) \($1)" })
    }

    subscript(_ name: String) -> String? { parameters[name] }
    var names: Set<String> { Set(parameters.keys) }
}
