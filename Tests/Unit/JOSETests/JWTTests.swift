import Cryptography
import Testing

@testable import JOSE

struct Claims: Codable, Equatable {
    var iss = "https://issuer.example"
    var sub = "usr_1"
    var exp = 2_000_000_000
}

/// A token from the text of its header and payload, truly signed by `key`.
func token(header: String, payload: String = #"{"sub":"usr_1"}"#, key: SigningKey) -> String {
    let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
}

/// What refuses the token, nil when it is accepted as an access token of `key`.
func refusal(_ token: String, key: VerificationKey) -> JWTError? {
    do throws(JWTError) {
        _ = try JWT.parse(token).verify(using: { _ in key }, type: .accessToken)
        return nil
    } catch { return error }
}

@Suite struct JWTTests {
    @Test(arguments: SignatureAlgorithm.allCases) func readsWhatItSigned(algorithm: SignatureAlgorithm) throws {
        let key = SigningKey.generate(algorithm)
        let signer = try JWTSigner(key: key)
        let set = JWKSet([JWK(publishing: key.publicKey)])
        let token = try signer.sign(claims: Claims())
        let jwt = try JWT.parse(token).verify(using: set.verificationKey, type: .accessToken)
        #expect(try jwt.claims(as: Claims.self) == Claims())
        #expect(jwt.header == (try JWT.parse(token).header))
        #expect(jwt.header.alg == algorithm.verification && jwt.header.typ == "at+jwt" && jwt.header.kid == signer.kid)
        #expect(signer.kid == JWK(key.publicKey).thumbprint)
    }

    @Test func writesTheHeaderOnceAndSignsEncodedClaimsAsTheyAre() throws {
        let signer = try JWTSigner(key: .generate(.es256), kid: "k/1")
        let text = #"{"sub":"1","a":"/"}"#
        let segments = signer.sign(encodedClaims: Array(text.utf8)).split(separator: ".")
        #expect(Base64URL.decode(segments[0]) == Array(#"{"alg":"ES256","kid":"k/1","typ":"at+jwt"}"#.utf8))
        #expect(Base64URL.decode(segments[1]) == Array(text.utf8))
        #expect(Base64URL.decode(segments[2])?.count == 64)
        let once = try JWT.sign(claims: Claims(), typ: "x+jwt", key: signer.key, kid: "k/1")
        #expect(try JWT.parse(once).header.typ == "x+jwt")
    }

    @Test func verifiesES256OfRFC7515() throws {
        let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let key = try #require(VerificationKey(.p256(x: x, y: y)))
        let token =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        struct A3: Decodable { let iss: String, exp: Int }
        let claims = try JWT.parse(token).verify(using: { _ in key }, type: .jwtOrAbsent).claims(as: A3.self)
        #expect(claims.iss == "joe" && claims.exp == 1_300_819_380)
        #expect(refusal(token, key: key) == .unexpectedType)
    }

    @Test func verifiesEdDSAOfRFC8037() throws {
        let x = try #require(Base64URL.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        let key = try #require(VerificationKey(.ed25519(x: x)))
        let token = try JWT.parse(
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        )
        try token.verifySignature(key)
        #expect(throws: JWTError.invalidClaims, "its payload is prose, signed or not") {
            try token.verify(using: { _ in key }, type: .jwtOrAbsent)
        }
    }

    @Test func readsTheProofOfRFC9449WithItsOwnKey() throws {
        let proof =
            "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
        let jwt = try JWT.parse(proof, embeddedKey: .required).verifyWithEmbeddedKey(type: .dpopProof)
        #expect(jwt.header.jwk?.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(throws: JWTError.embeddedKey) { try JWT.parse(proof) }
        let key = SigningKey.generate(.es256)
        let without = try JWTSigner(key: key, typ: "dpop+jwt").sign(claims: Claims())
        #expect(throws: JWTError.missingEmbeddedKey) { try JWT.parse(without, embeddedKey: .required) }
        #expect(throws: JWTError.missingEmbeddedKey) {
            try JWT.parse(without).verifyWithEmbeddedKey(type: .dpopProof)
        }
    }

    @Test func aProofMustNotCarryAPrivateOrBrokenKey() throws {
        let key = SigningKey.generate(.eddsa)
        guard case .ed25519(let bytes) = key.publicKey.coordinates else { return }
        let x = Base64URL.encode(bytes)
        let sound = #""kty":"OKP","crv":"Ed25519","x":"\#(x)""#
        func proof(_ jwk: String) -> String {
            token(header: #"{"alg":"EdDSA","typ":"dpop+jwt","jwk":\#(jwk)}"#, key: key)
        }
        _ = try JWT.parse(proof("{\(sound)}"), embeddedKey: .required).verifyWithEmbeddedKey(type: .dpopProof)
        for jwk in ["{\(sound),\"d\":\"\(x)\"}", "{}", "null", "\"\(x)\"", #"{"kty":"oct","k":"AAAA"}"#] {
            #expect(throws: JWTError.missingEmbeddedKey) { try JWT.parse(proof(jwk), embeddedKey: .required) }
        }
        #expect(throws: JWTError.duplicateMember) {
            try JWT.parse(proof("{\(sound),\"x\":\"AAAA\"}"), embeddedKey: .required)
        }
    }

    @Test func theKeyDecidesTheAlgorithmAndTheLookUpTheKey() throws {
        let es256 = SigningKey.generate(.es256)
        let eddsa = SigningKey.generate(.eddsa)
        let token = try JWTSigner(key: es256).sign(claims: Claims())
        #expect(refusal(token, key: eddsa.publicKey) == .algorithmMismatch)
        #expect(refusal(token, key: SigningKey.generate(.es256).publicKey) == .invalidSignature)
        #expect(throws: JWTError.unknownKey) {
            try JWT.parse(token).verify(using: { _ in nil }, type: .accessToken)
        }
        #expect(refusal(token, key: es256.publicKey) == nil)
    }

    @Test func everyErrorHasACodeOfItsOwn() {
        #expect(Set(JWTError.allCases.map(\.rawValue)).count == JWTError.allCases.count)
        #expect(JWTError.allCases.allSatisfy { $0.rawValue.hasPrefix("jwt_") })
    }
}
