import HTTP
import Testing

/// Bearer tokens: RFC 6750 sections 2 and 3.
@Suite struct RFC6750Tests {
    private static let bare: [(name: StaticString, value: String?)] = [
        ("WWW-Authenticate", #"Bearer realm="sojourn""#), otherScheme, ("Cache-Control", "no-store"),
    ]
    private static let invalid: [(name: StaticString, value: String?)] = [
        (
            "WWW-Authenticate",
            #"Bearer realm="sojourn", error="invalid_token", error_description="The token is not valid, or no longer.""#
        ), otherScheme,
    ]
    /// RFC 9449 section 7.1: what a token that is bound to a key comes by.
    private static let otherScheme: (name: StaticString, value: String?) = (
        "WWW-Authenticate", #"DPoP realm="sojourn", algs="ES256 EdDSA""#
    )

    static let demands: [Demand] = [
        Demand(
            "2.1", "the field", .get("/v1/me", authorization: "Bearer {access}"), 200, members: ["user_id": "{user}"]),
        Demand("2.1", "the scheme in any case", .get("/v1/me", authorization: "bEARER {access}"), 200),
        Demand("2.1", "more than one blank", .get("/v1/me", authorization: "Bearer   {access}"), 200),
        Demand("2.1", "a tab is no blank", .get("/v1/me", authorization: "Bearer\t{access}"), 401, "unauthenticated"),
        Demand("2.1", "two tokens", .get("/v1/me", authorization: "Bearer {access} {access}"), 400, "invalid_request"),
        Demand("2.1", "no token", .get("/v1/me", authorization: "Bearer"), 401, "unauthenticated", fields: bare),
        Demand(
            "2.1", "a character that no token has", .get("/v1/me", authorization: "Bearer {access}!"), 400,
            "invalid_request"),
        Demand(
            "2", "two fields",
            Sent(
                method: .get, target: "/v1/me", contentType: nil, authorization: "Bearer {access}",
                fields: [("Authorization", "Bearer {access}")]), 400, "invalid_request"),
        Demand(
            "2.2", "a token in the form is none",
            Sent(method: .get, target: "/v1/me", content: "access_token={access}"), 401, "unauthenticated", fields: bare
        ),
        Demand(
            "2.3", "a token in the URI is none", .get("/v1/me?access_token={access}"), 401, "unauthenticated",
            fields: bare),
        Demand(
            "2", "a second way beside the field does not count",
            .get("/v1/me?access_token=x", authorization: "Bearer {access}"), 200),
        Demand("3", "no credentials: the scheme alone", .get("/v1/me"), 401, "unauthenticated", fields: bare),
        Demand("3", "another scheme", .get("/v1/me", authorization: "Digest x"), 401, "unauthenticated", fields: bare),
        Demand(
            "3.1", "no token of ours", .get("/v1/me", authorization: "Bearer x"), 401, "invalid_token", fields: invalid),
        Demand(
            "3.1", "a refresh token", .get("/v1/me", authorization: "Bearer {refresh}"), 401, "invalid_token",
            fields: invalid),
        Demand(
            "3.1", "a token of no session", .get("/v1/me", authorization: "Bearer {own}"), 401, "invalid_token",
            fields: invalid),
        Demand("3.1", "an admin's call", .get("/admin/v1/users", authorization: "Bearer {access}"), 404, "not_found"),
        Demand(
            "5.3", "who may keep the answer", .get("/v1/me", authorization: "Bearer {access}"), 200,
            fields: [("Cache-Control", "no-store")]),
        Demand(
            "3", "forward-auth asks alike", .get("/v1/verify", authorization: "Bearer x"), 401, "invalid_token",
            fields: invalid),
        Demand(
            "3.1", "forward-auth for an API without a name, as an empty variable of a proxy would have it",
            .get("/v1/verify?audience=", authorization: "Bearer {access}"), 400, "invalid_request"),
    ]

    @Test(arguments: demands) func theClauseHolds(_ demand: Demand) async throws { try await demand.check() }

    @Test func anExpiredAndARevokedTokenAreInvalid() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            server.moveClock(to: 14 * EndpointsFixture.day)
            let expired = await scene.send(.get("/v1/me", authorization: "Bearer {access}"))
            #expect(expired.status == 401)
            #expect(expired.field("WWW-Authenticate")?.contains(#"error="invalid_token""#) == true)
        }
    }
}
