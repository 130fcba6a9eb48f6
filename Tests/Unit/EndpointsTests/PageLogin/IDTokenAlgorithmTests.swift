import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A client that knows RS256 alone: its ID tokens have a key of their own, which every server has and which signs nothing else.
@Suite struct IDTokenAlgorithmTests {
    private func header(_ token: String) throws -> JSONValue {
        let part = String(token.prefix { $0 != "." })
        return try #require(Base64URL.decode(part).flatMap { JSONValue(text: $0) })
    }

    private func keys(_ login: PageLoginFixture) async throws -> [JSONValue] {
        let answer = await login.server.call(.get, "/oauth/jwks")
        return try #require(JSONValue(text: answer.response.body)?["keys"]?.elements)
    }

    @Test("the RSA key is served and listed before a client needs it, and signs ID tokens alone")
    func servedAndListed() async throws {
        try await PageLoginFixture.with { login in
            #expect(try await keys(login).compactMap { $0["kty"]?.string }.sorted() == ["EC", "RSA"])
            let other = try #require(await login.exchange(try await login.code()).string("id_token"))
            #expect(try header(other)["alg"]?.string == "ES256")
            let changed = await login.server.admin(
                .patch, "/admin/v1/clients/shop", #"{"id_token_signed_response_alg":"RS256"}"#)
            #expect(changed.string("id_token_signed_response_alg") == "RS256", "\(changed.text)")
            let published = try await keys(login)
            #expect(published.compactMap { $0["kty"]?.string }.sorted() == ["EC", "RSA"])
            let rsa = try #require(published.first { $0["kty"]?.string == "RSA" })
            #expect(rsa["alg"]?.string == "RS256")
            let answer = await login.exchange(try await login.code())
            let idToken = try #require(answer.string("id_token"))
            let head = try header(idToken)
            #expect(head["alg"]?.string == "RS256" && head["kid"] == rsa["kid"])
            #expect(try header(try #require(answer.string("access_token")))["alg"]?.string == "ES256")
            #expect(try Answer.claims(of: idToken).string("acr") == "password")
            // The server knows its own hint again.
            let browser = Browser(login.server)
            #expect(await browser.get("/oauth/logout?id_token_hint=\(idToken)").status == 200)
            let metadata = await login.server.call(.get, "/.well-known/openid-configuration")
            #expect(metadata.strings("id_token_signing_alg_values_supported") == ["ES256", "RS256"])
            #expect(metadata.strings("introspection_signing_alg_values_supported") == ["ES256"])
            #expect(metadata.bool("backchannel_logout_supported") == true)
            #expect(metadata.bool("backchannel_logout_session_supported") == true)
        }
    }

    @Test func itIsReplacedWhenItIsWithdrawn() async throws {
        try await PageLoginFixture.with(#","id_token_signed_response_alg":"RS256""#) { login in
            let old = try #require(try await keys(login).first { $0["kty"]?.string == "RSA" }?["kid"]?.string)
            let main = try #require(try await keys(login).first { $0["kty"]?.string == "EC" }?["kid"]?.string)
            #expect(await login.server.admin(.delete, "/admin/v1/keys/\(old)").status == 204)
            let left = try await keys(login)
            #expect(left.contains { $0["kid"]?.string == main } && !left.contains { $0["kid"]?.string == old })
            let token = try #require(await login.exchange(try await login.code()).string("id_token"))
            #expect(try header(token)["alg"]?.string == "RS256")
            #expect(try header(token)["kid"]?.string != old)
        }
    }

    @Test(arguments: [#""ES512""#, #""none""#, "7"]) func noOtherAlgorithmIsTaken(_ value: String) async throws {
        try await PageLoginFixture.with { login in
            let answer = await login.server.admin(
                .patch, "/admin/v1/clients/shop", #"{"id_token_signed_response_alg":\#(value)}"#)
            #expect(answer.status == 422 || answer.status == 400, "\(answer.text)")
        }
    }
}
