import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// The log of a refused client: its id, what it sent and what was expected, and never a secret. `EndpointsFixture` looks for its
/// secrets in every line of the log.
@Suite struct ClientRefusalLogTests {
    private struct Line {
        let client, sent, expected: String?
    }

    /// The lines of the log about refused clients.
    private func lines(_ server: EndpointsFixture) -> [Line] {
        server.log.compactMap { line in
            guard let json = JSONValue(text: Array(line.utf8)), json["sent"] != nil else { return nil }
            #expect(json["level"]?.string == "info", "\(line)")
            return Line(
                client: json["client_id"]?.string, sent: json["sent"]?.string, expected: json["expected"]?.string)
        }
    }

    @Test("a failed authentication logs the method and the methods of the client")
    func authentication() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(
                try await server.makeClient(
                    #"""
                    {"client_id":"web","token_endpoint_auth_method":"client_secret_post",
                     "token_endpoint_auth_method_pinned":true,"grant_types":["client_credentials"]}
                    """#))
            let grant = "grant_type=client_credentials"
            _ = await server.form("/oauth/token", grant, basic: "web:\(secret)")
            _ = await server.form("/oauth/token", grant + "&client_id=web")
            _ = await server.form("/oauth/token", grant + "&client_id=web&client_secret=x\(secret)")
            _ = await server.form("/oauth/token", grant, basic: "\(secret):web")
            let found = lines(server)
            try #require(found.count == 4, "\(server.log)")
            #expect(found[0].sent == "client_secret_basic" && found[0].expected == "client_secret_post")
            #expect(found[1].sent == "none" && found[1].expected == "client_secret_post")
            #expect(found[2].sent == "another secret by client_secret_post")
            #expect(found.prefix(3).allSatisfy { $0.client == "web" })
            #expect(found[3].sent == "an unknown client_id" && found[3].client == nil)
            #expect(!server.log.contains { $0.contains(secret) })
        }
    }

    @Test("a refused verifier logs its length and its alphabet, and nothing of itself")
    func verifier() async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let wrong = PageLoginFixture.verifier.dropLast(2) + "=+"
            _ = await login.exchange(code, ["code_verifier": String(wrong)])
            _ = await login.exchange(code, ["redirect_uri": "http://127.0.0.1/cb"])
            let found = lines(login.server)
            try #require(found.count == 2)
            #expect(found[0].sent == "a code_verifier of 43 bytes, 2 of them outside of the alphabet")
            #expect(found[0].expected?.hasSuffix("43 to 128 characters of A-Z a-z 0-9 - . _ ~") == true)
            #expect(found[1].sent == "redirect_uri http://127.0.0.1/cb")
            #expect(found[1].expected == PageLoginFixture.redirectURI)
            #expect(found.allSatisfy { $0.client == "shop" })
            #expect(!login.server.log.contains { $0.contains(PageLoginFixture.verifier.dropLast(2)) })
        }
    }

    @Test("a refused authorization request logs its PKCE and its nonce, or the redirect URIs of the client")
    func authorization() async throws {
        try await PageLoginFixture.with { login in
            let browser = Browser(login.server)
            _ = await browser.get(PageLoginFixture.url(["code_challenge_method": "plain"]))
            _ = await browser.get(PageLoginFixture.url(["redirect_uri": "https://app.example/cb/"]))
            _ = await login.server.form(
                "/oauth/par", Browser.encoded(PageLoginFixture.parameters(["code_challenge": nil, "nonce": nil])))
            let found = lines(login.server)
            try #require(found.count == 3, "\(login.server.log)")
            #expect(
                found[0].sent?.contains("code_challenge of 43 bytes, code_challenge_method plain, nonce present")
                    == true)
            #expect(found[0].expected == "code_challenge_method must be S256.")
            #expect(found[1].sent == "redirect_uri https://app.example/cb/")
            #expect(found[1].expected?.contains("https://app.example/cb?a=1") == true)
            #expect(
                found[2].sent?.contains("code_challenge none") == true && found[2].sent?.contains("nonce none") == true)
            #expect(found.allSatisfy { $0.client == "shop" })
        }
    }
}
