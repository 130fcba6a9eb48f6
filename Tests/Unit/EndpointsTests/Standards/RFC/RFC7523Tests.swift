import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import JSON
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
                let answer = await world.server.form(
                    path, "token=\(token)&client_assertion_type=\(Assertions.type)&client_assertion=\(proof)")
                #expect(answer.status == 200, "\(path) \(answer.text)")
            }
        }
    }

    /// Clause, what stands in the payload, whether it is believed.
    private static let now = EndpointsFixture.start
    private static let base = #""iss":"signer","sub":"signer","aud":"\#(EndpointsFixture.issuer)""#
    @Test(arguments: [
        ("3.1 iss", #""sub":"signer","aud":"\#(EndpointsFixture.issuer)","exp":\#(now + 60)"#, false),
        ("3.1 iss", #""iss":"other","sub":"signer","aud":"\#(EndpointsFixture.issuer)","exp":\#(now + 60)"#, false),
        ("3.2 sub", #""iss":"signer","aud":"\#(EndpointsFixture.issuer)","exp":\#(now + 60)"#, false),
        ("3.2 sub", #""iss":"signer","sub":"mobile","aud":"\#(EndpointsFixture.issuer)","exp":\#(now + 60)"#, false),
        ("3.2 sub", #""iss":"signer","sub":["signer"],"aud":"\#(EndpointsFixture.issuer)","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":"https://other.example","exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":"\#(EndpointsFixture.issuer)/","exp":\#(now + 60)"#, false),
        (
            "3.3 aud",
            #""iss":"signer","sub":"signer","aud":"\#(EndpointsFixture.issuer)/oauth/token","exp":\#(now + 60)"#, false
        ),
        (
            "3.3 aud", #""iss":"signer","sub":"signer","aud":["\#(EndpointsFixture.issuer)","x"],"exp":\#(now + 60)"#,
            false
        ),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":[],"exp":\#(now + 60)"#, false),
        ("3.3 aud", #""iss":"signer","sub":"signer","aud":["\#(EndpointsFixture.issuer)"],"exp":\#(now + 60)"#, true),
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
            world.server.moveClock(to: 299)
            #expect(await world.ask(world.assertion(long, jti: "c")).status == 401)
            world.server.moveClock(to: 1000)
            let later = Self.base + #","exp":\#(Self.now + 1100)"#
            #expect(await world.ask(world.assertion(later, jti: "a")).status == 200)
        }
    }

    @Test func whatIsNotSignedForThisIsNotBelieved() async throws {
        try await Assertions.with { world in
            let stranger = Assertions(server: world.server, key: .generate(.es256))
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
            let both = await world.server.form("/oauth/token", grant, basic: "signer:x")
            #expect(both.string("error") == "invalid_request")
            let bare = await world.server.form("/oauth/token", "grant_type=client_credentials&client_id=signer")
            #expect(bare.string("error") == "invalid_client")
            let secret = await world.server.form(
                "/oauth/token", "grant_type=client_credentials&client_id=signer&client_secret=x")
            #expect(secret.string("error") == "invalid_client")
            #expect(await world.ask(proof, more: "&client_id=signer").status == 200)
        }
    }

    @Test func anAssertionOfAClientWithAnotherMethodIsRefused() async throws {
        try await Assertions.with { world in
            let changed = await world.server.admin(
                .patch, "/admin/v1/clients/signer", #"{"token_endpoint_auth_method":"client_secret_basic","jwks":null}"#
            )
            #expect(changed.status == 200)
            #expect(changed.string("client_secret") != nil)
            #expect(await world.ask(world.assertion()).string("error") == "invalid_client")
        }
    }

    private static let modulus =
        "n1gOgkzDqQDbYIrju9SNL05FAGHVOguimbgH3wSh9ebLECjvu9slZP-Wk3i0vMb9YRZuakvYy5JskuR_JPxaRpXmlnjH1TiiaA8h7q6VHzlHkcEZcBKBIih4yZXCqXWJjYU_fAgCURnRkm2aCxNIz24D3iUJBY2F5ikpLFZCxZ2DOtQc7uWEXh7A_DTaKee6TlVtgMT-usRS8UydHawtPWC-TrSn6Dw1rle0vXUnf2w3YQ-KogyF4NHB6dRRUuOhadKkTfNGmYNA9YM1jNe6PrQgDp4LcyTeffbWA-kcrM2aotzriGjFAOF6GERuUZHFbTzUv1Ek53419j9wX6IN3Q"

    /// The input of an assertion by that key, and its signatures by RSASSA-PKCS1-v1_5 and by RSASSA-PSS. The key was thrown away.
    private struct RSAAssertion {
        let input: String
        let pkcs1: String
        let pss: String

        static let rs256 = RSAAssertion(
            input:
                "eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIn0.eyJpc3MiOiJzaWduZXIiLCJzdWIiOiJzaWduZXIiLCJhdWQiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJleHAiOjE4MDAwMDAwNjAsImp0aSI6InItMSJ9",
            pkcs1:
                "VCDT8zQdMtRRacNosWW32fn0HoPfWf27fRfFJxbUIipox-aSu_X9AoUbWKqe6YpNwaUQ4Rp9TgaJ_-1bFsrR7wyLRniiUg1wNQmVVNNT7HpKZUjQWTLsq6PG9_44FPmkNeoFKzmi4kIVtU4di95ypBrzwJ2zOse3PHlUSsXou5sAO7dvdOV77bdEX6M5heHS17HCVhVzbTP6ZiwxSeNiFXFlRxM4W6MVe_w4c6ATsqouRi8ec7uv1twL5NuEQsdWxsviVJ5yLgJi8ZUsC0xl1ywtiETSszbjckdeycFowCH0PgO5vxiZye-IY229e4MNNOTX60G81jciBkygFA4QHg",
            pss:
                "P-ZPcDQaFyLJ3sfvqMHMOVkYtVli0JodzOR7lzbsSSfpVsB0QK7lMK865FQb4kLcSD64KPMN103JLBtV7rOyh7qQ1OX5UZlYUvyKjf4TCK33pSVq6_H_tsp8qlxYSUTA41pmS83jeb_npubEGtxeTfSeQGTImtrBCdbTzNLSF23qPkWESkSgiBSptdz0ygqecdeQL53yM2enB9UejLNvWypZg-Eb5OCuH3wIgr1Yzpati47eTzUzM_YV0-5TDoj6362PJli90X7sjo1FwQRkTxN01IgJdgx2UhnobP770B7hwnQXw8D-50xDGhc4vEwRLxcd7QAtOF0zb8WJwvLTkw"
        )
        static let ps256 = RSAAssertion(
            input:
                "eyJhbGciOiJQUzI1NiIsImtpZCI6InIxIn0.eyJpc3MiOiJzaWduZXIiLCJzdWIiOiJzaWduZXIiLCJhdWQiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJleHAiOjE4MDAwMDAwNjAsImp0aSI6InItMiJ9",
            pkcs1:
                "D0bkQmJF8jGrFQsBu62gIRzWuHN7KqgYG-XtbENMhMaDbRnynyDlASPn5AQqaQ7gZsgRcdiY2-x9T1KvgV275PRn1nPHNqZ1EmtZzw-CvEzE9KCVdVfapPLPS_i8nR9seVMJQ571YLOREVp0MhuA0gmLVmElu1djD8DAFYw8gSKV26YOVWBx9dfWPyLvlJJc7Ig0V507J3S8ZyyTj1HMPgJsPk4uZ9Ytg6KoTtMjY-gL4ukINqI9pX1ORmnmCO1HrCv2hZD2rCx6spe676A9pOvM9jd6HIxkFi5yqd-mr5iG05kgIuKuTxDXY_2LTz-ws-2G2ATJdldqwkxx6dlA4w",
            pss:
                "aSQxnGGk1oz7kR4w_4QTqcPbFGomw5CZUuqmy64tRiu5bzdaEIFyt0lApf1d-Uc8d1bbJw9aBx1B7-dZ7Fm-n5N2-mBpyKmhFDO1JxQ1n2zxSPZJScKC0wQNMkbR_Xra58ZFatxWXR_WzJmQlLPZnCD3eqRS4jEtivXAq7ygaNJsgg57PQ4Cx1AndEJaQsDPTEAo3m-MQAsz7hmLKFahpnK9njw0GvkbF52k5c1axYacVpaRkNmRKpOwuOxckfPxkjF81pdpxEWqS-nIVdpRwiM4b3mfGRUEnbtEzpvLhWwIzcu4TOPdABt_yeZYxHxe5z5tl2gaJt9HU6I3lVohcw"
        )
    }

    /// A key that says for what it is verifies that and nothing else; one that does not, both.
    @Test(arguments: [("RS256", [200, 401]), ("PS256", [401, 200]), (nil, [200, 200])] as [(String?, [Int])])
    func anRSAKeyVerifiesItsAlgorithm(_ algorithm: String?, _ statuses: [Int]) async throws {
        try await Assertions.with { world in
            let alg = algorithm.map { #","alg":"\#($0)""# } ?? ""
            let changed = await world.server.admin(
                .patch, "/admin/v1/clients/signer",
                #"{"jwks":{"keys":[{"kty":"RSA","n":"\#(Self.modulus)","e":"AQAB","kid":"r1"\#(alg)}]}}"#)
            #expect(changed.status == 200, "\(changed.text)")
            let (rs256, ps256) = (RSAAssertion.rs256, RSAAssertion.ps256)
            for (input, good, other) in [
                (rs256.input, rs256.pkcs1, rs256.pss), (ps256.input, ps256.pss, ps256.pkcs1),
            ] {
                for bad in [other, String(good.dropLast(4)) + "AAAA", "", String(good.dropLast(4)), good + "AAAA"] {
                    #expect(await world.ask(input + "." + bad).string("error") == "invalid_client")
                }
            }
            #expect(await world.ask(rs256.input + "." + rs256.pkcs1).status == statuses[0])
            #expect(await world.ask(ps256.input + "." + ps256.pss).status == statuses[1])
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
        (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"PS256"}]}"#, true),
        (#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"PS384"}]}"#, false),
        (#"{"keys":[{"kty":"RSA","n":"AA\#(modulus)","e":"AQAB"}]}"#, false),
        (
            #"{"keys":[{"kty":"RSA","n":"07tzh-oLfbtvldN6etZ8VjNUJGOLPksFunueMUqKhlUfulN622LSrsm9L5Z5KttiutBTgkf-ZvE9TlUxEawlaHb22zvzLLP3bOHDxLTYkGiycPfTxMP2SWjTX4qkjnbWZ5E2InskbgARYPWogQCeFgnbEn6E3Vs8xTG73V4jP10","e":"AQAB"}]}"#,
            false
        ),
    ])
    func keysOfAClient(_ keys: String, areTaken: Bool) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(
                .post, "/admin/v1/clients",
                #"{"client_id":"s","token_endpoint_auth_method":"private_key_jwt","jwks":\#(keys)}"#)
            #expect(answer.status == (areTaken ? 201 : 400), "\(keys): \(answer.text)")
            if !areTaken { #expect(answer.string("member") == "jwks") }
        }
    }

    @Test func keysAndMethodGoTogether() async throws {
        try await EndpointsFixture.with { server in
            for body in [
                #"{"client_id":"s","token_endpoint_auth_method":"private_key_jwt"}"#,
                #"{"client_id":"s","jwks":{"keys":[{\#(Self.p256)}]}}"#,
                #"{"client_id":"s","token_endpoint_auth_method":"client_secret_basic","jwks":{"keys":[{\#(Self.p256)}]}}"#,
            ] {
                let answer = await server.admin(.post, "/admin/v1/clients", body)
                #expect(answer.status == 400)
                #expect(answer.string("member") == "jwks")
            }
            let rotated = await server.admin(
                .post, "/admin/v1/clients",
                #"{"client_id":"s","token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{\#(Self.p256)}]}}"#)
            #expect(rotated.elements("keys").isEmpty && rotated.names.contains("jwks"))
            #expect(await server.admin(.patch, "/admin/v1/clients/s", #"{"rotate_secret":true}"#).status == 400)
        }
    }
}
