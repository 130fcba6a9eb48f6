import Cryptography
import HTTP
import JOSE
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// The client `fapi`: it pushes each request, signs assertions, and proves the possession of its key.
struct FAPIClient {
    static let redirectURI = "https://app.example/fapi"

    let login: PageLoginFixture
    let browser: Browser
    let id: String
    /// The key of the client's assertions.
    let signer: ProvingDevice
    /// The key that the tokens are bound to.
    let device = ProvingDevice()

    static func with(_ body: (FAPIClient) async throws -> Void) async throws {
        try await PageLoginFixture.with { login in try await body(try await FAPIClient("fapi", login)) }
    }

    init(_ id: String, _ login: PageLoginFixture) async throws {
        (self.login, self.id, browser, signer) = (login, id, Browser(login.server), ProvingDevice())
        _ = try await login.server.makeClient(
            #"""
            {"client_id":"\#(id)","token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[\#(signer.jwk)]},
             "grant_types":["authorization_code","refresh_token"],"scope":"openid","dpop":"required",
             "require_pushed_authorization_requests":true,"redirect_uris":["\#(Self.redirectURI)"]}
            """#)
    }

    private func assertion() -> [String: String?] {
        let now = login.server.environment.now.load(ordering: .relaxed)
        var draft = ProofDraft(header: ["alg": #""ES256""#], claims: ["iat": "\(now)", "exp": "\(now + 60)"])
        for (name, value) in [("iss", id), ("sub", id), ("aud", EndpointsFixture.issuer)] { draft.set(name, value) }
        draft.set("jti", Base64URL.encode(randomBytes(count: 12)))
        return ["client_assertion_type": Assertions.type, "client_assertion": signer.sign(draft)]
    }

    /// Sends a form to an endpoint with an assertion, and a proof of `device` unless that is nil.
    private func send(_ path: String, _ form: [String: String?], _ device: ProvingDevice?) async -> Answer {
        let all = form.merging(assertion()) { $1 }.compactMapValues { $0 }
        let fields: Fields = device.map { ["DPoP": $0.proof(login.server, .post, path)] } ?? Fields()
        return await login.server.form(path, Browser.encoded(all), fields: fields)
    }

    func push(_ changes: [String: String?] = [:], by device: ProvingDevice? = nil) async -> Answer {
        let own: [String: String?] = ["client_id": id, "redirect_uri": Self.redirectURI, "scope": "openid"]
        let parameters = PageLoginFixture.parameters(own.merging(changes) { $1 })
        return await send("/oauth/par", parameters.mapValues { $0 }, device)
    }

    /// Where the browser goes with a pushed request.
    func start(_ answer: Answer, as client: String? = nil) throws -> String {
        let uri = try #require(answer.string("request_uri"), "\(answer.text)")
        return "/oauth/authorize?client_id=\(client ?? id)&request_uri=\(PercentEncoding.encode(uri))"
    }

    /// Opens the page of a pushed request.
    func open(_ url: String) async throws -> Page {
        try Page(await browser.get(try #require(await browser.get(url).field("Location"))))
    }

    func authorize(_ changes: [String: String?] = [:], by device: ProvingDevice? = nil) async throws -> Redirect {
        let page = try await open(try start(await push(changes, by: device)))
        return try Redirect(await login.submit(browser, page))
    }

    func exchange(
        _ answer: Redirect, _ changes: [String: String?] = [:], by device: ProvingDevice?
    ) async throws -> Answer {
        let code: String = try #require(answer["code"])
        let own: [String: String?] = [
            "grant_type": "authorization_code", "code": code, "client_id": id,
            "redirect_uri": Self.redirectURI, "code_verifier": PageLoginFixture.verifier,
        ]
        return await send("/oauth/token", own.merging(changes) { $1 }, device)
    }
}

/// The modules of the OpenID Foundation's plan `fapi2-security-profile-final-test-plan` for a login, each by the end of its name:
/// `private_key_jwt`, DPoP, OpenID Connect, requests without a signature. Those for metadata, refreshes and assertions are in
/// `OIDFDiscoveryTests` and `OIDFTokenTests`, those for proofs in `RFC9449Tests`.
@Suite struct OIDFSecurityProfileTests {
    struct Module: Sendable, CustomTestStringConvertible {
        let name: String
        let check: @Sendable (FAPIClient) async throws -> Void
        var testDescription: String { name }

        init(_ name: String, _ check: @escaping @Sendable (FAPIClient) async throws -> Void) {
            (self.name, self.check) = (name, check)
        }
    }

    @Test(arguments: pushes + logins + codes) func securityProfile(_ module: Module) async throws {
        try await FAPIClient.with { client in try await module.check(client) }
    }

    private static func expect(_ answer: Answer, _ errors: String...) {
        #expect(answer.status == 400 || answer.status == 401, "\(answer.text)")
        #expect(errors.contains(answer.string("error") ?? ""), "\(answer.text)")
    }

    static let pushes: [Module] = [
        Module("happy-flow") { client in
            let pushed = await client.push()
            #expect(pushed.status == 201)
            let lifetime = try #require(pushed.integer("expires_in"))
            #expect((5...600).contains(lifetime))
            let page = try await client.open(try client.start(pushed))
            let submitted = await client.login.submit(client.browser, page)
            #expect(submitted.status == 303, "a 307 would send the password to the client")
            let answer = try Redirect(submitted)
            #expect(answer["iss"] == EndpointsFixture.issuer && answer["state"] == "a b&c=d")
            let tokens = try await client.exchange(answer, by: client.device)
            #expect(tokens.status == 200 && tokens.string("token_type") == "DPoP", "\(tokens.text)")
            let claims = try Answer.claims(of: try #require(tokens.string("access_token")))
            #expect(claims.string("cnf", "jkt") == client.device.thumbprint)
        },
        Module("ensure-unsigned-authorization-request-without-using-par-fails") { client in
            let own: [String: String?] = [
                "client_id": client.id, "redirect_uri": FAPIClient.redirectURI, "scope": "openid",
            ]
            let answer = try Redirect(await client.browser.get(PageLoginFixture.url(own)))
            #expect(answer["error"] == "invalid_request" && answer["code"] == nil)
        },
        Module("par-attempt-reuse-request_uri") { client in
            let url = try client.start(await client.push())
            _ = try Redirect(await client.login.submit(client.browser, try await client.open(url)))
            let late = try await client.open(url)
            let answer = try Redirect(await client.login.submit(client.browser, late))
            #expect(answer["error"] == "invalid_request_uri" && answer["code"] == nil)
        },
        Module("par-ensure-reused-request-uri-prior-to-auth-completion-succeeds") { client in
            let url = try client.start(await client.push())
            _ = try await client.open(url)
            let page = try await client.open(url)
            let answer = try Redirect(await client.login.submit(client.browser, page))
            #expect(answer["code"] != nil)
        },
        Module("par-attempt-to-use-expired-request_uri") { client in
            let pushed = await client.push()
            client.login.server.moveClock(to: try #require(pushed.integer("expires_in")))
            let answer = try Redirect(await client.browser.get(try client.start(pushed)))
            #expect(answer["error"] == "invalid_request_uri")
        },
        Module("par-attempt-to-use-request_uri-for-different-client") { client in
            let other = try await FAPIClient("other", client.login)
            let answer = await client.browser.get(try client.start(await client.push(), as: other.id))
            #expect(answer.status == 400 && answer.field("Location") == nil)
        },
        Module("par-authorization-request-containing-request_uri-form-param") { client in
            let pushed = await client.push()
            expect(
                await client.push(["request_uri": pushed.string("request_uri")]), "invalid_request",
                "request_uri_not_supported")
        },
        Module("par-attempt-invalid-http-method") { client in
            #expect(await client.login.server.call(.get, "/oauth/par").status == 405)
        },
        Module("par-without-duplicate-parameters") { client in
            // Beside `request_uri` the browser brings `client_id` alone.
            let answer = try await client.authorize()
            #expect(answer["code"] != nil)
        },
        Module("par-ensure-pkce-required") { client in
            expect(await client.push(["code_challenge": nil, "code_challenge_method": nil]), "invalid_request")
        },
        Module("par-plain-pkce-rejected") { client in
            expect(
                await client.push(["code_challenge": PageLoginFixture.verifier, "code_challenge_method": "plain"]),
                "invalid_request")
        },
        Module("ensure-redirect-uri-in-authorization-request") { client in
            expect(await client.push(["redirect_uri": nil]), "invalid_request")
        },
        Module("plain-fapi-tolerate-unregistered-redirect-uri") { client in
            expect(await client.push(["redirect_uri": "https://app.example/fapi/other"]), "invalid_request")
        },
        Module("ensure-response-type-code-idtoken-fails") { client in
            expect(await client.push(["response_type": "code id_token"]), "unsupported_response_type")
        },
        Module("ensure-response-type-token-fails") { client in
            expect(await client.push(["response_type": "token"]), "unsupported_response_type")
        },
        Module("ensure-mismatched-dpop-jkt-fails") { client in
            let pushed = await client.push(["dpop_jkt": ProvingDevice().thumbprint], by: client.device)
            expect(pushed, "invalid_request", "invalid_dpop_proof")
        },
    ]

    static let logins: [Module] = [
        Module("ensure-authorization-request-without-state-success") { client in
            let answer = try await client.authorize(["state": nil])
            #expect(answer.names == ["code", "iss"])
        },
        Module("ensure-authorization-request-with-long-state") { client in
            let state = String(repeating: "s", count: 384)
            let answer = try await client.authorize(["state": state])
            #expect(answer["state"] == state)
        },
        Module("ensure-authorization-request-with-64-char-nonce-success") { client in
            let nonce = String(repeating: "n", count: 64)
            let tokens = try await client.exchange(try await client.authorize(["nonce": nonce]), by: client.device)
            let claims = try Answer.claims(of: try #require(tokens.string("id_token")))
            #expect(claims.string("nonce") == nonce)
        },
        Module("user-rejects-authentication") { client in
            let page = try await client.open(try client.start(await client.push()))
            let link = page.answer.text.split(separator: "href=\"").first { $0.hasPrefix(FAPIClient.redirectURI + "?") }
            let way = try #require(link, "a way back to the client").prefix { $0 != "\"" }
            #expect(way.contains("error=access_denied") && way.contains("state=a%20b%26c%3Dd"), "\(way)")
        },
        Module("ensure-dpopproof-at-par-endpoint-binding-success") { client in
            let answer = try await client.authorize(by: client.device)
            let tokens = try await client.exchange(answer, by: client.device)
            #expect(tokens.status == 200)
        },
        Module("ensure-dpop-auth-code-binding-success") { client in
            let answer = try await client.authorize(["dpop_jkt": client.device.thumbprint])
            let tokens = try await client.exchange(answer, by: client.device)
            #expect(tokens.status == 200)
        },
        Module("ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt") { client in
            let answer = try await client.authorize(by: client.device)
            let refused = try await client.exchange(answer, by: ProvingDevice())
            expect(refused, "invalid_grant", "invalid_dpop_proof")
        },
        Module("ensure-token-endpoint-fails-with-mismatched-dpop-jkt") { client in
            let answer = try await client.authorize(["dpop_jkt": client.device.thumbprint])
            let refused = try await client.exchange(answer, by: ProvingDevice())
            expect(refused, "invalid_grant", "invalid_dpop_proof")
        },
        Module("ensure-holder-of-key-required") { client in
            let answer = try await client.authorize()
            expect(try await client.exchange(answer, by: nil), "invalid_request", "invalid_dpop_proof")
        },
    ]

    static let codes: [Module] = [
        Module("ensure-authorization-code-is-bound-to-client") { client in
            let other = try await FAPIClient("other", client.login)
            let answer = try await client.authorize()
            expect(try await other.exchange(answer, by: other.device), "invalid_grant")
            let tokens = try await client.exchange(answer, by: client.device)
            #expect(tokens.status == 200, "nothing is used up")
        },
        Module("attempt-reuse-authorization-code-after-one-second") { client in
            let answer = try await client.authorize()
            let tokens = try await client.exchange(answer, by: client.device)
            #expect(tokens.status == 200)
            client.login.server.moveClock(to: 1)
            expect(try await client.exchange(answer, by: client.device), "invalid_grant")
            let access = try #require(tokens.string("access_token"))
            let proof = client.device.proof(client.login.server, .get, "/oauth/userinfo", token: access)
            let user = await client.login.server.call(
                .get, "/oauth/userinfo", fields: ["Authorization": "DPoP \(access)", "DPoP": proof])
            #expect(user.status == 401, "its tokens are over")
        },
        Module("ensure-token-endpoint-fails-with-expired-auth-code") { client in
            let answer = try await client.authorize()
            client.login.server.moveClock(to: 60)
            expect(try await client.exchange(answer, by: client.device), "invalid_grant")
        },
        Module("ensure-pkce-code-verifier-required") { client in
            let answer = try await client.authorize()
            expect(
                try await client.exchange(answer, ["code_verifier": nil], by: client.device), "invalid_request",
                "invalid_grant")
        },
        Module("incorrect-pkce-code-verifier-rejected") { client in
            let verifier = String(repeating: "a", count: 43)
            let answer = try await client.authorize()
            expect(try await client.exchange(answer, ["code_verifier": verifier], by: client.device), "invalid_grant")
        },
        Module("access-token-type-header-case-sensitivity") { client in
            let tokens = try await client.exchange(try await client.authorize(), by: client.device)
            let access = try #require(tokens.string("access_token"))
            for scheme in ["DPoP", "dpop", "DPOP"] {
                let proof = client.device.proof(client.login.server, .get, "/oauth/userinfo", token: access)
                let user = await client.login.server.call(
                    .get, "/oauth/userinfo", fields: ["Authorization": "\(scheme) \(access)", "DPoP": proof])
                #expect(user.status == 200, "\(scheme): \(user.text)")
            }
        },
    ]
}
