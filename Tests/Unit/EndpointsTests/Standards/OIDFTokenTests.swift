import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import JSON
import Testing

@testable import Endpoints

/// The conditions of the OpenID Foundation's suite for the token endpoint, as far as they are about refreshes, bound keys and
/// client assertions (conformance-suite @12f2a4da), each by its name.
///
/// The one about RS256 holds for clients with keys on curves, and with RSA keys of the `alg` PS256. Another RSA key takes
/// RS256 as well (`RFC7523Tests`), which FAPI 2.0 section 5.4 forbids: under that profile clients get no such keys.
@Suite struct OIDFTokenTests {
    /// sequence/client/RefreshTokenRequestSteps.java
    private func expectSuccess(_ answer: Answer, after before: Tokens, type: String) throws {
        #expect(answer.status == 200, "CheckTokenEndpointHttpStatus200")
        #expect(answer.field("Content-Type") == "application/json", "CheckTokenEndpointReturnedJsonContentType")
        #expect(answer.field("Cache-Control") == "no-store", "CheckTokenEndpointCacheHeaders")
        #expect(answer.field("Pragma") == "no-cache", "CheckTokenEndpointCacheHeaders")
        #expect(!answer.names.contains("error"), "CheckIfTokenEndpointResponseError")
        #expect(answer.string("token_type") == type, "CheckTokenTypeIsDpop, CheckTokenTypeIsBearer")
        let tokens = try Tokens(answer)
        // RFC 6749 appendix A.12 and A.17: VSCHAR. 128 bits in base64 are 22 characters.
        for token in [tokens.access, tokens.refresh] {
            #expect(token.utf8.count >= 22, "EnsureMinimumAccessTokenEntropy, EnsureMinimumRefreshTokenLength")
            #expect(
                token.utf8.allSatisfy { (0x20...0x7E).contains($0) },
                "EnsureAccessTokenContainsAllowedCharactersOnly, EnsureRefreshTokenContainsAllowedCharactersOnly")
        }
        #expect((answer.integer("expires_in") ?? 0) > 0, "ValidateExpiresIn")
        #expect(tokens.access != before.access, "EnsureAccessTokenValuesAreDifferent")
    }

    /// sequence/client/RefreshTokenRequestExpectingErrorSteps.java
    private func expectError(_ answer: Answer, _ statuses: [Int], _ errors: [String], _ name: String) {
        #expect(statuses.contains(answer.status), "\(name): CheckTokenEndpointHttpStatus")
        #expect(answer.field("Content-Type") == "application/json", "\(name): JSON")
        #expect(errors.contains(answer.string("error") ?? ""), "\(name): \(answer.text)")
        let description = answer.string("error_description") ?? ""
        #expect(
            description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C },
            "\(name): ValidateErrorDescriptionFromTokenEndpointResponseError")
        #expect(answer.string("error_uri") == nil, "\(name): ValidateErrorUriFromTokenEndpointResponseError")
    }

    /// FAPI 2.0 section 5.3.2.1: refresh tokens are not rotated, or else a retry with the one before has to succeed.
    @Test(arguments: [0, 1, 120], [false, true])
    func aRetryWithThePreviousRefreshTokenSucceedsAfter30Seconds(interval: Int64, isBound: Bool) async throws {
        try await EndpointsFixture.with { server in
            let settings = await server.admin(
                .put, "/admin/v1/settings/sessions", #"{"rotation_interval":\#(interval)}"#)
            #expect(settings.status == 200)
            let device = ProvingDevice()
            let login = isBound ? try await server.logIn(device) : try await server.logIn()
            func refresh(_ token: String) async -> Answer {
                isBound ? await server.refresh(token, by: device) : await server.refresh(token)
            }
            let type = isBound ? "DPoP" : "Bearer"
            server.moveClock(to: 3600)
            let first = await refresh(login.refresh)
            try expectSuccess(first, after: login, type: type)
            #expect(try Tokens(first).refresh != login.refresh)
            server.moveClock(to: 3630)
            let retry = await refresh(login.refresh)
            try expectSuccess(retry, after: login, type: type)
            server.moveClock(to: 7200)
            try expectSuccess(await refresh(try Tokens(retry).refresh), after: try Tokens(retry), type: type)
        }
    }

    /// fapi2-security-profile-final-refresh-token, oidcc-refresh-token
    @Test func aRefreshTokenIsBoundToItsClient() async throws {
        try await EndpointsFixture.with { server in
            let grants = #""grant_types":["password","refresh_token"]"#
            let web = try #require(
                try await server.makeClient(
                    #"{"client_id":"web","token_endpoint_auth_method":"client_secret_basic",\#(grants)}"#))
            let other = try #require(
                try await server.makeClient(
                    #"{"client_id":"other","token_endpoint_auth_method":"client_secret_basic",\#(grants)}"#))
            let login = try Tokens(
                await server.form(
                    "/oauth/token", "grant_type=password&username=anna&password=correct+horse", basic: "web:\(web)"))
            let refresh = "grant_type=refresh_token&refresh_token=\(login.refresh)"
            let clientOrGrant = ["invalid_client", "invalid_grant", "invalid_request"]
            expectError(
                await server.form("/oauth/token", refresh), [400, 401], clientOrGrant, "omits client authentication")
            expectError(
                await server.form("/oauth/token", refresh + "&client_id=web"), [400, 401], ["invalid_client"],
                "names the client alone")
            expectError(
                await server.form("/oauth/token", refresh, basic: "other:\(other)"), [400], ["invalid_grant"],
                "the refresh token with a second client")
            // ensure-client-id-in-token-endpoint
            expectError(
                await server.form("/oauth/token", refresh + "&client_id=other", basic: "web:\(web)"), [400, 401],
                clientOrGrant, "client_id of the second client")
            server.moveClock(to: 3600)
            let answer = await server.form("/oauth/token", refresh, basic: "web:\(web)")
            try expectSuccess(answer, after: login, type: "Bearer")
        }
    }

    /// fapi2-security-profile-final-ensure-holder-of-key-required, …-ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt
    @Test func aBoundRefreshTokenTakesAProofOfItsKey() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"bound","dpop":"required"}"#)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device, client: "bound")
            let errors = ["invalid_request", "invalid_grant", "invalid_dpop_proof"]
            expectError(await server.refresh(tokens.refresh), [400], errors, "EnsureHttpStatusCodeIs4xx: no proof")
            expectError(
                await server.refresh(tokens.refresh, by: ProvingDevice()), [400], errors,
                "CheckTokenEndpointReturnedInvalidRequestGrantOrDPopProofError")
            server.moveClock(to: 3600)
            try expectSuccess(await server.refresh(tokens.refresh, by: device), after: tokens, type: "DPoP")
        }
    }

    /// oidcc-refresh-token-rp-key-rotation: the session of a client outlives the key with which the client got it.
    @Test func aRefreshSignedByANewKeyOfTheClientSucceeds() async throws {
        try await Assertions.with { world in
            let server = world.server
            let renewed = Assertions(server: server, key: .generate(.es256))
            func register(_ key: SigningKey, kid: String) async throws {
                let keys = try JSONEncoder().encode(JWKSet([JWK(publishing: key.publicKey, kid: kid)]))
                let answer = await server.admin(
                    .patch, "/admin/v1/clients/signer",
                    #"{"jwks":\#(String(decoding: keys, as: UTF8.self)),"grant_types":["password","refresh_token"]}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
            /// Asks with an assertion by that key, with that `kid` in its header.
            func ask(_ form: String, _ signer: Assertions, kid: String, at seconds: Int64) async -> Answer {
                let claims = Self.whole + #","exp":\#(Self.now + seconds + 60),"iat":\#(Self.now + seconds)"#
                let assertion = signer.assertion(
                    claims, jti: "\(kid)-\(seconds)", header: #"{"alg":"ES256","kid":"\#(kid)"}"#)
                return await server.form(
                    "/oauth/token", form + "&client_assertion_type=\(Assertions.type)&client_assertion=\(assertion)")
            }
            try await register(world.key, kid: "first")
            let password = "grant_type=password&username=anna&password=correct+horse"
            let login = try Tokens(await ask(password, world, kid: "first", at: 0))

            try await register(renewed.key, kid: "second")
            server.moveClock(to: 60)
            let refresh = "grant_type=refresh_token&refresh_token=\(login.refresh)"
            for kid in ["first", "second"] {
                expectError(
                    await ask(refresh, world, kid: kid, at: 60), [401], ["invalid_client"],
                    "signed by the removed key as \(kid)")
            }
            try expectSuccess(await ask(refresh, renewed, kid: "second", at: 61), after: login, type: "Bearer")
        }
    }

    private static let now = EndpointsFixture.start
    private static let named = #""iss":"signer","aud":"\#(EndpointsFixture.issuer)""#
    private static let whole = named + #","sub":"signer""#
    static let assertions: [(name: String, claims: String, isGood: Bool)] = [
        ("ensure-client-assertion-with-exp-is-5-minutes-in-past-fails", whole + #","exp":\#(now - 300)"#, false),
        ("ensure-client-assertion-with-no-sub-fails", named + #","exp":\#(now + 60)"#, false),
        (
            "ensure-client-assertion-with-wrong-aud-fails",
            #""iss":"signer","sub":"signer","aud":"https://other.example","exp":\#(now + 60)"#, false
        ),
        (
            "test-token-endpoint-url-as-audience-fails",
            #""iss":"signer","sub":"signer","aud":"\#(EndpointsFixture.issuer)/oauth/token","exp":\#(now + 60)"#, false
        ),
        (
            "ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted",
            whole + #","exp":\#(now + 60),"iat":\#(now + 8),"nbf":\#(now + 8)"#, true
        ),
        (
            "ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails",
            whole + #","exp":\#(now + 120),"iat":\#(now + 61),"nbf":\#(now + 61)"#, false
        ),
        ("oidcc-ensure-client-assertion-with-iss-aud-succeeds", whole + #","exp":\#(now + 60)"#, true),
    ]

    @Test(arguments: assertions.indices) func aClientAssertion(_ index: Int) async throws {
        let row = Self.assertions[index]
        try await Assertions.with { world in
            let answer = await world.ask(world.assertion(row.claims))
            if row.isGood {
                #expect(answer.status == 200, "\(row.name): \(answer.text)")
            } else {
                expectError(answer, [400, 401], ["invalid_client", "invalid_request"], row.name)
            }
        }
    }

    /// ensure-client-assertion-in-token-endpoint, ensure-signed-client-assertion-with-RS256-fails
    @Test func aClientWithKeysIsNotBelievedWithoutThem() async throws {
        try await Assertions.with { world in
            let errors = ["invalid_client", "invalid_request"]
            let form = "grant_type=client_credentials&client_id=signer"
            expectError(await world.server.form("/oauth/token", form), [400, 401], errors, "no assertion")
            let other = await world.ask(world.assertion(header: #"{"alg":"RS256"}"#))
            expectError(other, [400, 401], errors, "ensure-signed-client-assertion-with-RS256-fails")
        }
    }
}
