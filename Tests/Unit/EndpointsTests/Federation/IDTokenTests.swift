import Cryptography
import Federation
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// OpenID Connect Core section 3.1.3.7 and RFC 8725, claim by claim.
@Suite struct IDTokenTests {
    private static let now = EndpointsFixture.start

    /// Clause, the claims over those of a good token, whether it is believed.
    @Test(arguments: [
        ("2 iss", #"{"iss":"https://evil.example"}"#, false), ("2 iss", #"{"iss":null}"#, false),
        ("2 iss", #"{"iss":["x"]}"#, false),
        ("2 sub", #"{"sub":null}"#, false), ("2 sub", #"{"sub":""}"#, false), ("2 sub", #"{"sub":7}"#, false),
        ("2 sub", #"{"sub":"é"}"#, false), ("2 sub", #"{"sub":"\#(String(repeating: "s", count: 256))"}"#, false),
        ("2 sub", #"{"sub":"\#(String(repeating: "s", count: 255))"}"#, true),
        ("3 aud", #"{"aud":null}"#, false), ("3 aud", #"{"aud":"other"}"#, false), ("3 aud", #"{"aud":[]}"#, false),
        ("3 aud", #"{"aud":["app"]}"#, true), ("3 aud", #"{"aud":["app",7]}"#, false),
        ("3 aud", #"{"aud":{"app":1}}"#, false), ("3 aud", #"{"aud":"app app2"}"#, false),
        ("4 azp", #"{"aud":["app","other"]}"#, false), ("4 azp", #"{"aud":["app","other"],"azp":"app"}"#, true),
        ("4 azp", #"{"aud":["app","other"],"azp":"other"}"#, false), ("5 azp", #"{"azp":"app2"}"#, true),
        ("5 azp", #"{"azp":"other"}"#, false), ("5 azp", #"{"azp":["app"]}"#, false),
        ("9 exp", #"{"exp":null}"#, false), ("9 exp", #"{"exp":\#(now - 60)}"#, false),
        ("9 exp", #"{"exp":\#(now - 59)}"#, true), ("9 exp", #"{"exp":"\#(now + 60)"}"#, false),
        ("9 exp", #"{"exp":1e300}"#, false), ("9 exp", #"{"exp":9223372036854775807}"#, true),
        ("10 iat", #"{"iat":null}"#, false), ("10 iat", #"{"iat":\#(now + 60)}"#, true),
        ("10 iat", #"{"iat":\#(now + 61)}"#, false), ("10 iat", #"{"iat":\#(now - 659)}"#, true),
        ("10 iat", #"{"iat":\#(now - 660)}"#, false), ("10 iat", #"{"iat":\#(now - 1).5}"#, true),
        ("10 iat", #"{"iat":-9223372036854775808}"#, false), ("10 iat", #"{"iat":9223372036854775807}"#, false),
        ("nbf", #"{"nbf":\#(now + 60)}"#, true), ("nbf", #"{"nbf":\#(now + 61)}"#, false),
        ("nbf", #"{"nbf":"x"}"#, false),
        ("11 nonce", #"{"nonce":"n"}"#, false),
        ("logout token", #"{"events":{}}"#, false), ("access token", #"{"typ":"Bearer"}"#, false),
        ("typ", #"{"typ":"ID"}"#, true),
    ])
    func claims(_ clause: String, _ claims: String, isBelieved: Bool) async throws {
        try await ProviderFixture.with { world in
            let answer = try await world.logIn(claims)
            #expect(answer.status == (isBelieved ? 200 : 401), "\(clause) \(claims): \(answer.text)")
            #expect(answer.string("code") == (isBelieved ? nil : "invalid_id_token"), "\(clause)")
        }
    }

    /// Demand, form, nonce of the token, nonce of the app, whether it is believed.
    @Test(
        arguments: [
            (IdentityProvider.NonceRequirement.optional, IdentityProvider.NonceForm.plain, nil, nil, true),
            (.optional, .plain, "n", "n", true), (.optional, .plain, "n", nil, false),
            (.optional, .plain, nil, "n", false),
            (.optional, .plain, "n", "m", false), (.required, .plain, nil, nil, false),
            (.required, .plain, "n", "n", true),
            (.required, .plain, "", nil, false), (.ignored, .plain, "n", nil, true), (.ignored, .plain, "n", "m", true),
            (.required, .sha256, "n", "n", false), (.required, .sha256, nil, "n", false),
            (.required, .sha256, Hex.encode(sha256(Array("n".utf8))), "n", true),
        ] as [(IdentityProvider.NonceRequirement, IdentityProvider.NonceForm, String?, String?, Bool)])
    func nonce(
        _ demand: IdentityProvider.NonceRequirement, _ form: IdentityProvider.NonceForm, _ inToken: String?,
        _ sent: String?,
        isBelieved: Bool
    ) async throws {
        try await ProviderFixture.with({
            $0.nonce = demand
            $0.nonceForm = form
        }) { world in
            let answer = try await world.logIn(
                inToken.map { #"{"nonce":"\#($0)"}"# } ?? "{}", more: sent.map { #","nonce":"\#($0)""# } ?? "")
            #expect(answer.status == (isBelieved ? 200 : 401), "\(answer.text)")
        }
    }

    @Test func aToken_isUsedOnce_andNotAgainAfterItsTime() async throws {
        try await ProviderFixture.with { world in
            let token = try world.provider.token()
            #expect(await world.present(token).status == 200)
            let again = await world.present(token, device: "other")
            #expect(again.status == 401)
            #expect(again.text.contains("used before"))
            world.server.moveClock(to: 359)
            #expect(await world.present(token).text.contains("used before"))
            world.server.moveClock(to: 360)
            #expect(await world.present(token).text.contains("expired"))
        }
    }

    @Test func twentyUsesOfOneTokenAtOnce_makeOneSession() async throws {
        try await ProviderFixture.with { world in
            let token = try world.provider.token()
            let (server, name) = (world.server, world.provider.name)
            let statuses = await withTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        await server.call(
                            .post, "/v1/login",
                            #"{"provider":"\#(name)","id_token":"\#(token)","device":{"id":"d\#(number)"}}"#
                        ).status
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1)
            // Used, or being used by a login that could still fail.
            #expect(statuses.count { $0 == 401 || $0 == 503 } == 19)
        }
    }

    @Test func longestAge_isConfigurable() async throws {
        try await ProviderFixture.with({ $0.tokenAge = .seconds(30) }) { world in
            try await world.expect(200, #"{"iat":\#(Self.now - 89)}"#)
            try await world.expect(401, #"{"iat":\#(Self.now - 90)}"#)
        }
    }

    /// What stands in the header; the signature is the provider's.
    @Test(arguments: [
        #"{"alg":"none","kid":"k1"}"#, #"{"alg":"HS256","kid":"k1"}"#, #"{"alg":"RS256","kid":"k1"}"#,
        #"{"alg":"EdDSA","kid":"k1"}"#, #"{"alg":"es256","kid":"k1"}"#, #"{"kid":"k1"}"#,
        #"{"alg":"ES256","kid":"k2"}"#, #"{"alg":"ES256","kid":7}"#, #"{"alg":"ES256","kid":"k1","crit":["exp"]}"#,
        #"{"alg":"ES256","kid":"k1","jku":"http://127.0.0.1/keys"}"#, #"{"alg":"ES256","kid":"k1","x5u":"http://x"}"#,
        #"{"alg":"ES256","kid":"k1","jwk":{}}"#, #"{"alg":"ES256","kid":"k1","x5c":[]}"#,
        #"{"alg":"ES256","kid":"k1","alg":"ES256"}"#, #"{"alg":"ES256","kid":"k1","typ":"at+jwt"}"#,
        #"{"alg":"ES256","kid":"k1","typ":"logout+jwt"}"#,
    ])
    func header_isRefused(_ header: String) async throws {
        try await ProviderFixture.with { world in
            let answer = try await world.present(world.provider.token(header: header))
            #expect(answer.status == 401, "\(header): \(answer.text)")
        }
    }

    @Test func header_withoutKid_isForTheOnlyKey() async throws {
        try await ProviderFixture.with { world in
            let first = try world.provider.token(header: #"{"alg":"ES256"}"#)
            #expect(await world.present(first).status == 200)
            world.provider.change { $0.published.append(JWK(publishing: SigningKey.generate(.es256).publicKey)) }
            world.server.moveClock(to: 3600)
            let claims = #"{"iat":\#(Self.now + 3600),"exp":\#(Self.now + 4000)}"#
            let token = try world.provider.token(header: #"{"alg":"ES256"}"#, claims)
            #expect(await world.present(token).status == 401)
        }
    }

    @Test func aPublicKeyAsSecretOfAnHMAC_isNoKey() async throws {
        try await ProviderFixture.with { world in
            let input =
                Base64URL.encode(Array(#"{"alg":"HS256","kid":"k1"}"#.utf8)) + "."
                + Base64URL.encode(Array(FakeProvider.text(try world.provider.claims()).utf8))
            guard case .p256(let x, let y) = world.provider.key.publicKey.coordinates else {
                Issue.record("the provider's key is on another curve")
                return
            }
            let published = JWK(publishing: world.provider.key.publicKey, kid: world.provider.kid)
            for secret in [x + y, [4] + x + y, Array(FakeProvider.text(published).utf8)] {
                let token = input + "." + Base64URL.encode(HMACSHA256Key(secret).authenticate(Array(input.utf8)))
                let answer = await world.present(token)
                #expect(answer.string("code") == "invalid_id_token")
                #expect(answer.string("detail") == IdentityRefusal.algorithm.sentence)
            }
            // But for header and signature the token is good.
            let good = try world.provider.token(header: #"{"alg":"ES256","kid":"k1"}"#)
            #expect(await world.present(good).status == 200)
        }
    }

    @Test func claimsThatStandTwice_areRefused() async throws {
        try await ProviderFixture.with { world in
            let text = FakeProvider.text(try world.provider.claims())
            for (more, isRefused) in [
                (#","sub":"admin"}"#, true), (#","sub":"u1"}"#, true), (#","iss":"x"}"#, true),
                (#","\u0073ub":"admin"}"#, true), (#","once":"admin"}"#, false),
            ] {
                let payload = String(text.dropLast()) + more
                let input =
                    Base64URL.encode(Array(#"{"alg":"ES256","kid":"k1"}"#.utf8)) + "."
                    + Base64URL.encode(Array(payload.utf8))
                let token = input + "." + Base64URL.encode(world.provider.key.sign(Array(input.utf8)))
                let answer = await world.present(token)
                #expect(answer.status == (isRefused ? 401 : 200), "\(more)")
                #expect(answer.string("detail") == (isRefused ? IdentityRefusal.malformed.sentence : nil), "\(more)")
            }
        }
    }

    @Test func onlyAlgorithmsOfTheList_areTaken() async throws {
        try await ProviderFixture.with({ $0.algorithms = [.rs256] }) { world in
            let answer = try await world.logIn()
            #expect(answer.text.contains("algorithm"))
            #expect(world.provider.requests.isEmpty, "nothing is fetched for a token that cannot be good")
        }
    }

    @Test func tokensOfAnotherProvider_areNotThisOnes() async throws {
        try await ProviderFixture.with { world in
            // The other provider's own token, under the wrong name.
            #expect(try await world.present(world.other.token()).text.contains("issuer"))
            // A token of the other provider that says to be of this one: same kid, another key.
            let forged = try JWT.sign(
                claims: try world.provider.claims(), typ: "JWT", key: world.other.key, kid: world.other.kid)
            #expect(await world.present(forged).text.contains("signature"))
            #expect(await world.present(forged, provider: "globex").text.contains("issuer"))
            // And under its right name it is another user than the subject of the same name here.
            let here = try Tokens(try await world.logIn())
            let there = try Tokens(try await world.present(world.other.token(), provider: "globex"))
            #expect(here.userID != there.userID)
        }
    }

    @Test func unknownProvider_isNamed() async throws {
        try await ProviderFixture.with { world in
            let answer = try await world.present(world.provider.token(), provider: "nobody")
            #expect(answer.status == 400)
            #expect(answer.string("member") == "provider")
        }
        try await EndpointsFixture.with { server in
            let answer = await server.call(
                .post, "/v1/login", #"{"provider":"acme","id_token":"x","device":{"id":"p"}}"#)
            #expect(answer.status == 400)
        }
    }
}
