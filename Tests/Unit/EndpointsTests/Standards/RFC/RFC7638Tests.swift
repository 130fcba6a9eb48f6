import HTTP
import Cryptography
import FoundationEssentials
import JOSE
import Testing

@testable import Endpoints

/// Thumbprints: RFC 7638 section 3, RFC 8037 appendix A.3.
@Suite struct RFC7638Tests {
    @Test(arguments: [
        (
            "3.1",
            #"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#,
            "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
        ),
        (
            "RFC 8037 A.3", #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
        ),
        (
            "RFC 9449 6.1",
            #"{"kty":"EC","crv":"P-256","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","use":"sig"}"#,
            "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        ),
    ])
    func thumbprints(_ clause: String, _ key: String, _ thumbprint: String) throws {
        #expect(try JSONDecoder().decode(JWK.self, from: Data(key.utf8)).thumbprint == thumbprint, "\(clause)")
    }

    /// Section 1: the published names are thumbprints, so that equal keys have equal names on every node.
    @Test func publishedNamesAreThumbprints() async throws {
        try await EndpointsFixture.with { server in
            for key in await server.call(.get, "/oauth/jwks").elements("keys") {
                if key.string("kty") == "RSA" {
                    let modulus = try #require(key.string("n").flatMap { Base64URL.decode($0) })
                    let exponent = try #require(key.string("e").flatMap { Base64URL.decode($0) })
                    let bare = JWK(try #require(VerificationKey(.rsa(n: modulus, e: exponent))))
                    #expect(key.string("kid") == bare.thumbprint)
                    continue
                }
                let x = try #require(key.string("x").flatMap { Base64URL.decode($0) })
                let y = try #require(key.string("y").flatMap { Base64URL.decode($0) })
                let bare = JWK(try #require(VerificationKey(.p256(x: x, y: y))))
                #expect(key.string("kid") == bare.thumbprint)
            }
        }
    }
}
