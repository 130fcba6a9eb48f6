import HTTP
import Testing

/// Revocation: RFC 7009 section 2.
@Suite struct RFC7009Tests {
    private static let path = "/oauth/revoke"

    static let demands: [Demand] = [
        Demand(
            "2.1", "a refresh token", .post(path, "token={refresh}&client_id=mobile"), 200,
            fields: [("Cache-Control", "no-store")]),
        Demand("2.1", "an access token", .post(path, "token={access}&client_id=mobile"), 200),
        Demand(
            "2.1", "with the right hint", .post(path, "token={refresh}&token_type_hint=refresh_token&client_id=mobile"),
            200),
        Demand(
            "2.1", "with the wrong hint", .post(path, "token={refresh}&token_type_hint=access_token&client_id=mobile"),
            200),
        Demand("2.1", "with an unknown hint", .post(path, "token={refresh}&token_type_hint=x&client_id=mobile"), 200),
        Demand(
            "2.1", "no token", .post(path, "client_id=mobile"), 400, "invalid_request",
            fields: [("Cache-Control", "no-store")]),
        Demand("2.1", "an empty token is none", .post(path, "token=&client_id=mobile"), 400, "invalid_request"),
        Demand(
            "2.1", "a token twice", .post(path, "token={refresh}&token={access}&client_id=mobile"), 400,
            "invalid_request"),
        Demand(
            "2.1", "no client", .post(path, "token={refresh}"), 401, "invalid_client",
            fields: [("WWW-Authenticate", #"Basic realm="sojourn", charset="UTF-8""#)]),
        Demand(
            "2.1", "a confidential client without proof", .post(path, "token={backend.refresh}&client_id=backend"), 401,
            "invalid_client"),
        Demand(
            "2.1", "a confidential client with proof",
            .post(path, "token={backend.refresh}", basic: "backend:{secret}"), 200),
        Demand(
            "2.1", "another client's token", .post(path, "token={refresh}", basic: "backend:{secret}"), 400,
            "unauthorized_client"),
        Demand(
            "2.1", "another client's token", .post(path, "token={backend.refresh}&client_id=mobile"), 400,
            "unauthorized_client"),
        Demand("2.2", "an invalid token is no error", .post(path, "token=x&client_id=mobile"), 200),
        Demand("2.2", "a forged refresh token is no error", .post(path, "token=sjr_AAAA&client_id=mobile"), 200),
        Demand("2.1", "a client's own token", .post(path, "token={own}", basic: "backend:{secret}"), 200),
        Demand(
            "2.1", "another client's own token", .post(path, "token={own}&client_id=mobile"), 400,
            "unauthorized_client"),
        Demand(
            "2.1", "POST alone", .get(path + "?token={refresh}&client_id=mobile"), 405, "method_not_allowed",
            fields: [("Allow", "OPTIONS, POST")]),
        Demand(
            "2.1", "JSON", Sent(target: path, content: #"{"token":"{refresh}"}"#, contentType: "application/json"), 400,
            "invalid_request"),
        Demand(
            "2.3", "no JSONP", .post(path + "?callback=f", "token=x&client_id=mobile"), 200,
            fields: [("Content-Type", nil)]),
    ]

    @Test(arguments: demands) func theClauseHolds(_ demand: Demand) async throws { try await demand.check() }

    /// Section 2.1: with a refresh token its access tokens end too, and with an access token its refresh token.
    @Test(arguments: ["access", "refresh"]) func eitherTokenEndsBoth_atOnce(_ kind: String) async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            #expect(await scene.send(.post(Self.path, "token={\(kind)}&client_id=mobile")).status == 200)
            #expect(await scene.send(.refresh("&client_id=mobile")).string("error") == "invalid_grant")
            #expect(await scene.send(.get("/v1/me", authorization: "Bearer {access}")).status == 401)
            #expect(await scene.send(.post(Self.path, "token={\(kind)}&client_id=mobile")).status == 200)
        }
    }
}
