import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The errors of the authorization endpoint (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6).
@Suite struct AuthorizationErrorTests {
    /// A wrong request, and the error that the client gets.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let changes: [String: String?]
        let error: String
        var testDescription: String { "\(changes) \(error)" }

        init(_ changes: [String: String?], _ error: String) { (self.changes, self.error) = (changes, error) }
    }

    static let wrong: [Wrong] = [
        Wrong(["response_type": nil], "invalid_request"),
        Wrong(["response_type": ""], "invalid_request"),
        Wrong(["response_type": "token"], "unsupported_response_type"),
        Wrong(["response_type": "code id_token"], "unsupported_response_type"),
        Wrong(["response_type": "CODE"], "unsupported_response_type"),
        Wrong(["response_mode": "fragment"], "invalid_request"),
        Wrong(["response_mode": "form_post"], "invalid_request"),
        Wrong(["request": "e30.e30."], "request_not_supported"),
        Wrong(["request_uri": "https://app.example/request"], "request_uri_not_supported"),
        Wrong(["registration": "{}"], "registration_not_supported"),
        Wrong(["code_challenge": nil], "invalid_request"),
        Wrong(["code_challenge_method": nil], "invalid_request"),
        Wrong(["code_challenge_method": "plain"], "invalid_request"),
        Wrong(["code_challenge_method": "s256"], "invalid_request"),
        Wrong(["code_challenge": PageLoginFixture.verifier + "x"], "invalid_request"),
        Wrong(["code_challenge": "short"], "invalid_request"),
        Wrong(["code_challenge": String(repeating: "+", count: 43)], "invalid_request"),
        Wrong(["scope": "admin offline_access"], "invalid_scope"),
        Wrong(["scope": "openid  read"], "invalid_scope"),
        Wrong(["scope": "\"read\""], "invalid_scope"),
        Wrong(["resource": "https://other.example"], "invalid_target"),
        Wrong(["prompt": "none login"], "invalid_request"),
        Wrong(["prompt": "dance"], "invalid_request"),
        Wrong(["prompt": "none"], "login_required"),
        Wrong(["max_age": "-1"], "invalid_request"),
        Wrong(["max_age": "1h"], "invalid_request"),
        Wrong(["max_age": "99999999999999999999"], "invalid_request"),
        Wrong(["dpop_jkt": "x"], "invalid_request"),
        Wrong(["nonce": String(repeating: "n", count: 513)], "invalid_request"),
        Wrong(["nonce": "a\u{1}b"], "invalid_request"),
        Wrong(["login_hint": String(repeating: "a", count: 2000)], "invalid_request"),
        Wrong(["id_token_hint": "e30.e30.e30"], "invalid_request"),
        Wrong(["state": String(repeating: "s", count: 4000)], "invalid_request"),
    ]

    @Test(arguments: wrong) func theClientIsTold(_ row: Wrong) async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let before = login.writes
            let answer = try Redirect(await browser.get(PageLoginFixture.url(row.changes)))
            #expect(answer.uri == PageLoginFixture.redirectURI)
            #expect(answer["error"] == row.error)
            #expect(answer["state"] == row.changes["state"] ?? "a b&c=d")
            #expect(answer["iss"] == EndpointsFixture.issuer)
            #expect(answer.names == ["error", "error_description", "state", "iss"])
            #expect(browser.cookies.isEmpty)
            #expect(login.writes == before)
        }
    }

    @Test func aRepeatedParameterIsRefused() async throws {
        try await PageLoginFixture.with { login in
            for name in ["state", "scope", "nonce", "response_type", "code_challenge", "prompt"] {
                let url = PageLoginFixture.url(["prompt": "login"]) + "&\(name)=x"
                let answer = try Redirect(await Browser(login.server).get(url))
                #expect(answer["error"] == "invalid_request", "\(name)")
            }
            for name in ["client_id", "redirect_uri"] {
                let value = PercentEncoding.encode(PageLoginFixture.parameters()[name] ?? "")
                let answer = await Browser(login.server).get(PageLoginFixture.url() + "&\(name)=\(value)")
                #expect(answer.status == 400 && answer.field("Location") == nil, "\(name)")
            }
        }
    }

    /// Without a client and its redirect URI, no answer may leave the server.
    @Test(
        arguments: [
            ["client_id": nil], ["client_id": "nobody"], ["client_id": "x\" onload=\"y"], ["redirect_uri": nil],
            ["redirect_uri": "https://evil.example/"], ["redirect_uri": "javascript:alert(1)"],
            ["client_id": "mobile"],
        ] as [[String: String?]])
    func anUnknownDestinationIsAPage(_ changes: [String: String?]) async throws {
        try await PageLoginFixture.with { login in
            let answer = await Browser(login.server).get(PageLoginFixture.url(changes))
            #expect(answer.status == 400)
            #expect(answer.field("Location") == nil)
            #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
            #expect(answer.field("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
            #expect(!answer.text.contains("onload=\"") && !answer.text.contains("evil.example"))
        }
    }

    @Test func aRequestCanBePosted() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            for site in ["same-origin", "none"] {
                let answer = await browser.post(
                    "/oauth/authorize", PageLoginFixture.parameters(), fields: ["Sec-Fetch-Site": site])
                #expect(answer.status == 303)
                #expect(answer.field("Location")?.hasPrefix(EndpointsFixture.issuer + "/login?r=") == true)
            }
            // A browser sends no cookie with the form of another site, but with the GET that follows.
            for site in ["cross-site", "same-site"] {
                let answer = await browser.post(
                    "/oauth/authorize", PageLoginFixture.parameters(), fields: ["Sec-Fetch-Site": site])
                let next = try #require(answer.field("Location"))
                #expect(answer.status == 303 && next.hasPrefix(EndpointsFixture.issuer + "/oauth/authorize?"))
                let page = await browser.get(next).field("Location")
                #expect(page?.hasPrefix(EndpointsFixture.issuer + "/login?r=") == true)
            }
            let json = await login.server.send(
                Request(
                    .post, "/oauth/authorize", fields: ["Content-Type": "application/json"], body: Array("{}".utf8)),
                isSecure: true)
            #expect(json.status == 415)
        }
    }

    @Test func unknownParametersAreIgnored() async throws {
        try await PageLoginFixture.with { login in
            let more = ["claims": "{}", "display": "popup", "acr_values": "1 2", "ui_locales": "de fr", "zz": "1"]
            let page = try await login.page(Browser(login.server), more.mapValues { $0 })
            #expect(page.answer.field("Content-Language") == "de")
        }
    }

    @Test func aClientNeedsTheGrant() async throws {
        try await PageLoginFixture.with(#","require_pushed_authorization_requests":true"#) { login in
            let pushed = try Redirect(await Browser(login.server).get(PageLoginFixture.url()))
            #expect(pushed["error"] == "invalid_request")
            let changed = await login.server.admin(
                .patch, "/admin/v1/clients/shop",
                #"{"grant_types":["refresh_token"],"require_pushed_authorization_requests":false}"#)
            #expect(changed.status == 200)
            let answer = try Redirect(await Browser(login.server).get(PageLoginFixture.url()))
            #expect(answer["error"] == "unauthorized_client")
        }
    }

    /// An error that has a query of its own keeps it, and the answer is appended.
    @Test func aRedirectURIKeepsItsQuery() async throws {
        try await PageLoginFixture.with { login in
            let answer = await Browser(login.server).get(
                PageLoginFixture.url(["redirect_uri": "https://app.example/cb?a=1", "prompt": "none", "state": nil]))
            let location = try #require(answer.field("Location"))
            #expect(location.hasPrefix("https://app.example/cb?a=1&error=login_required&"))
            #expect(location.hasSuffix("&iss=https%3A%2F%2Flogin.example"))
            #expect(!location.contains("state="))
        }
    }

    @Test func hostileTextsStayTexts() async throws {
        try await PageLoginFixture.with { login in
            let hostile = "\"><script>alert(1)</script>\u{202E}'&x=1#f\r\nSet-Cookie: a=b"
            let page = try await login.page(Browser(login.server), ["state": hostile, "login_hint": "\"><script>x"])
            #expect(!page.answer.text.contains("<script>x") && !page.answer.text.contains("alert(1)"))
            let browser = Browser(login.server)
            let good = await login.submit(browser, try await login.page(browser, ["state": hostile]))
            let location = try #require(good.field("Location"))
            #expect(!location.contains("\r") && !location.contains("<") && !location.contains("#"))
            #expect(try Redirect(good)["state"] == hostile)
        }
    }
}
