import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

/// RFC 9449, clause by clause: proofs that are not good, and sessions that are bound to a key.
@Suite struct DPoPTests {
    @Test(arguments: ProofRow.all)
    func aProofAtTheTokenEndpoint(_ row: ProofRow) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            let proof = device.proof(server, .post, "/oauth/token", edit: row.edit)
            let answer = await server.refresh(tokens.refresh, fields: ["DPoP": proof])
            if row.isGood {
                #expect(answer.status == 200)
                #expect(answer.string("token_type") == "DPoP")
            } else {
                #expect(answer.status == 400)
                #expect(answer.string("error") == row.error)
                #expect((answer.field("DPoP-Nonce") != nil) == (row.error == "use_dpop_nonce"))
                // What was refused has changed nothing.
                #expect(await server.refresh(tokens.refresh, by: device).status == 200)
            }
        }
    }

    @Test(arguments: ProofRow.all)
    func aProofAtAResource(_ row: ProofRow) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            // The same edits, in the words of another request.
            let proof = device.proof(server, .post, "/oauth/token", token: tokens.access) { draft in
                row.edit(&draft)
                for (claim, from, to) in [
                    ("htm", "post", "put"), ("htm", "GET", "DELETE"), ("htm", "POST", "GET"),
                    ("htu", "/oauth/token", "/v1/me"), ("htu", "/OAuth/token", "/V1/me"),
                    ("htu", "/oauth/%74oken", "/v1/%6De"),
                ] { draft.claims[claim] = draft.claims[claim]?.replacing(from, with: to) }
            }
            let answer = await server.call(
                .get, "/v1/me", fields: ["Authorization": "DPoP \(tokens.access)", "DPoP": proof])
            if row.isGood {
                #expect(answer.status == 200)
            } else {
                #expect(answer.status == 401)
                let challenges = answer.response.fields.values("WWW-Authenticate")
                #expect(challenges.contains { $0.hasPrefix("DPoP ") && $0.contains(#"error="\#(row.error)""#) })
                #expect((answer.field("DPoP-Nonce") != nil) == (row.error == "use_dpop_nonce"))
            }
        }
    }

    /// A login with that proof, as often as a test likes. Only a refresh can be repeated (`RepeatedRequestTests`).
    private static func logIn(_ server: EndpointsFixture, with proof: String) async -> Answer {
        await server.call(.post, "/v1/login", EndpointsFixture.loginBody(), fields: ["DPoP": proof])
    }

    /// A proof is remembered for as long as it could be taken, its last second included.
    @Test func theOldestProofIsTakenOnceToo() async throws {
        try await EndpointsFixture.with { server in
            let proof = ProvingDevice().proof(server, .post, "/v1/login") {
                $0.claims["iat"] = "\(EndpointsFixture.start - 60)"
            }
            #expect(await Self.logIn(server, with: proof).status == 200)
            let again = await Self.logIn(server, with: proof)
            #expect(again.status == 400 && again.text.contains("The proof was used before."), "\(again.text)")
        }
    }

    @Test func refusedProofsAreCountedByTheirReason() async throws {
        try await EndpointsFixture.with { server in
            let proof = ProvingDevice().proof(server, .post, "/v1/login")
            for status in [200, 400, 400] {
                let answer = await Self.logIn(server, with: proof)
                #expect(answer.status == status, "\(answer.text)")
            }
            let metrics = await server.admin(.get, "/metrics")
            #expect(metrics.text.contains(#"sojourn_proofs_refused_total{reason="repeated"} 2"#))
            #expect(metrics.text.contains(#"sojourn_proofs_refused_total{reason="too_old"} 0"#))
        }
    }

    /// Section 11.1: a proof is taken once, wherever it is sent. A refresh that arrives twice as it is, is one request.
    @Test func aProofIsTakenOnce() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            let proof = device.proof(server, .post, "/oauth/token")
            #expect(await server.refresh(tokens.refresh, fields: ["DPoP": proof]).status == 200)
            for seconds in [0, 1, 30, 60] as [Int64] {
                server.moveClock(to: seconds)
                let again = await server.refresh(tokens.refresh, more: "&client_id=mobile", fields: ["DPoP": proof])
                #expect(again.string("error") == "invalid_dpop_proof", "\(again.text)")
                #expect(again.string("error_description") == "The proof was used before.")
            }
            // The same id by another key is another proof.
            let id = Base64URL.encode(randomBytes(count: 12))
            for device in [ProvingDevice(), ProvingDevice(.eddsa)] {
                let proof = device.proof(server, .post, "/v1/login") { $0.set("jti", id) }
                #expect(await Self.logIn(server, with: proof).status == 200)
            }
        }
    }
}
