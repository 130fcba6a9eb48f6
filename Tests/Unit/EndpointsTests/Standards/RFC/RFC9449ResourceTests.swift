import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Proofs of possession where tokens are used: RFC 9449 sections 4.1, 4.3, 7, 9 and 11.5, at the server's own resources.
@Suite struct RFC9449ResourceTests {
    private static let bearer = #"Bearer realm="sojourn""#
    private static let dpop = #"DPoP realm="sojourn", algs="ES256 EdDSA""#
    private static let invalid = #", error="invalid_token", error_description="The token is not valid, or no longer.""#
    private static let malformed = RFC9449Tests.malformed

    private static func error(_ code: String, _ sentence: String) -> String {
        #", error="\#(code)", error_description="\#(sentence)""#
    }

    private static func asking(_ schemes: String...) -> [(name: StaticString, value: String?)] {
        schemes.map { ("WWW-Authenticate", $0) } + [("Cache-Control", "no-store")]
    }

    /// A request of a token, by its key, to a resource.
    private static func use(_ token: String = "{bound.access}", _ target: String = "/v1/me") -> Sent {
        .get(target, authorization: "DPoP \(token)").with(SentProof(token: token))
    }

    static let resources: [Demand] = [
        Demand("7.1", "token and proof", use(), 200, fields: [("DPoP-Nonce", nil)], members: ["user_id": "{user}"]),
        Demand(
            "7.1", "the scheme in any case",
            .get("/v1/me", authorization: "dPoP {bound.access}").with(SentProof(token: "{bound.access}")), 200),
        Demand(
            "4.1", "the field's name in any case",
            Sent(
                method: .get, target: "/v1/me", contentType: nil, authorization: "DPoP {bound.access}",
                fields: [("dpop", "junk")]), 401, "invalid_dpop_proof",
            fields: asking(dpop + error("invalid_dpop_proof", malformed), bearer)),
        Demand(
            "7.1", "no credentials: both schemes", .get("/v1/me"), 401, "unauthenticated",
            fields: asking(bearer, dpop)),
        Demand(
            "7.1", "a proof alone is no credential", .get("/v1/me").with(SentProof()), 401, "unauthenticated",
            fields: asking(bearer, dpop)),
        Demand(
            "7.1", "no proof", .get("/v1/me", authorization: "DPoP {bound.access}"), 401, "invalid_dpop_proof",
            fields: asking(dpop + error("invalid_dpop_proof", malformed), bearer)),
        Demand(
            "4.3-1", "two proofs", use().with(SentProof(token: "{bound.access}")), 401, "invalid_dpop_proof",
            fields: asking(dpop + error("invalid_dpop_proof", malformed), bearer)),
        Demand(
            "4.3-8", "for another method",
            .get("/v1/me", authorization: "DPoP {bound.access}")
                .with(SentProof(token: "{bound.access}") { $0.set("htm", "POST") }), 401, "invalid_dpop_proof",
            fields: asking(dpop + error("invalid_dpop_proof", "The proof was made for another method."), bearer)),
        Demand(
            "4.3-9", "for another target",
            .get("/v1/me", authorization: "DPoP {bound.access}")
                .with(SentProof(token: "{bound.access}") { $0.set("htu", EndpointsFixture.issuer + "/v1/verify") }),
            401,
            "invalid_dpop_proof",
            fields: asking(dpop + error("invalid_dpop_proof", "The proof was made for another target URI."), bearer)),
        Demand("4.3-9", "the query does not count", use("{bound.access}", "/v1/me?x=1"), 200),
        Demand(
            "4.3-12", "for no access token",
            .get("/v1/me", authorization: "DPoP {bound.access}").with(SentProof()), 401, "invalid_dpop_proof",
            fields: asking(dpop + error("invalid_dpop_proof", otherToken), bearer)),
        Demand(
            "4.3-12", "for another access token",
            .get("/v1/me", authorization: "DPoP {bound.access}").with(SentProof(token: "{bound.own}")), 401,
            "invalid_dpop_proof", fields: asking(dpop + error("invalid_dpop_proof", otherToken), bearer)),
        Demand(
            "4.3-12", "the token itself is not its hash",
            .get("/v1/me", authorization: "DPoP {bound.access}").with(SentProof { $0.set("ath", "x") }), 401,
            "invalid_dpop_proof"),
        Demand(
            "7.1", "by another key than the token's",
            .get("/v1/me", authorization: "DPoP {bound.access}")
                .with(SentProof(isStranger: true, token: "{bound.access}")), 401, "binding_mismatch",
            fields: asking(bearer, dpop + invalid), members: ["reauthenticate": "false"]),
        Demand(
            "7.1", "a token that is not bound", use("{access}"), 401, "binding_mismatch",
            fields: asking(bearer, dpop + invalid)),
        Demand("7.1", "no token of ours", use("x"), 401, "invalid_token", fields: asking(bearer, dpop + invalid)),
        Demand(
            "7.1", "a bound refresh token is none", use("{bound.refresh}"), 401, "invalid_token",
            fields: asking(bearer, dpop + invalid)),
        Demand(
            "7.1", "a character that no token has", use("{bound.access}!"), 400, "invalid_request",
            fields: [("WWW-Authenticate", nil)]),
        Demand(
            "7.1", "a proxy asks for a client's own token", use("{bound.own}", "/v1/verify"), 200,
            fields: [("X-Client-Id", "backend"), ("X-User-Id", nil)]),
        Demand(
            "7.2", "a token that is not bound stays Bearer, whatever stands beside it",
            .get("/v1/me", authorization: "Bearer {access}").with(SentProof()), 200),
    ]

