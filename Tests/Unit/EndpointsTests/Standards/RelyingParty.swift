import HTTP
import Testing

@testable import Endpoints

/// The confidential client `web`, with logins on the page, and a browser of a user.
struct RelyingParty {
    static let redirectURI = "https://app.example/web"
    static let otherURI = "https://app.example/web/other"
    static let goodbyeURI = "https://app.example/bye"

    let login: PageLoginFixture
    let browser: Browser
    let secret: String

    var basic: String { "web:\(secret)" }

    static func with(_ body: (RelyingParty) async throws -> Void) async throws {
        try await PageLoginFixture.with { login in
            let secret = try await login.server.makeClient(
                #"""
                {"client_id":"web","token_endpoint_auth_method":"client_secret_basic","scope":"openid profile email",
                 "grant_types":["authorization_code","refresh_token"],"browser_session":"client",
                 "redirect_uris":["\#(redirectURI)","\#(otherURI)"],"post_logout_redirect_uris":["\#(goodbyeURI)"]}
                """#)
            try await body(RelyingParty(login: login, browser: Browser(login.server), secret: try #require(secret)))
        }
    }

    /// What makes a request of this client out of one of the client `shop`.
    func changes(_ more: [String: String?] = [:]) -> [String: String?] {
        let own: [String: String?] = ["client_id": "web", "redirect_uri": Self.redirectURI, "scope": "openid"]
        return own.merging(more) { $1 }
    }

    /// Logs the user in on the page.
    func authorize(_ more: [String: String?] = [:]) async throws -> Redirect {
        let page = try await login.page(browser, changes(more))
        let answer = try Redirect(await login.submit(browser, page))
        #expect(answer["state"] == "a b&c=d" && answer["iss"] == EndpointsFixture.issuer)
        return answer
    }

    /// What the browser's session answers, without a page.
    func silent(_ more: [String: String?]) async throws -> Redirect {
        try Redirect(await browser.get(PageLoginFixture.url(changes(more))))
    }

    func exchange(_ code: String, _ more: [String: String?] = [:]) async -> Answer {
        let own: [String: String?] = ["client_id": nil, "redirect_uri": Self.redirectURI, "device_id": nil]
        return await login.exchange(code, own.merging(more) { $1 }, basic: basic)
    }

    /// The tokens of a code, and the claims of the ID token, which have what the core demands of all.
    @discardableResult
    func expectTokens(code: String, _ more: [String: String?] = [:]) async throws -> (tokens: Answer, claims: Answer) {
        let answer = await exchange(code, more)
        try #require(answer.status == 200, "\(answer.text)")
        #expect(answer.string("token_type") == "Bearer" && answer.field("Cache-Control") == "no-store")
        let claims = try Answer.claims(of: try #require(answer.string("id_token")))
        #expect(claims.string("iss") == EndpointsFixture.issuer && claims.string("aud") == "web")
        #expect(claims.string("sub") != nil && claims.integer("exp") != nil && claims.integer("iat") != nil)
        return (answer, claims)
    }

    @discardableResult
    func expectTokens(_ answer: Redirect) async throws -> (tokens: Answer, claims: Answer) {
        try await expectTokens(code: try #require(answer["code"]))
    }

    /// A whole login. A request with a nonce gets it back.
    @discardableResult
    func expectLogin(_ more: [String: String?] = [:]) async throws -> (tokens: Answer, claims: Answer) {
        let answer = try await authorize(more)
        let redirectURI = changes(more)["redirect_uri"] ?? nil
        #expect(answer.uri == redirectURI)
        let (tokens, claims) = try await expectTokens(
            code: try #require(answer["code"]), ["redirect_uri": redirectURI])
        #expect(claims.string("nonce") == PageLoginFixture.parameters(more)["nonce"])
        return (tokens, claims)
    }

    /// The claims of a scope are at the endpoint for them. `more` is what the client cannot have, which is left out.
    func expectScope(_ scope: String, _ names: Set<String>, more: String = "") async throws {
        let (tokens, claims) = try await expectLogin(["scope": scope + more])
        let user = await login.server.call(.get, "/oauth/userinfo", bearer: tokens.string("access_token"))
        #expect(user.status == 200 && user.names == names.union(["sub"]), "\(user.text)")
        #expect(user.string("sub") == claims.string("sub"))
        #expect(tokens.string("scope") == scope, "the answer says what was granted")
    }
}
