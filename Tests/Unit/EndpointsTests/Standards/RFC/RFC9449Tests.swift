import Cryptography
import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Proofs of possession where tokens are issued: RFC 9449 sections 5, 6, 8 and 11. What a proof itself has to be like (sections
/// 4.2 and 4.3) is in `ProofRow`, for the token endpoint and for a resource; what comes after, in `RFC9449ResourceTests`; how
/// a session keeps its key, in `DPoPBindingTests`.
///
/// Not here: section 5.2 (clients do not register; `dpop` of a client is its `dpop_bound_access_tokens`), section 7.3 (what
/// clients do), section 10 but for one row (the others are in `OIDFSecurityProfileTests`), and of section 11 what is about
/// clients (11.2, 11.4), about authorization codes (11.9) and about algorithms to come (11.10).
@Suite struct RFC9449Tests {
    private static let own = "grant_type=client_credentials"
    static let malformed =
        "There is no proof, or it is not valid: one JWT of the type dpop+jwt, signed by its own key."

    private static let refresh = Sent.token("grant_type=refresh_token&refresh_token={bound.refresh}")
    private static let login = Sent.json(.post, "/v1/login", EndpointsFixture.loginBody(device: "new"))
    private static let kept: [(name: StaticString, value: String?)] = [
        ("Cache-Control", "no-store"), ("Content-Type", "application/json"), ("DPoP-Nonce", nil),
        ("WWW-Authenticate", nil),
    ]

    static let tokens: [Demand] = [
        Demand(
            "5", "a grant with a proof: the token says so", .token(own, basic: "backend:{secret}").with(SentProof()),
            200, fields: kept, members: ["token_type": "DPoP", "access_token": nil], without: ["refresh_token"]),
        Demand("5", "whatever the grant: a refresh", refresh.with(SentProof()), 200, members: ["token_type": "DPoP"]),
        Demand(
            "5", "whatever the grant: a password",
            .token("grant_type=password&username=anna&password={password}", basic: "backend:{secret}")
                .with(SentProof()), 200, fields: kept, members: ["token_type": "DPoP", "refresh_token": nil]),
        Demand("5", "a login of ours", login.with(SentProof()), 200, members: ["token_type": "DPoP"]),
        Demand("5", "without a proof: Bearer", login, 200, members: ["token_type": "Bearer"]),
        Demand(
            "5", "a server may issue what is not bound: a session that was not, stays so",
            .refresh("&client_id=mobile").with(SentProof()), 200, members: ["token_type": "Bearer"]),
        Demand(
            "5", "a public client's refresh token is bound: no proof", refresh, 400, "invalid_grant", fields: kept,
            members: ["reason": "binding_mismatch", "reauthenticate": "false"]),
        Demand(
            "5", "a public client's refresh token is bound: another key", refresh.with(SentProof(isStranger: true)),
            400, "invalid_grant", fields: kept, members: ["reason": "binding_mismatch", "reauthenticate": "false"]),
        Demand(
            "5", "a confidential client's, too: the secret is not enough",
            .token("grant_type=refresh_token&refresh_token={bound.backend.refresh}", basic: "backend:{secret}"), 400,
            "invalid_grant", members: ["reason": "binding_mismatch"]),
        Demand(
            "5", "nor is the key",
            .token("grant_type=refresh_token&refresh_token={bound.backend.refresh}").with(SentProof()), 400,
            "invalid_grant", members: ["reason": "binding_mismatch"]),
        Demand(
            "5", "both",
            .token("grant_type=refresh_token&refresh_token={bound.backend.refresh}", basic: "backend:{secret}")
                .with(SentProof()), 200, members: ["token_type": "DPoP"]),
        Demand(
            "5", "an invalid proof",
            .token(own, basic: "backend:{secret}").with(SentProof { $0.header["typ"] = nil }), 400,
            "invalid_dpop_proof", fields: kept, members: ["error_description": malformed], without: ["access_token"]),
        Demand(
            "5", "an invalid proof, of a login of ours", login.with(SentProof { $0.set("htm", "PUT") }), 400,
            "invalid_dpop_proof", members: ["detail": "The proof was made for another method."]),
        Demand(
            "5", "a proof stands in for no client", .token(own).with(SentProof()), 401, "invalid_client",
            members: [:], without: ["access_token"]),
        Demand(
            "5.1", "the algorithms are told", .get("/.well-known/oauth-authorization-server"), 200,
            members: ["dpop_signing_alg_values_supported": "ES256 EdDSA"]),
        Demand(
            "5.2", "a client that takes bound tokens alone: no proof",
            .token("grant_type=password&username=anna&password={password}&client_id=strict"), 400,
            "invalid_dpop_proof", members: ["error_description": malformed]),
        Demand(
            "5.2", "a client that takes bound tokens alone: a login of ours",
            .json(.post, "/v1/login", EndpointsFixture.loginBody(client: "strict")), 400, "invalid_dpop_proof"),
        Demand(
            "5.2", "a client that takes bound tokens alone: a refresh",
            .token("grant_type=refresh_token&refresh_token={strict.refresh}&client_id=strict"), 400, "invalid_grant",
            members: ["reason": "binding_mismatch"]),
        Demand(
            "10", "no code to bind: dpop_jkt is an unknown parameter",
            .token(own + "&dpop_jkt=x", basic: "backend:{secret}"), 200, members: ["token_type": "Bearer"]),
    ]

    private static func ask(_ form: String) -> Sent { .post("/oauth/introspect", form, basic: "backend:{secret}") }

    static let introspections: [Demand] = [
        Demand(
            "6.2", "a bound access token", ask("token={bound.access}"), 200,
            members: ["active": "true", "token_type": "DPoP", "cnf.jkt": "{jkt}"]),
        Demand(
            "6.2", "a client's own", ask("token={bound.own}"), 200,
            members: ["active": "true", "token_type": "DPoP", "cnf.jkt": "{jkt}"]),
        Demand(
            "6.2", "a bound refresh token", ask("token={bound.refresh}&token_type_hint=refresh_token"), 200,
            members: ["active": "true", "cnf.jkt": "{jkt}"], without: ["token_type"]),
        Demand(
            "6.2", "one that is not bound", ask("token={access}"), 200,
            members: ["active": "true", "token_type": "Bearer"], without: ["cnf"]),
        Demand(
            "6.2", "who asks proves nothing, whatever the token is bound to",
            ask("token={bound.access}").with(SentProof(isStranger: true)), 200, members: ["active": "true"]),
    ]

    static let nonceMissing = "The proof must hold the nonce in DPoP-Nonce."
    static let given: (name: StaticString, value: String?) = ("DPoP-Nonce", "{nonce}")

    /// A server that demands nonces.
    static let nonces: [Demand] = [
        Demand(
            "8", "a request without one gets one", refresh.with(SentProof(nonce: nil)), 400, "use_dpop_nonce",
            fields: [given, ("Cache-Control", "no-store"), ("WWW-Authenticate", nil)],
            members: ["error_description": nonceMissing]),
        Demand(
            "8", "a login of ours, too", login.with(SentProof(nonce: nil)), 400, "use_dpop_nonce", fields: [given],
            members: ["detail": nonceMissing]),
        Demand(
            "8", "one that does not match exactly", refresh.with(SentProof(nonce: "{nonce}A")), 400, "use_dpop_nonce",
            fields: [given]),
        Demand(
            "8", "an empty one", refresh.with(SentProof { $0.set("nonce", "") }), 400, "use_dpop_nonce", fields: [given]
        ),
        Demand(
            "8", "a number", refresh.with(SentProof { $0.claims["nonce"] = "1" }), 400, "invalid_dpop_proof",
            fields: [given]),
        Demand(
            "8", "a proof that is wrong in another way is told so, and gets one, too",
            refresh.with(SentProof { $0.set("htm", "GET") }), 400, "invalid_dpop_proof", fields: [given]),
        Demand("8.2", "an answer with tokens brings the next one", refresh.with(SentProof()), 200, fields: [given]),
        Demand(
            "8.2", "an answer that may be kept brings none", .get("/oauth/jwks").with(SentProof()), 200,
            fields: [("DPoP-Nonce", nil), ("Cache-Control", "public, max-age=300")]),
        Demand(
            "8.2", "nor the metadata", .get("/.well-known/oauth-authorization-server").with(SentProof()), 200,
            fields: [("DPoP-Nonce", nil)]),
        Demand(
            "8", "who proves nothing is told nothing", .refresh("&client_id=mobile"), 200, fields: [("DPoP-Nonce", nil)]
        ),
        Demand(
            "11.3", "a proof without one does not pass, whatever else it has",
            refresh.with(SentProof(nonce: nil) { $0.claims["exp"] = "\(EndpointsFixture.start + 60)" }), 400,
            "use_dpop_nonce",
            fields: [given]),
    ]

    private static func iat(_ seconds: Int64) -> String { "\(EndpointsFixture.start + seconds)" }

    /// A server that demands nonces, and clocks that are wrong: the nonce shows that the proof was made just now.
    static let strayed: [Demand] =
        ([-3600, -61, 16, 3600, 1_000_000_000] as [Int64]).map { seconds -> Demand in
            Demand(
                "11.1", "with a nonce the clock of its maker does not matter: \(seconds) seconds",
                refresh.with(SentProof { $0.claims["iat"] = iat(seconds) }), 200, fields: [given],
                members: ["token_type": "DPoP"])
        } + [
            Demand(
                "11.1", "nor at a login", login.with(SentProof { $0.claims["iat"] = iat(-86400) }), 200,
                members: ["token_type": "DPoP"]),
            Demand(
                "RFC 7519 4.1.4", "what it says of its end holds all the same",
                refresh.with(SentProof { $0.claims["exp"] = iat(-20) }), 400, "invalid_dpop_proof", fields: [given]),
            Demand(
                "RFC 7519 4.1.5", "and of its beginning", refresh.with(SentProof { $0.claims["nbf"] = iat(20) }), 400,
                "invalid_dpop_proof", fields: [given]),
        ]

    /// A server that demands none gives one to a client with a wrong clock.
    static let cured: [Demand] =
        ([-61, 16] as [Int64]).flatMap { seconds -> [Demand] in
            [
                Demand(
                    "8", "a wrong clock is told to use a nonce: \(seconds) seconds",
                    refresh.with(SentProof { $0.claims["iat"] = iat(seconds) }), 400, "use_dpop_nonce",
                    fields: [("DPoP-Nonce", "{cure}"), ("Cache-Control", "no-store"), ("WWW-Authenticate", nil)]),
                Demand(
                    "11.1", "and is taken with it: \(seconds) seconds",
                    refresh.with(SentProof(nonce: "{cure}") { $0.claims["iat"] = iat(seconds) }), 200,
                    members: ["token_type": "DPoP"]),
            ]
        } + [
            Demand(
                "8", "at a login, too", login.with(SentProof { $0.claims["iat"] = iat(-3600) }), 400, "use_dpop_nonce",
                fields: [("DPoP-Nonce", "{cure}")]),
            Demand(
                "11.1", "and is taken there", login.with(SentProof(nonce: "{cure}") { $0.claims["iat"] = iat(-3600) }),
                200,
                members: ["token_type": "DPoP"]),
            Demand(
                "8", "by no other nonce", refresh.with(SentProof(nonce: "x") { $0.claims["iat"] = iat(-61) }), 400,
                "use_dpop_nonce", fields: [("DPoP-Nonce", "{cure}")]),
            Demand(
                "RFC 7519 4.1.4", "a nonce does not help who says that it is over",
                refresh.with(SentProof { $0.claims["exp"] = iat(-20) }), 400, "invalid_dpop_proof",
                fields: [("DPoP-Nonce", nil)]),
        ]

    /// A server that demands none.
    static let security: [Demand] = [
        Demand(
            "8", "a nonce that was not asked for does no harm", refresh.with(SentProof(nonce: "x")), 200,
            fields: [("DPoP-Nonce", nil)]),
        Demand(
            "11.5", "another JWT of the key is no proof",
            refresh.with(SentProof { $0.header["typ"] = #""JWT""# }), 400, "invalid_dpop_proof"),
        Demand(
            "11.5", "nor is the token itself",
            Sent(
                method: .get, target: "/v1/me", contentType: nil, authorization: "DPoP {bound.access}",
                fields: [("DPoP", "{bound.access}")]), 401, "invalid_dpop_proof"),
        Demand(
            "11.6", "asymmetric algorithms alone", refresh.with(SentProof { $0.header["alg"] = #""HS256""# }), 400,
            "invalid_dpop_proof"),
        Demand(
            "11.6", "none is none", refresh.with(SentProof { $0.header["alg"] = #""none""# }), 400,
            "invalid_dpop_proof"),
        Demand(
            "11.8", "a thumbprint in the request binds nothing",
            .token(own + "&cnf=%7B%22jkt%22%3A%22x%22%7D", basic: "backend:{secret}"), 200,
            members: ["token_type": "Bearer"]),
    ]

    /// Sections 4.1, 4.3-1 and 4.3-2: the field.
    @Test(arguments: ["", "junk", "a.b.c", "{proof}.", "{proof}, {proof}", "{proof},{proof}", "\"{proof}\""])
    func theFieldHoldsOneToken(_ text: String) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            var value = text
            while let name = value.firstRange(of: "{proof}") {
                value.replaceSubrange(name, with: device.proof(server, .post, "/v1/login"))
            }
            let answer = await server.call(.post, "/v1/login", EndpointsFixture.loginBody(), fields: ["DPoP": value])
            #expect(answer.status == 400)
            #expect(answer.string("code") == "invalid_dpop_proof")
        }
    }

    @Test(arguments: tokens) func aTokenIsBound(_ demand: Demand) async throws {
        try await demand.check(boundTo: ProvingDevice())
    }

    /// With keys of the other kind, too.
    @Test(arguments: introspections, [SignatureAlgorithm.es256, .eddsa])
    func introspectionTellsTheKey(_ demand: Demand, _ algorithm: SignatureAlgorithm) async throws {
        try await demand.check(boundTo: ProvingDevice(algorithm))
    }

    @Test(arguments: nonces) func aNonceIsDemanded(_ demand: Demand) async throws {
        try await demand.check(proofs: DPoPPolicy(nonce: .required), boundTo: ProvingDevice())
    }

    @Test(arguments: strayed) func aNonceTakesThePlaceOfTheClock(_ demand: Demand) async throws {
        try await demand.check(proofs: DPoPPolicy(nonce: .required), boundTo: ProvingDevice())
    }

    @Test(arguments: cured) func aWrongClockIsCured(_ demand: Demand) async throws {
        try await demand.check(boundTo: ProvingDevice())
    }

    @Test(arguments: security) func nothingElseIsAProof(_ demand: Demand) async throws {
        try await demand.check(boundTo: ProvingDevice())
    }
}
