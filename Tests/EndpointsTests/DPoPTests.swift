import Cryptography
import HTTP
import JOSE
import Sessions
import Testing

/// RFC 9449, clause by clause: proofs that are not good, and sessions that are bound to a key.
@Suite struct DPoPTests {
    @Test(arguments: ProofRow.all)
    func aProofAtTheTokenEndpoint(_ row: ProofRow) async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let proof = device.proof(stage, .post, "/oauth/token", edit: row.edit)
            let answer = await stage.refresh(tokens.refresh, fields: ["DPoP": proof])
            if row.isGood {
                #expect(answer.status == 200)
                #expect(answer.string("token_type") == "DPoP")
            } else {
                #expect(answer.status == 400)
                #expect(answer.string("error") == "invalid_dpop_proof")
                // What was refused has changed nothing.
                #expect(await stage.refresh(tokens.refresh, by: device).status == 200)
            }
        }
    }

    @Test(arguments: ProofRow.all)
    func aProofAtAResource(_ row: ProofRow) async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            // The same edits, in the words of another request.
            let proof = device.proof(stage, .post, "/oauth/token", token: tokens.access) { draft in
                row.edit(&draft)
                for (claim, from, to) in [
                    ("htm", "post", "put"), ("htm", "GET", "DELETE"), ("htm", "POST", "GET"),
                    ("htu", "/oauth/token", "/v1/me"), ("htu", "/OAuth/token", "/V1/me"),
                    ("htu", "/oauth/%74oken", "/v1/%6De"),
                ] { draft.claims[claim] = draft.claims[claim]?.replacing(from, with: to) }
            }
            let answer = await stage.call(
                .get, "/v1/me", fields: ["Authorization": "DPoP \(tokens.access)", "DPoP": proof])
            if row.isGood {
                #expect(answer.status == 200)
            } else {
                #expect(answer.status == 401)
                let challenges = answer.response.fields.values("WWW-Authenticate")
                #expect(challenges.contains { $0.hasPrefix("DPoP ") && $0.contains(#"error="invalid_dpop_proof""#) })
            }
        }
    }

    /// A proof is remembered for as long as it could be taken, its last second included.
    @Test func theOldestProofIsTakenOnceToo() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let proof = device.proof(stage, .post, "/oauth/token") { $0.claims["iat"] = "\(Stage.start - 60)" }
            for status in [200, 400] {
                let answer = await stage.refresh(tokens.refresh, fields: ["DPoP": proof])
                #expect(answer.status == UInt16(status))
            }
        }
    }

    @Test func refusedProofsAreCountedByTheirReason() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let proof = device.proof(stage, .post, "/oauth/token")
            for status in [200, 400, 400] {
                let answer = await stage.refresh(tokens.refresh, fields: ["DPoP": proof])
                #expect(answer.status == UInt16(status))
            }
            let metrics = await stage.admin(.get, "/metrics")
            #expect(metrics.text.contains(#"sojourn_proofs_refused_total{reason="repeated"} 2"#))
            #expect(metrics.text.contains(#"sojourn_proofs_refused_total{reason="too_old"} 0"#))
        }
    }

    /// Sections 4.3-1, 4.3-2 and 7.1: the field.
    @Test func theFieldStandsOnceAndHoldsOneToken() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let proof = { device.proof(stage, .post, "/oauth/token") }
            var twice: Fields = ["DPoP": proof()]
            twice.append("dpop", proof())
            for fields in [
                twice, ["DPoP": "\(proof()), \(proof())"], ["DPoP": ""], ["DPoP": "junk"], ["DPoP": "a.b.c"],
                ["DPoP": proof() + "."], ["DPoP": String(repeating: "a", count: 20000)],
            ] {
                let answer = await stage.refresh(tokens.refresh, fields: fields)
                #expect(answer.status == 400)
                #expect(answer.string("error") == "invalid_dpop_proof")
            }
        }
    }

    /// Section 4.3-12, 7.1: `ath`, and that the key is the token's.
    @Test func aProofGoesWithOneTokenOfItsKey() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let other = try #require(await stage.refresh(tokens.refresh, by: device).string("access_token"))
            for ath in [nil, "", DPoPProof.hash(ofAccessToken: other), tokens.access] {
                let proof = device.proof(stage, .get, "/v1/me") { draft in
                    if let ath { draft.set("ath", ath) }
                }
                let answer = await stage.call(
                    .get, "/v1/me", fields: ["Authorization": "DPoP \(tokens.access)", "DPoP": proof])
                #expect(answer.status == 401)
                #expect(answer.string("code") == "invalid_dpop_proof")
            }
            let stranger = await stage.call(.get, "/v1/me", token: tokens.access, by: ProvingDevice())
            #expect(stranger.status == 401)
            #expect(stranger.string("code") == "binding_mismatch")
            #expect(stranger.bool("reauthenticate") == false)
            #expect(await stage.call(.get, "/v1/me", token: tokens.access, by: device).status == 200)
            // The scheme's case does not matter (RFC 9110 section 11.1).
            let proof = device.proof(stage, .get, "/v1/me", token: tokens.access)
            let upper = await stage.call(
                .get, "/v1/me", fields: ["Authorization": "DPOP \(tokens.access)", "DPoP": proof])
            #expect(upper.status == 200)
        }
    }

    /// Sections 7.1 and 7.2: neither scheme takes the other's tokens, wherever a token is taken.
    @Test func aBoundTokenIsNoBearerTokenAndTheOtherWayRound() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let bound = try await stage.logIn(device).access
            let free = try await stage.logIn(device: "phone-2").access
            let calls: [(HTTP.Method, String, String?)] = [
                (.get, "/v1/me", nil), (.get, "/v1/me/devices", nil), (.get, "/v1/verify", nil),
                (.patch, "/v1/me", #"{"display_name":"Anna"}"#), (.post, "/v1/logout", nil),
                (.put, "/v1/me/login-settings", #"{"logins_disabled":false}"#),
            ]
            for (method, path, body) in calls {
                let plain = await stage.call(method, path, body, bearer: bound)
                #expect(plain.status == 401, "\(method) \(path)")
                #expect(plain.string("code") == "binding_mismatch")
                let proof = device.proof(stage, method, path, token: bound)
                let downgraded = await stage.call(method, path, body, bearer: bound, fields: ["DPoP": proof])
                #expect(downgraded.status == 401, "\(method) \(path)")
                let bare = await stage.call(method, path, body, fields: ["Authorization": "DPoP \(bound)"])
                #expect(bare.status == 401, "\(method) \(path)")
                #expect(bare.string("code") == "invalid_dpop_proof")
                let unbound = await stage.call(
                    method, path, body,
                    fields: [
                        "Authorization": "DPoP \(free)", "DPoP": device.proof(stage, method, path, token: free),
                    ])
                #expect(unbound.status == 401, "\(method) \(path)")
            }
            #expect(await stage.call(.get, "/v1/me", bearer: free).status == 200)
            #expect(await stage.call(.get, "/v1/me", token: bound, by: device).status == 200)
            #expect(await stage.call(.post, "/v1/logout", token: bound, by: device).status == 204)
            #expect(await stage.call(.get, "/v1/me", token: bound, by: device).status == 401)
        }
    }

    /// Section 11.1: a proof is taken once, wherever it is sent.
    @Test func aProofIsTakenOnce() async throws {
        try await Stage.with { stage in
            let device = ProvingDevice()
            let tokens = try await stage.logIn(device)
            let proof = device.proof(stage, .post, "/oauth/token")
            #expect(await stage.refresh(tokens.refresh, fields: ["DPoP": proof]).status == 200)
            for seconds in [0, 1, 30, 60] as [Int64] {
                stage.moveClock(to: seconds)
                let again = await stage.refresh(tokens.refresh, fields: ["DPoP": proof])
                #expect(again.string("error") == "invalid_dpop_proof")
                #expect(again.string("error_description") == "The proof was used before.")
            }
            // The same id by another key is another proof.
            let id = Base64URL.encode(randomBytes(count: 12))
            for device in [ProvingDevice(), ProvingDevice(.eddsa)] {
                let proof = device.proof(stage, .post, "/v1/login") { $0.set("jti", id) }
                #expect(await stage.call(.post, "/v1/login", Stage.loginBody(), fields: ["DPoP": proof]).status == 200)
            }
        }
    }
}
