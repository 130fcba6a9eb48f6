import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// PKCE as a rule of the client (RFC 7636, RFC 9700 section 2.1.1).
@Suite struct RFC7636Tests {
    private static let none: [String: String?] = ["code_challenge": nil, "code_challenge_method": nil]

    /// A server with the confidential client `shop`, its optional PKCE and its secret.
    private func withOptional(
        _ more: String = "", _ body: (PageLoginFixture, _ basic: String) async throws -> Void
    ) async throws {
        try await PageLoginFixture.with { login in
            let changed = await login.server.admin(
                .patch, "/admin/v1/clients/shop",
                #"{"token_endpoint_auth_method":"client_secret_basic","pkce":"optional"\#(more)}"#)
            #expect(changed.string("pkce") == "optional", "\(changed.text)")
            try await body(login, "shop:\(try #require(changed.string("client_secret")))")
        }
    }

    @Test("a client with optional PKCE logs in with a nonce alone, which its ID token repeats")
    func nonceAlone() async throws {
        try await withOptional { login, basic in
            let code = try await login.code(nil, Self.none)
            let answer = await login.exchange(code, ["client_id": nil, "code_verifier": nil], basic: basic)
            let idToken = try #require(answer.string("id_token"), "\(answer.text)")
            #expect(try Answer.claims(of: idToken).string("nonce") == "n-1")
        }
    }

    @Test("a challenge that was sent counts, although it is optional")
    func challengeCounts() async throws {
        try await withOptional { login, basic in
            let code = try await login.code()
            for wrong in [nil, String(repeating: "x", count: 43)] {
                let answer = await login.exchange(code, ["client_id": nil, "code_verifier": wrong], basic: basic)
                #expect(answer.status == 400 && answer.string("error") == "invalid_grant", "\(answer.text)")
            }
            #expect(await login.exchange(code, ["client_id": nil], basic: basic).status == 200)
        }
    }

    @Test("a verifier for a request without a challenge is refused (RFC 9700 section 4.8.2)")
    func downgrade() async throws {
        try await withOptional { login, basic in
            let code = try await login.code(nil, Self.none)
            let answer = await login.exchange(code, ["client_id": nil], basic: basic)
            #expect(answer.status == 400 && answer.string("error") == "invalid_grant", "\(answer.text)")
            let right = await login.exchange(code, ["client_id": nil, "code_verifier": nil], basic: basic)
            #expect(right.status == 200)
        }
    }

    @Test(
        "a request without a challenge needs a nonce, the scope openid, and no method",
        arguments: [
            ["nonce": nil], ["scope": "email read"], ["code_challenge_method": "S256"],
            ["code_challenge_method": "plain"],
        ] as [[String: String?]])
    func weakRequest(_ changes: [String: String?]) async throws {
        try await withOptional { login, _ in
            let all = Self.none.merging(changes) { $1 }
            let answer = try Redirect(await Browser(login.server).get(PageLoginFixture.url(all)))
            #expect(answer["error"] == "invalid_request")
        }
    }

    @Test("PKCE is required by default, for each kind of client, and of a public one always")
    func requiredByDefault() async throws {
        try await PageLoginFixture.with { login in
            let shop = "/admin/v1/clients/shop"
            #expect(await login.server.admin(.get, shop).string("pkce") == "required")
            for method in ["none", "client_secret_post"] {
                _ = await login.server.admin(.patch, shop, #"{"token_endpoint_auth_method":"\#(method)"}"#)
                let answer = try Redirect(await Browser(login.server).get(PageLoginFixture.url(Self.none)))
                #expect(answer["error"] == "invalid_request", "\(method)")
            }
            let optional = await login.server.admin(.patch, shop, #"{"pkce":"optional"}"#)
            #expect(optional.status == 200)
            let open = await login.server.admin(.patch, shop, #"{"token_endpoint_auth_method":"none"}"#)
            #expect(
                open.status == 400 && open.text.contains("pkce of a public client must be required"), "\(open.text)")
        }
    }

    @Test("a code of a request without a challenge is refused once the client requires PKCE again")
    func ruleAtTheExchange() async throws {
        try await withOptional { login, basic in
            let code = try await login.code(nil, Self.none)
            _ = await login.server.admin(.patch, "/admin/v1/clients/shop", #"{"pkce":"required"}"#)
            let answer = await login.exchange(code, ["client_id": nil, "code_verifier": ""], basic: basic)
            #expect(answer.status == 400, "\(answer.text)")
            let other = await login.exchange(code, ["client_id": nil], basic: basic)
            #expect(other.status == 400 && other.string("error") == "invalid_grant")
        }
    }

    @Test("a pushed request follows the same rule")
    func pushed() async throws {
        try await withOptional { login, basic in
            func push(_ changes: [String: String?]) async -> Answer {
                let form = PageLoginFixture.parameters(Self.none.merging(changes) { $1 })
                return await login.server.form("/oauth/par", Browser.encoded(form), basic: basic)
            }
            #expect(await push([:]).status == 201)
            #expect(await push(["nonce": nil]).string("error") == "invalid_request")
        }
    }
}