    private static let strayed =
        "The proof is too old: it must hold the nonce in DPoP-Nonce, or be made by a correct clock."

    /// A clock that is wrong, at a server that demands no nonces.
    static let cured: [Demand] = [
        Demand(
            "9", "a wrong clock is told to use a nonce",
            .get("/v1/me", authorization: "DPoP {bound.access}")
                .with(SentProof(token: "{bound.access}") { $0.claims["iat"] = "\(EndpointsFixture.start - 61)" }), 401,
            "use_dpop_nonce",
            fields: [("DPoP-Nonce", "{cure}")] + asking(dpop + error("use_dpop_nonce", strayed), bearer)),
        Demand(
            "11.1", "and is taken with it",
            .get("/v1/me", authorization: "DPoP {bound.access}")
                .with(
                    SentProof(token: "{bound.access}", nonce: "{cure}") {
                        $0.claims["iat"] = "\(EndpointsFixture.start - 61)"
                    }),
            200),
    ]

    private static let otherToken = "The proof was made for another access token."

    /// The calls that take a token of a user, and how they answer.
    private static let calls: [(Sent, status: Int)] = [
        (.get("/v1/me"), 200), (.get("/v1/me/devices"), 200), (.get("/v1/verify"), 200),
        (.json(.patch, "/v1/me", #"{"display_name":"Anna"}"#), 200),
        (.json(.patch, "/v1/me/devices/a", #"{"name":"Phone"}"#), 200),
        (.json(.put, "/v1/me/login-settings", #"{"logins_disabled":false}"#), 200),
        (
            .json(
                .put, "/v1/me/password",
                #"{"old_password":"correct horse","new_password":"better battery staple"}"#), 204
        ),
        (Sent(method: .delete, target: "/v1/me/devices/a", contentType: nil), 204),
        (Sent(method: .delete, target: "/v1/me/devices", contentType: nil), 200),
        (Sent(target: "/v1/logout", contentType: nil), 204),
    ]

    /// Sections 7.1 and 7.2: no scheme takes the other one's tokens, wherever a token is taken.
    static let schemes: [Demand] = calls.flatMap { call, status in
        func by(_ authorization: String, _ proof: SentProof?) -> Sent {
            var sent = call
            sent.authorization = authorization
            return proof.map(sent.with) ?? sent
        }
        let name = "\(call.method.rawValue) \(call.target)"
        let bound = "{bound.access}"
        return [
            Demand(
                "7.2", "\(name): a bound token as Bearer", by("Bearer \(bound)", nil), 401, "binding_mismatch",
                members: ["reauthenticate": "false"]),
            Demand(
                "7.2", "\(name): a bound token as Bearer, with its proof",
                by("Bearer \(bound)", SentProof(token: bound)), 401, "binding_mismatch"),
            Demand("7.1", "\(name): a bound token without proof", by("DPoP \(bound)", nil), 401, "invalid_dpop_proof"),
            Demand(
                "7.1", "\(name): a token that is not bound", by("DPoP {access}", SentProof(token: "{access}")), 401,
                "binding_mismatch"),
            Demand(
                "7.1", "\(name): as it has to be", by("DPoP \(bound)", SentProof(token: bound)), status),
        ]
    }

    private static let given = RFC9449Tests.given

    /// A server that demands nonces.
    static let nonces: [Demand] = [
        Demand(
            "9", "a resource asks for one",
            .get("/v1/me", authorization: "DPoP {bound.access}").with(SentProof(token: "{bound.access}", nonce: nil)),
            401, "use_dpop_nonce",
            fields: [given] + asking(dpop + error("use_dpop_nonce", RFC9449Tests.nonceMissing), bearer)),
        Demand("9", "and takes it", use(), 200, fields: [given, ("Cache-Control", "no-store")]),
        Demand(
            "9", "a refusal of the token brings one, too", use("{access}"), 401, "binding_mismatch",
            fields: [given] + asking(bearer, dpop + invalid)),
        Demand(
            "9", "Bearer tokens need none", .get("/v1/me", authorization: "Bearer {access}"), 200,
            fields: [("DPoP-Nonce", nil)]),
    ]

    @Test(arguments: cured) func aWrongClockIsCured(_ demand: Demand) async throws {
        try await demand.check(boundTo: ProvingDevice())
    }

    @Test(arguments: resources) func aResourceIsUsed(_ demand: Demand) async throws {
        try await demand.check(boundTo: ProvingDevice())
    }

    @Test(arguments: schemes) func aSchemeIsKeptTo(_ demand: Demand) async throws {
        try await demand.check(boundTo: ProvingDevice())
    }

    @Test(arguments: nonces) func aNonceIsDemanded(_ demand: Demand) async throws {
        try await demand.check(proofs: DPoPPolicy(nonce: .required), boundTo: ProvingDevice())
    }
}
