import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// `private_key_jwt`: RFC 7523 sections 2.2 and 3, RFC 7521 section 4.2, OpenID Connect Core section 9.
@Suite struct RFC7523Tests {
    @Test(arguments: SignatureAlgorithm.allCases)
    func aClientProvesItselfByItsKey_atEveryEndpoint(_ algorithm: SignatureAlgorithm) async throws {
        try await Assertions.with(algorithm) { world in
            let granted = await world.ask(world.assertion())
            #expect(granted.status == 200, "\(granted.text)")
            let token = try #require(granted.string("access_token"))
            for (number, path) in ["/oauth/introspect", "/oauth/revoke"].enumerated() {
                let proof = world.assertion(jti: "e\(number)")
                let answer = await world.stage.form(
                    path, "token=\(token)&client_assertion_type=\(Assertions.type)&client_assertion=\(proof)")
                // A token that a client got for itself is not revoked, but who asks is known.
                #expect(answer.status == (number == 0 ? 200 : 400))
                #expect(answer.string("error") == (number == 0 ? nil : "unsupported_token_type"))
            }
        }
    }

    /// Clause, what stands in the payload, whether it is believed.
    private static let now = Stage.start
    private static let base = #""iss":"signer","sub":"signer","aud":"\#(Stage.issuer)""#
    @Test(arguments: [
        ("3.1 iss", #""sub":"signer","aud":"\#(Stage.issuer)","exp":\#(now + 60)"#, false),
        ("3.1 iss", #""iss":"other","sub":"signer","aud":"\#(Stage.issuer)","exp":\#(now + 60)"#, false),
        ("3.2 sub", #""iss":"signer","aud":"\#(Stage.issuer)","exp":\#(now + 60)"#, false),
        ("3.2 sub", #""iss":"signer","sub":"mobile","aud":"\#(Stage.issuer)","exp":\#(now + 60)"#, false),
        ("3.2 sub", #""iss":"signer","sub":["signer"],"aud":"\#(Stage.issuer)","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":"https://other.example","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":"\#(Stage.issuer)/","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":"\#(Stage.issuer)/oauth/token","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":["\#(Stage.issuer)","x"],"exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":[],"exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":["\#(Stage.issuer)"],"exp":\#(now + 60)"#, true),
        ("3.4 exp", base, false), ("3.4 exp", base + #","exp":"\#(now + 60)""#, false),
        ("3.4 exp", base + #","exp":\#(now)"#, false), ("3.4 exp", base + #","exp":\#(now + 1)"#, true),
        ("3.4 exp", base + #","exp":\#(now + 300)"#, true), ("3.4 exp", base + #","exp":\#(now + 301)"#, false),
        ("3.4 exp", base + #","exp":1e300"#, false), ("3.4 exp", base + #","exp":-1"#, false),
        ("3.4 exp", base + #","exp":null"#, false),
        ("3.5 nbf", base + #","exp":\#(now + 60),"nbf":\#(now + 30)"#, true),
        ("3.5 nbf", base + #","exp":\#(now + 60),"nbf":\#(now + 31)"#, false),
        ("3.6 iat", base + #","exp":\#(now + 60),"iat":\#(now - 10)"#, true),
        ("3.6 iat", base + #","exp":\#(now + 60),"iat":\#(now + 31)"#, false),
        // Good for an hour, as some libraries make it: with the time at which it was made it is taken for five minutes.
        ("3.4 exp", base + #","exp":\#(now + 3600),"iat":\#(now)"#, true),
        ("3.4 exp", base + #","exp":\#(now + 3600),"iat":\#(now - 299)"#, true),
        ("3.4 exp", base + #","exp":\#(now + 3600),"iat":\#(now - 300)"#, false),
        ("3.4 exp", base + #","exp":\#(now + 3600),"iat":\#(now + 31)"#, false),
        ("3.8 others", base + #","exp":\#(now + 60),"x":{"y":[1]}"#, true),
    ])
    func claims(_ clause: String, _ claims: String, isBelieved: Bool) async throws {
        try await Assertions.with { world in
            let answer = await world.ask(world.assertion(claims))
            #expect(answer.status == (isBelieved ? 200 : 401), "\(clause) \(claims): \(answer.text)")
            #expect(answer.string("error") == (isBelieved ? nil : "invalid_client"), "\(clause) \(claims)")
        }
    }

    @Test func anAssertionIsGoodOnce_andItsNameIsFreeAgainAfterItsTime() async throws {
        try await Assertions.with { world in
            let assertion = world.assertion(jti: "a")
            #expect(await world.ask(assertion).status == 200)
            #expect(await world.ask(assertion).string("error") == "invalid_client")
            // Another signature over the same name is the same assertion (section 3, point 7).
            #expect(await world.ask(world.assertion(jti: "a")).status == 401)
            #expect(await world.ask(world.assertion(jti: "b")).status == 200)
            // Remembered to the last second of the longest life, also across the change of generations.
            let long = Self.base + #","exp":\#(Self.now + 300)"#
            #expect(await world.ask(world.assertion(long, jti: "c")).status == 200)
            world.stage.moveClock(to: 299)
            #expect(await world.ask(world.assertion(long, jti: "c")).status == 401)
            world.stage.moveClock(to: 1000)
            let later = Self.base + #","exp":\#(Self.now + 1100)"#
            #expect(await world.ask(world.assertion(later, jti: "a")).status == 200)
        }
    }

    @Test func whatIsNotSignedForThisIsNotBelieved() async throws {
        try await Assertions.with { world in
            let stranger = Assertions(stage: world.stage, key: .generate(.es256))
            for (assertion, text) in [
                (stranger.assertion(), "another key"),
                (world.signed(#"{"alg":"ES256"}"#, "{\(Assertions.claims)}"), "no jti"),
                (world.signed(#"{"alg":"ES256"}"#, #"{\#(Assertions.claims),"jti":""}"#), "an empty jti"),
                (world.signed(#"{"alg":"ES256"}"#, #"{\#(Assertions.claims),"jti":7}"#), "a number for jti"),
                (world.assertion(jti: String(repeating: "j", count: 256)), "a long jti"),
                (world.assertion(header: #"{"alg":"ES256","kid":"other"}"#), "an unknown kid"),
                (world.assertion(header: #"{"alg":"EdDSA"}"#), "another algorithm"),
                (world.assertion(header: #"{"alg":"ES256","typ":"at+jwt"}"#), "the type of a rolling token"),
                (world.assertion(header: #"{"alg":"ES256","typ":"dpop+jwt"}"#), "the type of a proof"),
            ] {
                let answer = await world.ask(assertion)
                #expect(answer.status == 401, "\(text)")
                #expect(answer.string("error") == "invalid_client", "\(text)")
            }
            for (number, typ) in ["JWT", "client-authentication+jwt", "application/client-authentication+jwt"]
                .enumerated()
            {
                let good = world.assertion(jti: "t\(number)", header: #"{"alg":"ES256","typ":"\#(typ)"}"#)
                #expect(await world.ask(good).status == 200, "\(typ)")
            }
            // One way at a time (RFC 6749 section 2.3), and both halves of it.
            let proof = world.assertion(jti: "w")
            #expect(await world.ask(proof, more: "&client_secret=x").string("error") == "invalid_request")
            #expect(await world.ask(proof, more: "&client_id=mobile").string("error") == "invalid_client")
            #expect(await world.ask(proof, type: "urn:x").string("error") == "invalid_client")
            #expect(await world.ask("").string("error") == "invalid_request")
            #expect(await world.ask(proof, type: "").string("error") == "invalid_request")
            let grant =
                "grant_type=client_credentials&client_assertion_type=\(Assertions.type)&client_assertion=\(proof)"
            let both = await world.stage.form("/oauth/token", grant, basic: "signer:x")
            #expect(both.string("error") == "invalid_request")
            let bare = await world.stage.form("/oauth/token", "grant_type=client_credentials&client_id=signer")
            #expect(bare.string("error") == "invalid_client")
            let secret = await world.stage.form(
                "/oauth/token", "grant_type=client_credentials&client_id=signer&client_secret=x")
            #expect(secret.string("error") == "invalid_client")
            #expect(await world.ask(proof, more: "&client_id=signer").status == 200)
        }
    }

    @Test func anAssertionOfAClientWithAnotherMethodIsRefused() async throws {
        try await Assertions.with { world in
            let changed = await world.stage.admin(
                .patch, "/admin/v1/clients/signer", #"{"token_endpoint_auth_method":"client_secret_basic","jwks":null}"#
            )
            #expect(changed.status == 200)
            #expect(changed.string("client_secret") != nil)
            #expect(await world.ask(world.assertion()).string("error") == "invalid_client")
        }
    }

    private static let modulus =
        "yUTgmx7wfxeWZ6js_JvdUbhkEkgdLaxA54GEjh2JbGGlP-9eqsmeC2ZHlH6YkkzIRVatILSORYPcnR4hxcXJAZFsv1hdS2Li_4E4b-Pm4614yZs_c_pRXQWFgtjgL7O3m2nl0zrIFjFR4Go3vJHOQjbmp1q0NoFcoYm6pdJ2Bf5q5JhMkOI2vFZqVYsrNjLlzhcp-qVaZ5DusbWYheNfVkPAx1O905bIutPM1_eKdHoXNuyO9buV4UzqTxl3sHpXz99VLF_H2lwlxR0WWYIVyRBXrw2eKbjkRlZxin2DNe4Px2GdpctOyr0EYmdSrjsaLAnvv07NsA37ZcNk_O-pkw"
    private static let signed =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIn0.eyJpc3MiOiJzaWduZXIiLCJzdWIiOiJzaWduZXIiLCJhdWQiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJleHAiOjE4MDAwMDAwNjAsImp0aSI6InItMSJ9"
    /// RSASSA-PKCS1-v1_5 and RSASSA-PSS of the same input, by openssl, with a key that was thrown away.
    private static let pkcs1 =
        "DCOW7dclNPK0FQb3zpbdiRRUbIc0WaVDOgmDpnM_px1jNFWYM5i0qhdU_Q_OCFukJ0UOY8sITcvatUSN_YI_Ms3ElT9syXnPHN2hnOMla9iVhLEs7846ZXxrF3HyexqJScHjwlAzHFSmGo162XU0JYbtWgB3RK-1Djf0u2Eneg6JCKddApujU2FcpMwJMsK6kHRq4p4hHjxLEruecl_gTc1-Oyp-7QzFSCbrLUAlfousFJhvOVrEyy86TLYXDInQAynU8ydsHqn2AbM7UyzraCbzlR4uioVC-OYEuB03I2XxgTzSU0JfsH23oTdTReyLl4D7W_lzwoy6Hl3aNwhAUg"
    private static let pss =
        "WjH1EKkNcr5u4pLML-VHPDe7EQDD4V5pY1J5jjJadRkT6l-UaO6tl1wbazu6U8LfTwlbrzg6YO-2IMdSr_H6u8FmDdAeCLxshwvX2qEQtLwrR3eiR58f394-XW2BlX7Ge27LGgrnsIfH75ty0rKK5OEMZqR-2fYv6Qyi2WhfQI6ekMqZoLNCsegcGYK5gRx2nYqvJPIBLzsbZfF0jFuSrSMFXGzuQj_Oqwkbps6sg3djrUffejQ94kX1BM0tssi6mCF5EZ9AUduVaUy1N7vuC5Ky8Ek4KGtL2GQ8GngyRGyv7eOLuKRPQ-YoAGpMH1zmqXmNWqx8x3PV2D7uKQFiYQ"

    @Test func anRSAKeyVerifiesRS256AndNothingElse() async throws {
        try await Assertions.with { world in
            let changed = await world.stage.admin(
                .patch, "/admin/v1/clients/signer",
                #"{"jwks":{"keys":[{"kty":"RSA","n":"\#(Self.modulus)","e":"AQAB","kid":"r1","alg":"RS256"}]}}"#)
            #expect(changed.status == 200, "\(changed.text)")
            for bad in [
                Self.pss, String(Self.pkcs1.dropLast(4)) + "AAAA", "", String(Self.pkcs1.dropLast(4)),
                Self.pkcs1 + "AAAA",
            ] {
                #expect(await world.ask(Self.signed + "." + bad).string("error") == "invalid_client")
            }
            #expect(await world.ask(Self.signed + "." + Self.pkcs1).status == 200)
        }
    }

    /// Registered keys: none is there in vain, none is weak, none is private.
    private static let p256 =
        #""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#
    @Test(arguments: [
        (#"{"keys":[{\#(p256)}]}"#, true), (#"{"keys":[{\#(p256),"kid":"a"},{\#(p256),"kid":"b"}]}"#, true),
        (#"{"keys":[{\#(p256)}],"more":1}"#, true), (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB"}]}"#, true),
        ("{}", false), ("[]", false), (#""x""#, false), (#"{"keys":[]}"#, false), (#"{"keys":{}}"#, false),
        (#"{"keys":[{\#(p256)},{\#(p256)}]}"#, false),
        (#"{"keys":[{\#(p256),"kid":"a"},{\#(p256),"kid":"a"}]}"#, false),
        (#"{"keys":[{\#(p256),"d":"AA"}]}"#, false), (#"{"keys":[{\#(p256),"use":"enc"}]}"#, false),
        (#"{"keys":[{\#(p256),"alg":"ES384"}]}"#, false), (#"{"keys":[{\#(p256),"key_ops":["sign"]}]}"#, false),
        (#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, false), (#"{"keys":[{\#(p256)},{"kty":"oct","k":"AA"}]}"#, false),
        (
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a1"}]}"#,
            false
        ),
        (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"Aw"}]}"#, false),
        (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAA"}]}"#, false),
        (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","d":"AA"}]}"#, false),
        (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"PS256"}]}"#, false),
        (#"{"keys":[{"kty":"RSA","n":"AA\#(modulus)","e":"AQAB"}]}"#, false),
        (
            #"{"keys":[{"kty":"RSA","n":"07tzh-oLfbtvldN6etZ8VjNUJGOLPksFunueMUqKhlUfulN622LSrsm9L5Z5KttiutBTgkf-ZvE9TlUxEawlaHb22zvzLLP3bOHDxLTYkGiycPfTxMP2SWjTX4qkjnbWZ5E2InskbgARYPWogQCeFgnbEn6E3Vs8xTG73V4jP10","e":"AQAB"}]}"#,
            false
        ),
    ])
    func keysOfAClient(_ keys: String, areTaken: Bool) async throws {
        try await Stage.with { stage in
            let answer = await stage.admin(
                .post, "/admin/v1/clients",
                #"{"client_id":"s","token_endpoint_auth_method":"private_key_jwt","jwks":\#(keys)}"#)
            #expect(answer.status == (areTaken ? 201 : 400), "\(keys): \(answer.text)")
            if !areTaken { #expect(answer.string("member") == "jwks") }
        }
    }

    @Test func keysAndMethodGoTogether() async throws {
        try await Stage.with { stage in
            for body in [
                #"{"client_id":"s","token_endpoint_auth_method":"private_key_jwt"}"#,
                #"{"client_id":"s","jwks":{"keys":[{\#(Self.p256)}]}}"#,
                #"{"client_id":"s","token_endpoint_auth_method":"client_secret_basic","jwks":{"keys":[{\#(Self.p256)}]}}"#,
            ] {
                let answer = await stage.admin(.post, "/admin/v1/clients", body)
                #expect(answer.status == 400)
                #expect(answer.string("member") == "jwks")
            }
            let rotated = await stage.admin(
                .post, "/admin/v1/clients",
                #"{"client_id":"s","token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{\#(Self.p256)}]}}"#)
            #expect(rotated.elements("keys").isEmpty && rotated.names.contains("jwks"))
            #expect(await stage.admin(.patch, "/admin/v1/clients/s", #"{"rotate_secret":true}"#).status == 400)
        }
    }
}
