import Cryptography
import HTTP
import Testing

@testable import Endpoints

/// The conditions of the OpenID Foundation's suite for calls with a bound token, in its order and its words
/// (`fapi2-security-profile-final-dpop-negative-tests` and its siblings, conformance-suite @12f2a4da).
@Suite struct OIDFResourceTests {
    struct Condition: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let succeeds: Bool
        let edit: @Sendable (inout ProofDraft) -> Void

        static func mustFail(_ name: String, _ edit: @escaping @Sendable (inout ProofDraft) -> Void) -> Condition {
            Condition(testDescription: name, succeeds: false, edit: edit)
        }

        static func mustSucceed(_ name: String, _ edit: @escaping @Sendable (inout ProofDraft) -> Void) -> Condition {
            Condition(testDescription: name, succeeds: true, edit: edit)
        }
    }

    private static let now = EndpointsFixture.start
    private static let me = EndpointsFixture.issuer + "/v1/me"

    static let proofs: [Condition] = [
        .mustFail("Try DPoP proof where 'typ' is missing in header") { $0.header["typ"] = nil },
        .mustFail("Try DPoP proof where 'alg' is missing") { $0.header["alg"] = nil },
        .mustFail("Try DPoP proof where 'jwk' is missing") { $0.header["jwk"] = nil },
        .mustFail("Try DPoP proof where 'jti' is missing") { $0.claims["jti"] = nil },
        .mustFail("Try DPoP proof where 'htm' is missing") { $0.claims["htm"] = nil },
        .mustFail("Try DPoP proof where 'htu' is missing") { $0.claims["htu"] = nil },
        .mustFail("Try DPoP proof where 'iat' is missing") { $0.claims["iat"] = nil },
        .mustFail("Try DPoP proof where 'ath' is missing") { $0.claims["ath"] = nil },
        .mustFail("Try DPoP proof with invalid 'typ' in header") { $0.header["typ"] = #""dpop""# },
        .mustFail("Try DPoP proof signed using RS256") { $0.header["alg"] = #""RS256""# },
        .mustFail("Try DPoP proof with none alg") {
            $0.header["alg"] = #""none""#
            $0.signature = []
        },
        .mustFail("Try DPoP proof with invalid signature") { $0.signature = [UInt8](repeating: 1, count: 64) },
        .mustFail("Try DPoP proof with jwk header incorrectly containing private key") {
            $0.header["jwk"] = $0.header["jwk"].map { $0.dropLast() + #","d":"AQ"}"# }
        },
        .mustFail("Try DPoP proof with incorrect 'htm'") { $0.set("htm", "POST") },
        .mustSucceed("Try DPoP proof where 'htu' has a query/fragment") { $0.set("htu", me + "?a=b#c") },
        .mustFail("Try DPoP proof where 'htu' is a different url") {
            $0.set("htu", EndpointsFixture.issuer + "/v1/you")
        },
        .mustFail("Try DPoP proof where 'iat' is one hour in the future") { $0.claims["iat"] = "\(now + 3600)" },
        .mustFail("Try DPoP proof where 'iat' is one hour in the past") { $0.claims["iat"] = "\(now - 3600)" },
        .mustFail("Try DPoP proof where 'ath' is incorrect") { $0.set("ath", "invalid") },
        .mustSucceed("Try DPoP proof with extra claims on header and claims") {
            $0.header["extra"] = "1"
            $0.claims["extra"] = #"["x"]"#
        },
        .mustSucceed("Try DPoP proof expecting RS to compare scheme and hostname using case independent mode") {
            $0.set("htu", "HTTPS://LOGIN.example/v1/me")
        },
        .mustSucceed("Try DPoP proof expecting Scheme based normalization of htu claim") {
            $0.set("htu", "https://login.example:443/v1/me")
        },
        .mustSucceed("ensure-dpopproof-with-iat-10seconds-after-succeeds") { $0.claims["iat"] = "\(now + 10)" },
        .mustSucceed("ensure-dpopproof-with-iat-10seconds-before-succeeds") { $0.claims["iat"] = "\(now - 10)" },
        .mustSucceed("check-dpop-proof-nbf-exp") {
            $0.claims["nbf"] = "\(now)"
            $0.claims["exp"] = "\(now + 60)"
        },
        .mustSucceed("Check a correct DPoP proof still works") { _ in },
    ]

    @Test(arguments: proofs) func aProofAtAResource(_ condition: Condition) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            let proof = device.proof(server, .get, "/v1/me", token: tokens.access, edit: condition.edit)
            let answer = await server.call(
                .get, "/v1/me", fields: ["Authorization": "DPoP \(tokens.access)", "DPoP": proof])
            #expect(condition.succeeds ? answer.status == 200 : [400, 401].contains(answer.status))
        }
    }

    /// What is about more than the proof itself: field lines, schemes, keys and repetition.
    @Test func aRequestAtAResource() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            func proof(_ by: ProvingDevice = device) -> String {
                by.proof(server, .get, "/v1/me", token: tokens.access)
            }
            let first = proof()
            let bound = "DPoP \(tokens.access)"
            let rows: [(name: String, fields: Fields, isGood: Bool)] = [
                (
                    "Try DPoP proof with all upper case header value", ["Authorization": bound, "DPOP": proof()], true
                ),
                ("all upper case scheme", ["Authorization": "DPOP \(tokens.access)", "DPoP": proof()], true),
                (
                    "access-token-type-header-case-sensitivity",
                    ["Authorization": "dpop \(tokens.access)", "DPoP": proof()], true
                ),
                (
                    "Try with more than one DPoP in the header",
                    ["Authorization": bound, "DPoP": proof(), "dpop": proof()], false
                ),
                ("Try DPoP proof not well-formed JWT", ["Authorization": bound, "DPoP": "not.a-jwt"], false),
                ("DPoP reuse, First use of jti", ["Authorization": bound, "DPoP": first], true),
                ("DPoP reuse, Second use of the same jti", ["Authorization": bound, "DPoP": first], false),
                ("Try DPoP signed with a different key", ["Authorization": bound, "DPoP": proof(.init())], false),
                ("Try resource access without DPoP proof", ["Authorization": bound], false),
                (
                    "Try resource access without DPoP proof and authorization type changed to 'Bearer'",
                    ["Authorization": "Bearer \(tokens.access)"], false
                ),
                ("Check a correct DPoP proof still works", ["Authorization": bound, "DPoP": proof()], true),
            ]
            for row in rows {
                let answer = await server.call(.get, "/v1/me", fields: row.fields)
                #expect(row.isGood ? answer.status == 200 : [400, 401].contains(answer.status), "\(row.name)")
            }
            // Try DPoP proof where 'htu' does not contain the query/fragment.
            let query = await server.call(.get, "/v1/me?a=b", fields: ["Authorization": bound, "DPoP": proof()])
            #expect(query.status == 200)
        }
    }
}
