import Cryptography
import HTTP
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// The way of a login from the authorization request to the tokens.
@Suite struct LoginWalkTests {
    @Test func aLoginLeadsFromTheRequestToASession() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            let page = try await login.page(browser)
            #expect(page.answer.status == 200)
            #expect(page.answer.field("Content-Type") == "text/html; charset=utf-8")
            let answer = try Redirect(await login.submit(browser, page))
            #expect(answer.uri == PageLoginFixture.redirectURI)
            #expect(answer.names == ["code", "state", "iss"])
            #expect(answer["state"] == "a b&c=d")
            #expect(answer["iss"] == EndpointsFixture.issuer)
            let code = try #require(answer["code"])
            let tokens = try Tokens(await login.exchange(code))
            #expect(tokens.answer.status == 200)
            let claims = try Answer.claims(of: tokens.access)
            #expect(claims.string("sid") == tokens.sessionID)
            #expect(claims.string("scope") == "openid email read")
            #expect(claims.strings("amr") == ["pwd"])
            #expect(await login.server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func theIDTokenNamesTheSessionAndTheAuthentication() async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            login.server.moveClock(to: 20)
            let answer = await login.exchange(code)
            let token = try #require(answer.string("id_token"))
            let claims = try Answer.claims(of: token)
            #expect(claims.string("iss") == EndpointsFixture.issuer)
            #expect(claims.string("aud") == "shop")
            #expect(claims.string("azp") == "shop")
            #expect(claims.string("nonce") == "n-1")
            #expect(claims.string("sid") == answer.string("session_id"))
            #expect(claims.string("sub") == answer.string("user", "user_id"))
            #expect(claims.integer("auth_time") == EndpointsFixture.start)
            #expect(claims.integer("iat") == EndpointsFixture.start + 20)
            #expect(claims.integer("exp") == EndpointsFixture.start + 320)
            #expect(claims.strings("amr") == ["pwd"])
            #expect(claims.string("email") == "anna@example.org")
            #expect(claims.string("preferred_username") == nil)
            let access = try #require(answer.string("access_token"))
            #expect(claims.string("at_hash") == Base64URL.encode(Array(sha256(Array(access.utf8)).prefix(16))))
            #expect(try JWT.parse(token).header.alg.rawValue == "ES256")
            #expect(login.server.endpoints.services.pageLogin.hint(token)?.sessionID == claims.string("sid"))
            // An ID token opens nothing.
            #expect(await login.server.call(.get, "/v1/me", bearer: token).status == 401)
            let user = await login.server.call(.get, "/oauth/userinfo", bearer: access)
            #expect(
                user.text
                    == #"{"email":"anna@example.org","email_verified":false,"sub":"\#(claims.string("sub") ?? "")"}"#)
            let posted = await login.server.form("/oauth/userinfo", "access_token=\(access)")
            #expect(posted.text == user.text)
        }
    }
}
