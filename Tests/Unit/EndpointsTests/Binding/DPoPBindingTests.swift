import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

/// RFC 9449: which key a session belongs to, from its login to its end.
@Suite struct DPoPBindingTests {
    /// Sections 5 and 6: by every way to a session, with either algorithm.
    @Test(arguments: [SignatureAlgorithm.es256, .eddsa])
    func aLoginWithAProofBindsTheSession(_ algorithm: SignatureAlgorithm) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice(algorithm)
            _ = try await server.makeClient(#"{"client_id":"old","grant_types":["password","refresh_token"]}"#)
            let login = try await server.logIn(device)
            let grant = await server.form(
                "/oauth/token",
                "grant_type=password&client_id=old&username=anna&password=correct+horse&device_id=tablet",
                fields: ["DPoP": device.proof(server, .post, "/oauth/token")])
            let json = await server.call(
                .post, "/v1/refresh", #"{"refresh_token":"\#(login.refresh)"}"#,
                fields: ["DPoP": device.proof(server, .post, "/v1/refresh")])
            for answer in [login.answer, grant, json, await server.refresh(login.refresh, by: device)] {
                #expect(answer.status == 200)
                #expect(answer.string("token_type") == "DPoP")
                let access = try #require(answer.string("access_token"))
                #expect(try Self.boundKey(access) == device.thumbprint)
                #expect(await server.call(.get, "/v1/me", token: access, by: device).status == 200)
            }
            #expect(try await server.logIn(device: "free").answer.string("token_type") == "Bearer")
        }
    }

    /// Section 5: a refresh of a bound session needs its key, and a session stays what it was at login.
    @Test func aBindingIsNeverDroppedAndNeverAdded() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let bound = try await server.logIn(device)
            let free = try await server.logIn(device: "phone-2")
            for (path, body) in [
                ("/oauth/token", "grant_type=refresh_token&refresh_token=\(bound.refresh)"),
                ("/v1/refresh", #"{"refresh_token":"\#(bound.refresh)"}"#),
            ] {
                for stranger in [nil, ProvingDevice()] {
                    var fields: Fields = [
                        "Content-Type": path == "/v1/refresh" ? "application/json" : "application/x-www-form-urlencoded"
                    ]
                    if let stranger { fields.append("DPoP", stranger.proof(server, .post, path)) }
                    let answer = await server.send(Request(.post, path, fields: fields, body: Array(body.utf8)))
                    #expect(answer.string("reason") ?? answer.string("code") == "binding_mismatch")
                    #expect(answer.bool("reauthenticate") == false)
                }
            }
            // No other call has ended it, and none can log it out without the key; of `/oauth/revoke` below.
            let stolen = #"{"refresh_token":"\#(bound.refresh)"}"#
            #expect(await server.call(.post, "/v1/logout", stolen).status == 401)
            let others = ProvingDevice().proof(server, .post, "/v1/logout")
            #expect(await server.call(.post, "/v1/logout", stolen, fields: ["DPoP": others]).status == 401)
            #expect(await server.refresh(bound.refresh, by: device).status == 200)
            // An unbound session stays unbound: else a thief with a copy of its token could take it away.
            let proven = await server.refresh(free.refresh, by: ProvingDevice())
            #expect(proven.string("token_type") == "Bearer")
            #expect(await server.refresh(free.refresh).status == 200)
            let own = device.proof(server, .post, "/v1/logout")
            #expect(await server.call(.post, "/v1/logout", stolen, fields: ["DPoP": own]).status == 204)
            #expect(await server.refresh(bound.refresh, by: device).string("reason") == "logged_out")
        }
    }

    /// RFC 7009: every API sees access tokens, and must not be able to end their sessions. The refresh token is a secret of
    /// the device, and clients of other authors send no proof with it.
    @Test(arguments: ["separate", "single"]) func anAccessTokenAloneEndsNoBoundSession(_ style: String) async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"app","token_style":"\#(style)"}"#)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device, client: "app")
            func revoke(_ token: String, by device: ProvingDevice? = nil, to path: String = "/oauth/revoke") async
                -> Answer
            {
                let fields: Fields = device.map { ["DPoP": $0.proof(server, .post, path)] } ?? [:]
                return await server.form("/oauth/revoke", "client_id=app&token=\(token)", fields: fields)
            }
            // What lies within the one token of a client is seen by every API, too.
            let within = try Answer.claims(of: tokens.access).string("rt")
            #expect((within != nil) == (style == "single"))
            for (thief, token) in [
                (nil, tokens.access), (ProvingDevice(), tokens.access), (nil, within ?? tokens.access),
            ] {
                let answer = await revoke(token, by: thief)
                #expect(answer.status == 400)
                #expect(answer.string("error") == "invalid_grant")
                #expect(answer.string("reason") == "binding_mismatch")
                #expect(answer.bool("reauthenticate") == false)
            }
            // Nor with a proof that the phone made for another call.
            #expect(await revoke(tokens.access, by: device, to: "/v1/me").string("error") == "invalid_dpop_proof")
            #expect(await server.call(.get, "/v1/me", token: tokens.access, by: device).status == 200)
            #expect(await revoke(tokens.access, by: device).status == 200)
            let ended = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(ended.string("ended_reason") == "logged_out")
            // What is over is revoked already.
            #expect(await revoke(tokens.access).status == 200)
            if style == "single" { return }
            let second = try await server.logIn(device, client: "app")
            #expect(await revoke(second.refresh).status == 200)
            #expect(await server.call(.get, "/v1/me", token: second.access, by: device).status == 401)
        }
    }

    /// A client that proves itself needs no other proof, and what is bound to nothing ends as it did.
    @Test func aProvenClientEndsItsSessionsByEitherToken() async throws {
        try await EndpointsFixture.with { server in
            let secret = try await server.makeClient(
                #"{"client_id":"own","token_endpoint_auth_method":"client_secret_basic","grant_types":["password","refresh_token"]}"#
            )
            let basic = "own:\(try #require(secret))"
            let device = ProvingDevice()
            let answer = await server.form(
                "/oauth/token", "grant_type=password&username=anna&password=correct+horse", basic: basic,
                fields: ["DPoP": device.proof(server, .post, "/oauth/token")])
            #expect(answer.string("token_type") == "DPoP")
            let token = try #require(answer.string("access_token"))
            #expect(await server.form("/oauth/revoke", "token=\(token)", basic: basic).status == 200)
            #expect(await server.call(.get, "/v1/me", token: token, by: device).status == 401)
            let free = try await server.logIn()
            #expect(await server.form("/oauth/revoke", "client_id=mobile&token=\(free.access)").status == 200)
            #expect(await server.call(.get, "/v1/me", bearer: free.access).status == 401)
        }
    }

    /// The rows of the table for key-bound sessions: nothing that the right device presents ends the session.
    @Test func aBoundSessionIsNotEndedByReuse() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let first = try await server.logIn(device).refresh
            server.moveClock(to: 200)
            let second = try #require(await server.refresh(first, by: device).string("refresh_token"))
            server.moveClock(to: 400)
            let third = try #require(await server.refresh(second, by: device).string("refresh_token"))
            server.moveClock(to: 5000)
            for stale in [first, second, third, first] {
                let answer = await server.refresh(stale, by: device)
                #expect(answer.status == 200)
            }
        }
    }

    /// A client of one string: its only token is a DPoP token at `/v1/refresh`, too.
    @Test func theOneTokenOfAClientIsRefreshedByTheSchemeDPoP() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"one","token_style":"single"}"#)
            let device = ProvingDevice()
            let single = try await server.logIn(device, client: "one").access
            #expect(await server.call(.post, "/v1/refresh", token: single, by: device).status == 200)
            let bearer = await server.call(.post, "/v1/refresh", bearer: single)
            #expect(bearer.status == 401)
            #expect(bearer.string("code") == "binding_mismatch")
            let other = await server.call(.post, "/v1/refresh", token: single, by: ProvingDevice())
            #expect(other.string("code") == "binding_mismatch")
        }
    }

    @Test func aClientCanDemandProofs() async throws {
        try await EndpointsFixture.with { server in
            let secret = try await server.makeClient(
                #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"],"dpop":"required"}"#
            )
            let free = try await server.logIn()
            let changed = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"dpop":"required"}"#)
            #expect(changed.string("dpop") == "required")
            let plain = await server.call(.post, "/v1/login", EndpointsFixture.loginBody(device: "phone-2"))
            #expect(plain.status == 400)
            #expect(plain.string("code") == "invalid_dpop_proof")
            let device = ProvingDevice()
            #expect(try await server.logIn(device).answer.string("token_type") == "DPoP")
            let mint = { (more: String) in
                await server.admin(
                    .post, "/admin/v1/users/username:anna/sessions", #"{"device":{"id":"minted"}\#(more)}"#)
            }
            #expect(await mint("").status == 400)
            #expect(await mint(#","dpop_jkt":"short""#).status == 400)
            let minted = await mint(#","dpop_jkt":"\#(device.thumbprint)""#)
            #expect(await server.refresh(minted.string("refresh_token") ?? "", by: device).status == 200)
            // A setting ends no session.
            #expect(free.sessionID != minted.string("session_id"))
            let basic = "api:\(secret ?? "")"
            let grant = "grant_type=client_credentials"
            let none = await server.form("/oauth/token", grant, basic: basic)
            #expect(none.string("error") == "invalid_dpop_proof")
            let own = await server.form(
                "/oauth/token", grant, basic: basic, fields: ["DPoP": device.proof(server, .post, "/oauth/token")])
            #expect(own.string("token_type") == "DPoP")
            let access = try #require(own.string("access_token"))
            #expect(try Self.boundKey(access) == device.thumbprint)
            #expect(await server.call(.get, "/v1/verify", token: access, by: device).status == 200)
            #expect(await server.call(.get, "/v1/verify", bearer: access).status == 401)
            #expect(await server.call(.get, "/v1/verify", token: access, by: ProvingDevice()).status == 401)
        }
    }

    private static func boundKey(_ token: String) throws -> String? {
        let parts = token.split(separator: ".")
        let claims = try StrictJSON.object(try #require(Base64URL.decode(parts[1])))
        guard case .object(let confirmation)? = claims["cnf"] else { return nil }
        return confirmation["jkt"]?.string
    }
}
