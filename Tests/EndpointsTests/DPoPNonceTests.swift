import Cryptography
import HTTP
import Sessions
import Testing

/// RFC 9449 sections 8 and 9: nonces of the server.
@Suite struct DPoPNonceTests {
    @Test func withoutADemandThereAreNone() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let answer = await stage.refresh(tokens.refresh, by: device, nonce: "anything")
            #expect(answer.status == 200)
            #expect(answer.field("DPoP-Nonce") == nil)
        }
    }

    @Test func whoeverHasNoneGetsOne() async throws {
        try await Stage.with(proofs: ProofPolicy(nonce: .required)) { stage in
            let device = ProvingDevice()
            let first = await stage.call(
                .post, "/v1/login", Stage.loginBody(), fields: ["DPoP": device.proof(stage, .post, "/v1/login")])
            #expect(first.status == 400)
            #expect(first.string("code") == "use_dpop_nonce")
            let nonce = try #require(first.field("DPoP-Nonce"))
            // Section 8.1: NQCHAR.
            #expect(nonce.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
            let tokens = try await stage.logIn(device, nonce: nonce)
            let again = try #require(tokens.answer.field("DPoP-Nonce"))

            let grant = await stage.refresh(tokens.refresh, by: device)
            #expect(grant.status == 400)
            #expect(grant.string("error") == "use_dpop_nonce")
            #expect(grant.field("DPoP-Nonce") != nil)
            #expect(await stage.refresh(tokens.refresh, by: device, nonce: again).status == 200)

            let resource = await stage.call(.get, "/v1/me", token: tokens.access, by: device)
            #expect(resource.status == 401)
            let challenges = resource.response.fields.values("WWW-Authenticate")
            // The first one: libraries are about that look no further.
            #expect(challenges.first?.hasPrefix("DPoP ") == true)
            #expect(challenges.first?.contains(#"error="use_dpop_nonce""#) == true)
            let next = try #require(resource.field("DPoP-Nonce"))
            let good = await stage.call(.get, "/v1/me", token: tokens.access, by: device, nonce: next)
            #expect(good.status == 200)
            #expect(good.field("DPoP-Nonce") != nil)

            // Whoever proves nothing is told nothing.
            let free = try await stage.logIn(device: "phone-2")
            #expect(free.answer.field("DPoP-Nonce") == nil)
            #expect(await stage.call(.get, "/v1/me", bearer: free.access).status == 200)
        }
    }

    @Test func aNonceIsGoodForAWhile() async throws {
        try await Stage.with(proofs: ProofPolicy(nonce: .required)) { stage in
            let device = ProvingDevice()
            let refused = await stage.call(.get, "/v1/me", token: "x", by: device)
            let nonce = try #require(refused.field("DPoP-Nonce"))
            stage.moveClock(to: 119)
            let tokens = try await stage.logIn(device, nonce: nonce)
            stage.moveClock(to: 240)
            #expect(await stage.refresh(tokens.refresh, by: device, nonce: nonce).string("error") == "use_dpop_nonce")
            for forged in ["", "junk", nonce + "A", String(nonce.dropLast()) + "_", String(nonce.reversed())] {
                let answer = await stage.refresh(tokens.refresh, by: device, nonce: forged)
                #expect(answer.string("error") == "use_dpop_nonce")
            }
        }
    }
}
