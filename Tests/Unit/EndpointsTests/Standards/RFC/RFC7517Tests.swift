import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import Testing

@testable import Endpoints

/// The published keys: RFC 7517 sections 4 and 5, RFC 7518 section 6.2.1, RFC 8037 section 2.
@Suite struct RFC7517Tests {
    static let demands: [Demand] = [
        Demand(
            "5", "a set", .get("/oauth/jwks"), 200, fields: [("Content-Type", "application/json")],
            members: ["keys": nil]),
        Demand("5", "for everybody", .get("/oauth/jwks", authorization: "Bearer x"), 200),
        Demand(
            "5", "GET alone", .post("/oauth/jwks", ""), 405, "method_not_allowed",
            fields: [("Allow", "GET, HEAD, OPTIONS")]),
    ]

    @Test(arguments: demands) func theClauseHolds(_ demand: Demand) async throws { try await demand.check() }

    @Test func everyKeySaysWhatItIsFor_andNoneIsPrivate() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.call(.get, "/oauth/jwks")
            let keys = answer.elements("keys")
            #expect(!keys.isEmpty)
            for key in keys {
                // Section 4.2 to 4.5: for signatures, with one algorithm, under a name of its own.
                #expect(key.string("use") == "sig")
                if key.string("kty") == "RSA" {
                    #expect(key.string("alg") == "RS256" && key.string("e") == "AQAB")
                } else {
                    #expect(key.string("alg") == "ES256")
                    #expect(key.string("kty") == "EC" && key.string("crv") == "P-256")
                    // RFC 7518 section 6.2.1.2: coordinates keep their leading zeros.
                    for name in ["x", "y"] { #expect(Base64URL.decode(key.string(name) ?? "")?.count == 32) }
                }
                // RFC 7518 section 6.2.2, 6.3.2 and 6.4: what is private.
                #expect(key.names.isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]))
            }
            #expect(Set(keys.compactMap { $0.string("kid") }).count == keys.count)
        }
    }
}
