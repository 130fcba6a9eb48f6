import Cryptography
import HTTP
import Sessions
import Testing

/// RFC 9449 section 8: what a nonce of the server is like. `RFC9449Tests` has the rules when a client gets one.
@Suite struct DPoPNonceTests {
    /// Section 8: unpredictable without the root key. Section 8.1: of NQCHAR.
    @Test func aNonceIsOfItsServerAndItsTime() async throws {
        var seen: Set<String> = []
        for _ in 1...2 {
            try await EndpointsFixture.with(proofs: DPoPPolicy(nonce: .required)) { server in
                for seconds in [0, 120, 240] as [Int64] {
                    server.moveClock(to: seconds)
                    let refused = await server.call(.get, "/v1/me", token: "x", by: ProvingDevice())
                    let nonce = try #require(refused.field("DPoP-Nonce"))
                    #expect(!nonce.isEmpty)
                    #expect(nonce.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
                    #expect(seen.insert(nonce).inserted)
                }
            }
        }
    }

    /// The clock of the node that gave it out may be ahead, by two minutes.
    @Test func aNonceFromFurtherAheadIsNoneYet() async throws {
        try await EndpointsFixture.with(proofs: DPoPPolicy(nonce: .required)) { server in
            let device = ProvingDevice()
            server.moveClock(to: 1000)
            let nonce = try #require(await server.call(.get, "/v1/me", token: "x", by: device).field("DPoP-Nonce"))
            server.moveClock(to: 880)
            let tokens = try await server.logIn(device, nonce: nonce)
            server.moveClock(to: 879)
            #expect(await server.refresh(tokens.refresh, by: device, nonce: nonce).string("error") == "use_dpop_nonce")
        }
    }

    @Test func anAnswerThatMayWaitHasANonceToo() async throws {
        try await EndpointsFixture.with(proofs: DPoPPolicy(nonce: .required)) { server in
            let device = ProvingDevice()
            let nonce = await server.call(.get, "/v1/me", token: "x", by: device).field("DPoP-Nonce")
            let tokens = try await server.logIn(device, nonce: nonce)
            server.moveClock(to: 60)
            let answer = await server.call(
                .get, "/v1/me/logins?wait=1", token: tokens.access, by: device, nonce: nonce)
            #expect(answer.status == 200 && answer.field("DPoP-Nonce") != nil)
        }
    }

    @Test func aNonceIsGoodForAWhile() async throws {
        try await EndpointsFixture.with(proofs: DPoPPolicy(nonce: .required)) { server in
            let device = ProvingDevice()
            let refused = await server.call(.get, "/v1/me", token: "x", by: device)
            let nonce = try #require(refused.field("DPoP-Nonce"))
            server.moveClock(to: 119)
            let tokens = try await server.logIn(device, nonce: nonce)
            server.moveClock(to: 240)
            #expect(await server.refresh(tokens.refresh, by: device, nonce: nonce).string("error") == "use_dpop_nonce")
            for forged in ["", "junk", nonce + "A", String(nonce.dropLast()) + "_", String(nonce.reversed())] {
                let answer = await server.refresh(tokens.refresh, by: device, nonce: forged)
                #expect(answer.string("error") == "use_dpop_nonce")
            }
        }
    }
}
