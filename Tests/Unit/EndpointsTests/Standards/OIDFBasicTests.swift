import FoundationEssentials
import HTTP
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// The modules of the OpenID Foundation's plan `oidcc-basic-certification-test-plan`, each by its name, for a confidential client
/// that a browser leads through the login page.
///
/// The suite sends no `code_challenge` but in one module. This server demands it of every client (RFC 9700 section 2.1.1), so that
/// the suite's client has to be told to use PKCE.
@Suite struct OIDFBasicTests {
    struct Module: Sendable, CustomTestStringConvertible {
        let name: String
        let check: @Sendable (RelyingParty) async throws -> Void
        var testDescription: String { name }

        init(_ name: String, _ check: @escaping @Sendable (RelyingParty) async throws -> Void) {
            (self.name, self.check) = (name, check)
        }
    }

    @Test(arguments: requests + answers + sessions + objects) func basic(_ module: Module) async throws {
        try await RelyingParty.with { party in try await module.check(party) }
    }

    /// What a request may say without being refused.
    static let requests: [Module] = [
        Module("oidcc-server") { try await $0.expectLogin() },
        Module("oidcc-alternate-happy-flow") { try await $0.expectLogin(["redirect_uri": RelyingParty.otherURI]) },
        Module("oidcc-ensure-request-with-valid-pkce-succeeds") { party in
            try await party.expectLogin(["code_challenge_method": "S256"])
        },
        Module("oidcc-ensure-request-without-nonce-succeeds-for-code-flow") { party in
            let (_, claims) = try await party.expectLogin(["nonce": nil])
            #expect(!claims.names.contains("nonce"))
        },
        Module("oidcc-display-page") { try await $0.expectLogin(["display": "page"]) },
        Module("oidcc-display-popup") { try await $0.expectLogin(["display": "popup"]) },
        Module("oidcc-ui-locales") { try await $0.expectLogin(["ui_locales": "se"]) },
        Module("oidcc-claims-locales") { try await $0.expectLogin(["claims_locales": "se"]) },
        Module("oidcc-ensure-request-with-unknown-parameter-succeeds") { party in
            try await party.expectLogin(["extra": "foobar"])
        },
        Module("oidcc-ensure-request-with-acr-values-succeeds") { party in
            let (_, claims) = try await party.expectLogin(["acr_values": "1 2"])
            #expect(claims.string("acr") != nil)
        },
        Module("oidcc-login-hint") { party in
            let page = try await party.login.page(party.browser, party.changes(["login_hint": "anna"]))
            #expect(page.answer.text.contains("value=\"anna\""), "the field is filled")
        },
        Module("oidcc-ensure-post-request-succeeds") { party in
            let answer = await party.browser.post(
                "/oauth/authorize", PageLoginFixture.parameters(party.changes()),
                fields: ["Sec-Fetch-Site": "cross-site"])
            let next = await party.browser.get(try #require(answer.field("Location")))
            let page = try Page(await party.browser.get(try #require(next.field("Location"))))
            _ = try await party.expectTokens(try Redirect(await party.login.submit(party.browser, page)))
        },
        Module("oidcc-claims-essential") { party in
            try await party.expectLogin(["claims": #"{"userinfo":{"name":{"essential":true}}}"#])
        },
    ]

    /// What the tokens and the endpoints behind them say.
    static let answers: [Module] = [
        Module("oidcc-idtoken-signature") { party in
            let (tokens, _) = try await party.expectLogin()
            let token = try JWT.parse(try #require(tokens.string("id_token")))
            let keys = await party.login.server.call(.get, "/oauth/jwks").elements("keys")
            #expect(keys.contains { $0.string("kid") == token.header.kid && $0.string("alg") == "ES256" })
        },
        Module("oidcc-idtoken-unsigned") { party in
            let answer = await party.login.server.admin(
                .patch, "/admin/v1/clients/web", #"{"id_token_signed_response_alg":"none"}"#)
            #expect(answer.status == 400, "a client cannot ask for it")
        },
        Module("oidcc-scope-profile") { try await $0.expectScope("openid profile", ["preferred_username"]) },
        Module("oidcc-scope-email") { try await $0.expectScope("openid email", ["email", "email_verified"]) },
        Module("oidcc-scope-address") { try await $0.expectScope("openid", [], more: " address") },
        Module("oidcc-scope-phone") { try await $0.expectScope("openid", [], more: " phone") },
        Module("oidcc-scope-all") { party in
            try await party.expectScope("openid profile email", ["preferred_username", "email", "email_verified"])
        },
        Module("oidcc-userinfo-get") { party in
            let (tokens, claims) = try await party.expectLogin()
            let user = await party.login.server.call(.get, "/oauth/userinfo", bearer: tokens.string("access_token"))
            #expect(user.status == 200 && user.string("sub") == claims.string("sub"))
        },
        Module("oidcc-userinfo-post-header") { party in
            let (tokens, claims) = try await party.expectLogin()
            let user = await party.login.server.call(.post, "/oauth/userinfo", bearer: tokens.string("access_token"))
            #expect(user.status == 200 && user.string("sub") == claims.string("sub"))
        },
        Module("oidcc-userinfo-post-body") { party in
            let (tokens, claims) = try await party.expectLogin()
            let access = try #require(tokens.string("access_token"))
            let user = await party.login.server.form("/oauth/userinfo", "access_token=\(access)")
            #expect(user.status == 200 && user.string("sub") == claims.string("sub"))
        },
        Module("oidcc-refresh-token") { party in
            let (tokens, claims) = try await party.expectLogin()
            let refresh = try #require(tokens.string("refresh_token"))
            party.login.server.moveClock(to: 3600)
            let answer = await party.login.server.form(
                "/oauth/token", "grant_type=refresh_token&refresh_token=\(refresh)", basic: party.basic)
            #expect(answer.status == 200, "\(answer.text)")
            let renewed = try Answer.claims(of: try #require(answer.string("id_token")))
            for name in ["iss", "sub", "aud", "azp", "sid"] { #expect(renewed.string(name) == claims.string(name)) }
            #expect(renewed.integer("auth_time") == claims.integer("auth_time"))
            #expect(renewed.integer("iat") == claims.integer("iat").map { $0 + 3600 })
            #expect(claims.string("nonce") != nil && !renewed.names.contains("nonce"))
        },
        Module("oidcc-server-client-secret-post") { party in
            let changed = await party.login.server.admin(
                .patch, "/admin/v1/clients/web", #"{"token_endpoint_auth_method":"client_secret_post"}"#)
            #expect(changed.status == 200, "\(changed.text)")
            let code = try #require(try await party.authorize()["code"])
            let answer = await party.login.exchange(
                code,
                [
                    "client_id": "web", "client_secret": party.secret, "redirect_uri": RelyingParty.redirectURI,
                    "device_id": nil,
                ])
            #expect(answer.status == 200, "\(answer.text)")
        },
        Module("oidcc-codereuse") { party in
            let code = try #require(try await party.authorize()["code"])
            _ = try await party.expectTokens(code: code)
            let again = await party.exchange(code)
            #expect(again.status == 400 && again.string("error") == "invalid_grant")
        },
        Module("oidcc-codereuse-30seconds") { party in
            let code = try #require(try await party.authorize()["code"])
            let tokens = try await party.expectTokens(code: code).tokens
            party.login.server.moveClock(to: 30)
            #expect(await party.exchange(code).string("error") == "invalid_grant")
            let access = tokens.string("access_token")
            #expect(await party.login.server.call(.get, "/oauth/userinfo", bearer: access).status == 401, "revoked")
        },
    ]

    /// How a browser that is logged in is treated.
    static let sessions: [Module] = [
        Module("oidcc-prompt-login") { party in
            let (_, first) = try await party.expectLogin()
            party.login.server.moveClock(to: 5)
            let (_, second) = try await party.expectLogin(["prompt": "login"])
            #expect(second.integer("auth_time") == first.integer("auth_time").map { $0 + 5 })
        },
        Module("oidcc-prompt-none-not-logged-in") { party in
            let answer = try Redirect(await party.browser.get(PageLoginFixture.url(party.changes(["prompt": "none"]))))
            #expect(answer["error"] == "login_required" && answer["state"] == "a b&c=d" && answer["code"] == nil)
        },
        Module("oidcc-prompt-none-logged-in") { party in
            let (_, first) = try await party.expectLogin()
            party.login.server.moveClock(to: 5)
            let (_, second) = try await party.expectTokens(try await party.silent(["prompt": "none"]))
            #expect(first.string("sub") == second.string("sub"))
            #expect(first.integer("auth_time") == second.integer("auth_time"))
        },
        Module("oidcc-id-token-hint") { party in
            let (tokens, first) = try await party.expectLogin()
            let silent = try await party.silent(["prompt": "none", "id_token_hint": tokens.string("id_token")])
            let claims = try await party.expectTokens(silent).claims
            #expect(claims.string("sub") == first.string("sub"))
        },
        Module("oidcc-max-age-1") { party in
            let (_, first) = try await party.expectLogin()
            party.login.server.moveClock(to: 2)
            let (_, second) = try await party.expectLogin(["max_age": "1"])
            #expect(second.integer("auth_time") == first.integer("auth_time").map { $0 + 2 })
        },
        Module("oidcc-max-age-10000") { party in
            let (_, first) = try await party.expectLogin()
            party.login.server.moveClock(to: 2)
            let (_, second) = try await party.expectTokens(try await party.silent(["max_age": "10000"]))
            #expect(second.integer("auth_time") == first.integer("auth_time"))
        },
    ]

    /// What must not be followed: unknown addresses, missing types, request objects.
    static let objects: [Module] = [
        Module("oidcc-response-type-missing") { party in
            let answer = try Redirect(
                await party.browser.get(PageLoginFixture.url(party.changes(["response_type": nil]))))
            #expect(answer["error"] == "invalid_request" && answer["state"] == "a b&c=d")
        },
        Module("oidcc-ensure-registered-redirect-uri") { party in
            let url = PageLoginFixture.url(party.changes(["redirect_uri": "https://app.example/other"]))
            let answer = await party.browser.get(url)
            #expect(answer.status == 400 && answer.field("Location") == nil, "a page")
        },
        Module("oidcc-ensure-request-object-with-redirect-uri") { party in
            let answer = try Redirect(
                await party.browser.get(PageLoginFixture.url(party.changes(["request": "e30.e30."]))))
            #expect(answer.uri == RelyingParty.redirectURI && answer["error"] == "request_not_supported")
        },
        Module("oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported") { party in
            let answer = try Redirect(
                await party.browser.get(PageLoginFixture.url(party.changes(["request": "e30.e30."]))))
            #expect(answer["error"] == "request_not_supported" && answer["state"] == "a b&c=d")
        },
        Module("oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported") { party in
            let uri = "https://app.example/request.jwt"
            let answer = try Redirect(
                await party.browser.get(PageLoginFixture.url(party.changes(["request_uri": uri]))))
            #expect(answer["error"] == "request_uri_not_supported" && answer["state"] == "a b&c=d")
        },
    ]
}
