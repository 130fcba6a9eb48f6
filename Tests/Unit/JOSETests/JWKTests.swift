import Cryptography
import FoundationEssentials
import Testing

@testable import JOSE

@Suite struct JWKTests {
    private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test func thumbprintIsThatOfRFC8037() throws {
        // RFC 8037 A.3
        let jwk = try decode(
            JWK.self, #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#)
        #expect(jwk.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test func thumbprintIsThatOfRFC9449() throws {
        // RFC 9449 §6.1: the key of its proofs
        let jwk = try decode(
            JWK.self,
            #"{"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","crv":"P-256","use":"sig"}"#
        )
        #expect(jwk.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(jwk.use == "sig" && jwk.kid == nil)
    }

    @Test(arguments: SignatureAlgorithm.allCases) func publishesOnlyPublicMembers(algorithm: SignatureAlgorithm) throws
    {
        let key = SigningKey.generate(algorithm)
        let jwk = JWK(publishing: key.publicKey)
        let text = String(decoding: try encodeCompactly(JWKSet([jwk])), as: UTF8.self)
        #expect(text.hasPrefix(#"{"keys":[{"alg":""# + algorithm.rawValue))
        #expect(!text.contains(#""d":"#))
        #expect(text.contains(#""kid":"\#(jwk.thumbprint)""#) && text.contains(#""use":"sig""#))
        #expect(try decode(JWKSet.self, text) == JWKSet([jwk]))
    }

    @Test(arguments: [
        #"{}"#, #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
        #"{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        #"{"kty":"EC","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo="}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHUR"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}"#,
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
    ])
    func refusesForeignBrokenAndPrivateKeys(text: String) {
        #expect(throws: (any Error).self) { try decode(JWK.self, text) }
    }

    @Test func aSetIgnoresKeysItCannotUse() throws {
        let set = try decode(
            JWKSet.self,
            #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"r"},{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"e"},7]}"#
        )
        #expect(set.keys.map(\.kid) == ["e"])
        #expect(set.verificationKey(kid: "e") != nil)
        #expect(set.verificationKey(kid: "r") == nil)
        #expect(set.verificationKey(kid: nil) != nil, "it is the only one")
    }

    @Test func aTokenWithoutKidFindsNoKeyAmongTwo() {
        let keys = [SigningKey.generate(.es256), .generate(.es256)].map { JWK(publishing: $0.publicKey) }
        #expect(JWKSet(keys).verificationKey(kid: nil) == nil)
        #expect(JWKSet(keys).verificationKey(kid: keys[1].kid) == keys[1].verificationKey)
        #expect(JWKSet([]).verificationKey(kid: nil) == nil)
    }

    @Test func keysForOtherPurposesVerifyNothing() throws {
        let x = #""kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"e""#
        for extra in [#""use":"enc""#, #""alg":"ES256""#, #""key_ops":["encrypt"]"#, #""key_ops":[]"#] {
            let set = try decode(JWKSet.self, #"{"keys":[{\#(x),\#(extra)}]}"#)
            #expect(set.keys.count == 1)
            #expect(set.verificationKey(kid: "e") == nil)
        }
    }
}
