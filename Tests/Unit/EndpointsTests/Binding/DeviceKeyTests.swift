import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Synchronization
import Testing

/// The authorization-grant token (RFC 7523): a device resumes its session by its key alone.
@Suite struct DeviceKeyTests {
    static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// A login that registers the key of `device` for assertions.
    private func logIn(
        _ server: EndpointsFixture, _ device: ProvingDevice, grants: String = #""refresh_token","\#(grant)""#,
        id: String = "phone-1",
        fields: Fields = Fields()
    ) async throws -> Tokens {
        _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"grant_types":[\#(grants),"login"]}"#)
        let body = EndpointsFixture.loginBody(device: id).dropLast() + #","device_key":\#(device.jwk)}"#
        let answer = await server.call(.post, "/v1/login", String(body), fields: fields)
        #expect(answer.status == 200)
        return try Tokens(answer)
    }

    private func assertion(
        _ server: EndpointsFixture, _ device: ProvingDevice, _ tokens: Tokens,
        edit: (inout ProofDraft) -> Void = { _ in }
    ) -> String {
        device.assertion(server, tokens, edit: edit)
    }

    private func resume(
        _ server: EndpointsFixture, _ assertion: String, more: String = "&client_id=mobile", fields: Fields = Fields()
    ) async -> Answer {
        await server.form("/oauth/token", "grant_type=\(Self.grant)&assertion=\(assertion)\(more)", fields: fields)
    }

    @Test(arguments: [SignatureAlgorithm.es256, .eddsa])
    func aKeyResumesTheSession(_ algorithm: SignatureAlgorithm) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice(algorithm)
            let tokens = try await logIn(server, device)
            // Every time just before the idle end, which each resumption moves.
            for days in [13, 26, 39] as [Int64] {
                server.moveClock(to: days * EndpointsFixture.day)
                let answer = await resume(server, assertion(server, device, tokens))
                #expect(answer.status == 200)
                #expect(answer.string("session_id") == tokens.sessionID)
                #expect(answer.string("refresh_token") == tokens.refresh)
                let access = try #require(answer.string("access_token"))
                #expect(await server.call(.get, "/v1/me", bearer: access).status == 200)
            }
            let metrics = await server.admin(.get, "/metrics")
            #expect(metrics.text.contains(#"sojourn_refreshes_total{outcome="resumed"} 3"#))
            server.moveClock(to: 39 * EndpointsFixture.day + 1_209_600)
            #expect(await resume(server, assertion(server, device, tokens)).string("reason") == "idle_expired")
            #expect(await server.refresh(tokens.refresh).string("reason") == "idle_expired")
        }
    }

    @Test("An assertion is kept by the refusal of an origin, and by that of a proof without a nonce")
    func refusalsBeforeUse() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let proof = { (nonce: String?) -> Fields in
                ["DPoP": device.proof(server, .post, "/oauth/token", nonce: nonce)]
            }
            let tokens = try await logIn(
                server, device, fields: ["DPoP": device.proof(server, .post, "/v1/login")])
            try await server.makeOrigins()
            try await server.demandNonce(of: "mobile")
            let kept = assertion(server, device, tokens)
            let foreign = await resume(server, kept, fields: ["Origin": PageOrigin.unknown.rawValue])
            #expect(foreign.refusesOrigin, "\(foreign.text)")
            let refused = await resume(server, kept, fields: proof(nil))
            let nonce = try #require(refused.field("DPoP-Nonce"), "\(refused.text)")
            let granted = await resume(server, kept, fields: proof(nonce))
            #expect(granted.status == 200, "\(granted.text)")
        }
    }

    @Test func theLongestLifeHolds() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await logIn(server, device)
            for days in stride(from: Int64(13), through: 169, by: 13) {
                server.moveClock(to: days * EndpointsFixture.day)
                #expect(await resume(server, assertion(server, device, tokens)).status == 200)
            }
            server.moveClock(to: 180 * EndpointsFixture.day - 1)
            #expect(await resume(server, assertion(server, device, tokens)).status == 200)
            server.moveClock(to: 180 * EndpointsFixture.day)
            #expect(await resume(server, assertion(server, device, tokens)).string("reason") == "max_lifetime_reached")
        }
    }

    @Test func anEndIsFinalAndADisableCounts() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await logIn(server, device)
            _ = await server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
            let disabled = await resume(server, assertion(server, device, tokens))
            #expect(disabled.string("reason") == "login_disabled_by_admin")
            _ = await server.admin(.post, "/admin/v1/users/username:anna/enable", "{}")
            #expect(await resume(server, assertion(server, device, tokens)).status == 200)
            let other = await resume(server, assertion(server, device, tokens), more: "&device_id=other")
            #expect(other.string("reason") == "device_mismatch")
            _ = await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)")
            let ended = await resume(server, assertion(server, device, tokens))
            #expect(ended.status == 400)
            #expect(ended.string("error") == "invalid_grant")
            #expect(ended.string("reason") == "revoked_by_admin")
        }
    }

    /// RFC 7523 section 3, claim by claim.
    @Test func anAssertionMustBeGood() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await logIn(server, device)
            let stranger = try await logIn(server, ProvingDevice(), id: "phone-2")
            let free = try await server.logIn(device: "phone-3")
            let now = EndpointsFixture.start
            let bad: [(String, (inout ProofDraft) -> Void)] = [
                ("iss is missing", { $0.claims["iss"] = nil }), ("sub is missing", { $0.claims["sub"] = nil }),
                ("aud is missing", { $0.claims["aud"] = nil }), ("exp is missing", { $0.claims["exp"] = nil }),
                ("jti is missing", { $0.claims["jti"] = nil }), ("jti is empty", { $0.set("jti", "") }),
                ("iss is no session", { $0.set("iss", "mobile") }),
                ("iss is a session of another key", { $0.set("iss", stranger.sessionID) }),
                ("iss is a session without a key", { $0.set("iss", free.sessionID) }),
                ("sub is another user", { $0.set("sub", tokens.sessionID) }),
                ("aud is another server", { $0.set("aud", "https://evil.example") }),
                ("exp has passed", { $0.claims["exp"] = "\(now)" }),
                ("exp is far away", { $0.claims["exp"] = "\(now + 316)" }),
                ("exp is beyond all numbers", { $0.claims["exp"] = "1e300" }),
                ("nbf is to come", { $0.claims["nbf"] = "\(now + 16)" }),
                ("iat is to come", { $0.claims["iat"] = "\(now + 16)" }),
                ("alg is none", { $0.header["alg"] = #""none""# }),
                ("alg is HS256", { $0.header["alg"] = #""HS256""# }),
                ("typ is that of a proof", { $0.header["typ"] = #""dpop+jwt""# }),
                ("typ is that of a token", { $0.header["typ"] = #""at+jwt""# }),
                ("it brings a key", { $0.header["jwk"] = device.jwk }),
                ("the signature is nothing", { $0.signature = [] }),
                ("the signature is of zeros", { $0.signature = [UInt8](repeating: 0, count: 64) }),
                ("a claim stands twice", { $0.claims["sub\":\"x\",\"sub"] = "\"\(tokens.userID)\"" }),
            ]
            for (name, edit) in bad {
                let answer = await resume(server, assertion(server, device, tokens, edit: edit))
                #expect(answer.status == 400, "\(name)")
                #expect(answer.string("error") == "invalid_grant", "\(name)")
                #expect(answer.string("reason") == "invalid_assertion", "\(name)")
            }
            let otherKey = await resume(server, assertion(server, ProvingDevice(), tokens))
            #expect(otherKey.string("reason") == "invalid_assertion")
            for junk in ["junk", "a.b.c", tokens.refresh, tokens.access] {
                #expect(await resume(server, junk).string("reason") == "invalid_assertion")
            }
            #expect(await resume(server, "").string("error") == "invalid_request")
            let good: [(inout ProofDraft) -> Void] = [
                { _ in }, { $0.claims["iat"] = nil }, { $0.claims["exp"] = "\(now + 300)" },
                { $0.claims["aud"] = #"["https://other.example","\#(EndpointsFixture.issuer)"]"# },
                { $0.header["typ"] = #""JWT""# }, { $0.claims["iat"] = "\(now + 15)" },
                // As far ahead as may be, by a clock that is itself.
                {
                    $0.claims["iat"] = "\(now + 15)"
                    $0.claims["exp"] = "\(now + 315)"
                },
            ]
            for edit in good {
                #expect(await resume(server, assertion(server, device, tokens, edit: edit)).status == 200)
            }
            let once = assertion(server, device, tokens)
            #expect(await resume(server, once).status == 200)
            #expect(await resume(server, once).string("reason") == "invalid_assertion")
            #expect(await resume(server, assertion(server, device, tokens), more: "").status == 200)
        }
    }

    /// Key and refresh token can each be switched off per client.
    @Test func aClientHasEitherOrBoth() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await logIn(server, device, grants: #""\#(Self.grant)""#)
            #expect(tokens.refresh.isEmpty)
            let resumed = await resume(server, assertion(server, device, tokens))
            #expect(resumed.status == 200)
            #expect(!resumed.names.contains("refresh_token"))
            // Without a key such a session could not go on, so the login is refused.
            #expect(
                await server.call(.post, "/v1/login", EndpointsFixture.loginBody()).string("code")
                    == "unauthorized_client")
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"grant_types":["refresh_token","login"]}"#)
            let off = await resume(server, assertion(server, device, tokens))
            #expect(off.string("error") == "unauthorized_client")
            // This session has no refresh token: only a login gets one.
            #expect(off.bool("reauthenticate") == true)
            let body = String(EndpointsFixture.loginBody().dropLast() + #","device_key":\#(device.jwk)}"#)
            let refused = await server.call(.post, "/v1/login", body)
            #expect(refused.status == 400)
            #expect(refused.string("member") == "device_key")
        }
    }

    @Test func aKeyThatIsNoneIsRefused() async throws {
        try await EndpointsFixture.with { server in
            let one = Base64URL.encode([UInt8](repeating: 1, count: 32))
            for key in [
                #""x""#, "{}", #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"EC","crv":"P-256","x":"\#(one)","y":"\#(one)"}"#,
                #"{"kty":"EC","crv":"P-384","x":"\#(one)","y":"\#(one)"}"#,
                #"{"kty":"OKP","crv":"Ed25519","x":"\#(one)","d":"\#(one)"}"#,
                #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
            ] {
                let body = String(EndpointsFixture.loginBody().dropLast() + #","device_key":\#(key)}"#)
                let answer = await server.call(.post, "/v1/login", body)
                #expect(answer.status == 400, "\(key)")
                #expect(answer.string("member")?.hasPrefix("device_key") == true, "\(key)")
            }
        }
    }

    /// RFC 6749 section 5.2: a client that has to prove itself, or that the server does not know, is the reason itself.
    @Test(arguments: ["backend", "nobody"]) func theNameOfAClientAloneIsNoProof(_ client: String)
        async throws
    {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(
                #"{"client_id":"backend","token_endpoint_auth_method":"client_secret_basic"}"#)
            let device = ProvingDevice()
            let tokens = try await logIn(server, device)
            let refused = await resume(server, assertion(server, device, tokens), more: "&client_id=\(client)")
            #expect(refused.status == 401)
            #expect(refused.string("error") == "invalid_client")
            #expect(await resume(server, assertion(server, device, tokens)).status == 200)
        }
    }

    /// A session that is bound to a key by RFC 9449 needs that proof here, too.
    @Test func aBindingHoldsForTheKeyAsWell() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let binding = ProvingDevice(.eddsa)
            let tokens = try await logIn(
                server, device, fields: ["DPoP": binding.proof(server, .post, "/v1/login")])
            #expect(await resume(server, assertion(server, device, tokens)).string("reason") == "binding_mismatch")
            let proven = await resume(
                server, assertion(server, device, tokens),
                fields: ["DPoP": binding.proof(server, .post, "/oauth/token")])
            #expect(proven.status == 200)
            #expect(proven.string("token_type") == "DPoP")
        }
    }
}
