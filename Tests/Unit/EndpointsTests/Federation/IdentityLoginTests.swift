import Cryptography
import Federation
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Logins by ID token meet keys: proofs of possession (RFC 9449), and those of devices (RFC 7523).
@Suite struct IdentityLoginTests {
    private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

    /// Both ways to send an ID token, for the client `app`.
    private enum Way: CaseIterable {
        case login, exchange

        func send(_ token: String, _ world: ProviderFixture, proof device: ProvingDevice? = nil) async -> Answer {
            let path = self == .login ? "/v1/login" : "/oauth/token"
            var fields = Fields()
            if let device { fields.append("DPoP", device.proof(world.server, .post, path)) }
            switch self {
            case .login:
                return await world.server.call(
                    .post, path,
                    #"{"provider":"acme","id_token":"\#(token)","client_id":"app","device":{"id":"d"}}"#,
                    fields: fields)
            case .exchange:
                return await world.server.form(
                    path,
                    "grant_type=\(IdentityLoginTests.exchange)&client_id=app&subject_token=\(token)&subject_token_type=\(IdentityLoginTests.idToken)",
                    fields: fields)
            }
        }
    }

    private static func with(client more: String = "", _ body: (ProviderFixture) async throws -> Void) async throws {
        try await ProviderFixture.with { world in
            let grants = #""refresh_token","login","\#(exchange)","\#(DeviceKeyTests.grant)""#
            _ = try await world.server.makeClient(
                #"{"client_id":"app","token_endpoint_auth_method":"none","grant_types":[\#(grants)]\#(more)}"#)
            try await body(world)
        }
    }

    @Test(arguments: Way.allCases) private func aProof_bindsTheSession(_ way: Way) async throws {
        try await Self.with { world in
            let (server, device) = (world.server, ProvingDevice())
            let tokens = try Tokens(await way.send(try world.provider.token(), world, proof: device))
            #expect(tokens.answer.string("token_type") == "DPoP")
            let claims = try JWT.parse(tokens.access).unverifiedClaims
            guard case .object(let confirmation)? = claims?["cnf"] else {
                Issue.record("no cnf")
                return
            }
            #expect(confirmation["jkt"]?.string == device.thumbprint)
            #expect(await server.refresh(tokens.refresh, more: "&client_id=app").status == 400)
            let proof = device.proof(server, .post, "/oauth/token")
            #expect(await server.refresh(tokens.refresh, more: "&client_id=app", fields: ["DPoP": proof]).status == 200)
        }
    }

    /// And the token is not lost for the next try with a proof.
    @Test(arguments: Way.allCases) private func aClientThatMustProve_isRefusedWithoutAProof(_ way: Way) async throws {
        try await Self.with(client: #","dpop":"required""#) { world in
            let token = try world.provider.token()
            let refused = await way.send(token, world)
            #expect(refused.status == 400, "\(refused.text)")
            #expect(refused.string("error") ?? refused.string("code") == "invalid_dpop_proof", "\(refused.text)")
            #expect(await way.send(token, world, proof: ProvingDevice()).status == 200)
            #expect([400, 401].contains(await way.send(token, world, proof: ProvingDevice()).status))
        }
    }

    @Test func aDeviceKey_resumesTheSession() async throws {
        try await Self.with { world in
            let (server, device) = (world.server, ProvingDevice())
            let body =
                #"{"provider":"acme","id_token":"\#(try world.provider.token())","client_id":"app","#
                + #""device":{"id":"d"},"device_key":\#(device.jwk)}"#
            let tokens = try Tokens(await server.call(.post, "/v1/login", body))
            server.moveClock(to: 13 * EndpointsFixture.day)
            let now = EndpointsFixture.start + 13 * EndpointsFixture.day
            var draft = ProofDraft(header: ["alg": #""ES256""#], claims: ["iat": "\(now)", "exp": "\(now + 60)"])
            draft.set("iss", tokens.sessionID)
            draft.set("sub", tokens.userID)
            draft.set("aud", EndpointsFixture.issuer)
            draft.set("jti", "1")
            let resumed = await server.form(
                "/oauth/token",
                "grant_type=\(DeviceKeyTests.grant)&client_id=app&assertion=\(device.sign(draft))")
            #expect(resumed.string("session_id") == tokens.sessionID, "\(resumed.text)")
        }
    }

    /// The next try that the answer asks for is possible: the app has no other token.
    @Test(arguments: Way.allCases) private func aLoginThatFailed_doesNotUseTheTokenUp(_ way: Way) async throws {
        try await Self.with { world in
            _ = try await world.logIn(#"{"sub":"somebody"}"#)
            let token = try world.provider.token()
            let failed = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await way.send(token, world)
            }.value
            #expect(failed.status == 503, "\(failed.text)")
            #expect(await way.send(token, world).status == 200)
            #expect([400, 401].contains(await way.send(token, world).status))
        }
    }

    /// A login that is refused leaves nothing but its trace in the audit trail: no user, no identity, no link, and the token is
    /// good for the next try.
    @Test(arguments: [
        (#""client_id":"none""#, "invalid_client"), (#""client_id":"app","scope":"more""#, "invalid_scope"),
        (#""client_id":"mute""#, "unauthorized_client"), (#""client_id":"strict""#, "invalid_dpop_proof"),
        (#""client_id":"mobile","device_key":{jwk}"#, "invalid_request"),
        (#""client_id":"app","presence_key":{jwk}"#, "invalid_request"),
    ])
    func aRefusedLogin_leavesNoUser(_ members: String, _ code: String) async throws {
        try await ProviderFixture.with({ $0.linksByProvenEmail = true }) { world in
            let server = world.server
            for (id, more) in [
                ("app", #""grant_types":["refresh_token","login","\#(DeviceKeyTests.grant)"]"#),
                ("mute", #""grant_types":["login","\#(DeviceKeyTests.grant)"]"#), ("strict", #""dpop":"required""#),
            ] {
                _ = try await server.makeClient(
                    #"{"client_id":"\#(id)","token_endpoint_auth_method":"none",\#(more)}"#)
            }
            let made = await server.admin(.post, "/admin/v1/users", #"{"username":"eve@example.org"}"#)
            let eve = try #require(made.string("user_id"))
            for claims in ["{}", #"{"sub":"u2","email":"eve@example.org","email_verified":true}"#] {
                let token = try world.provider.token(claims)
                let before = await server.admin(.get, "/admin/v1/users").text
                let refused = await server.call(
                    .post, "/v1/login",
                    #"{"provider":"acme","id_token":"\#(token)","device":{"id":"d"},"#
                        + members.replacing("{jwk}", with: ProvingDevice().jwk) + "}")
                #expect(refused.string("code") == code, "\(refused.text)")
                #expect(await server.admin(.get, "/admin/v1/users").text == before)
                #expect(await server.admin(.get, "/admin/v1/users/\(eve)/identities").items.isEmpty)
                let login = #"{"provider":"acme","id_token":"\#(token)","client_id":"app","device":{"id":"d"}}"#
                #expect(await server.call(.post, "/v1/login", login).status == 200)
            }
            #expect(await server.admin(.get, "/admin/v1/users/\(eve)/identities").items.count == 1)
        }
    }

    /// An exchange for an API that the client cannot have (RFC 8707) creates no user.
    @Test func anExchangeForWhatTheClientCannotHave_leavesNoUser() async throws {
        try await Self.with { world in
            let token = try world.provider.token()
            let form =
                "grant_type=\(Self.exchange)&client_id=app&subject_token=\(token)&subject_token_type=\(Self.idToken)"
            #expect(await world.server.form("/oauth/token", form + "&resource=x:y").string("error") == "invalid_target")
            #expect(await world.server.admin(.get, "/admin/v1/users").items.count == 1)
            #expect(await world.server.form("/oauth/token", form).status == 200)
        }
    }

    /// Two entries for one issuer, as apps on two platforms may need.
    @Test func oneToken_isUsedOnce_howeverManyEntriesTakeIt() async throws {
        try await ProviderFixture.with(twice: true) { world in
            let token = try world.provider.token()
            #expect(await world.present(token).status == 200)
            let again = await world.present(token, provider: "acme-2")
            #expect(again.status == 401)
            #expect(again.text.contains("used before"))
        }
    }

    /// U+212A is canonically equivalent to K, and U+037E to a semicolon: only Swift takes the texts for the same.
    @Test(arguments: [
        (#"{"aud":"\u212A"}"#, false), (#"{"aud":"K"}"#, true), (#"{"aud":["K","x"],"azp":"\u212A"}"#, false),
        (#"{"aud":"K","nonce":"\u212A"}"#, false), (#"{"aud":"K","nonce":"K"}"#, true),
    ])
    func textsAreComparedByteByByte(_ claims: String, isBelieved: Bool) async throws {
        try await ProviderFixture.with({ $0.audiences = ["K"] }) { world in
            let more = claims.contains("nonce") ? #","nonce":"K""# : ""
            let answer = try await world.logIn(claims, more: more)
            #expect(answer.status == (isBelieved ? 200 : 401), "\(claims): \(answer.text)")
        }
    }
}
