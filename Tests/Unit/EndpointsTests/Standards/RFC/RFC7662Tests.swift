import HTTP
import Testing

/// Introspection: RFC 7662 section 2.
@Suite struct RFC7662Tests {
    private static let path = "/oauth/introspect"
    private static let kept: [(name: StaticString, value: String?)] = [
        ("Content-Type", "application/json"), ("Cache-Control", "no-store"),
    ]
    private static let nothing: Set<String> = [
        "scope", "client_id", "username", "sub", "exp", "iat", "aud", "iss", "sid",
    ]

    private static func ask(_ form: String) -> Sent { .post(path, form, basic: "backend:{secret}") }

    static let demands: [Demand] = [
        Demand(
            "2.2", "an access token", ask("token={access}"), 200, fields: kept,
            members: [
                "active": "true", "sub": "{user}", "client_id": "mobile", "token_type": "Bearer", "iss": "{issuer}",
                "aud": "{audience}", "scope": "read write account", "username": "anna", "sid": "{session}", "exp": nil,
                "iat": nil,
            ]),
        Demand(
            "4", "a refresh token opens no resource", ask("token={refresh}"), 200, members: ["active": "false"],
            without: nothing),
        Demand(
            "4", "nor by the other hint", ask("token={refresh}&token_type_hint=access_token"), 200,
            members: ["active": "false"], without: nothing),
        Demand(
            "2.1", "who asks for a refresh token is told", ask("token={refresh}&token_type_hint=refresh_token"), 200,
            members: ["active": "true", "client_id": "mobile", "sub": "{user}"], without: ["token_type", "aud"]),
        Demand(
            "2.2", "a client's own token", ask("token={own}"), 200,
            members: ["active": "true", "sub": "backend", "client_id": "backend"], without: ["username", "sid"]),
        Demand(
            "2.1", "with the wrong hint", ask("token={access}&token_type_hint=refresh_token"), 200,
            members: ["active": "true", "sub": "{user}"]),
        Demand(
            "2.1", "with an unknown hint", ask("token={access}&token_type_hint=x"), 200,
            members: ["active": "true", "sub": "{user}"]),
        Demand(
            "2.1", "unknown parameters are ignored", ask("token={access}&resource_id=x"), 200,
            members: ["active": "true", "sub": "{user}"]),
        Demand(
            "2.2", "of a token that is none nothing is said", ask("token=x"), 200, fields: kept,
            members: ["active": "false"], without: nothing),
        Demand(
            "2.2", "nor of a forged one", ask("token={access}A"), 200, members: ["active": "false"], without: nothing),
        Demand("2.1", "no token", ask("x=1"), 400, "invalid_request", fields: kept),
        Demand("2.1", "an empty token is none", ask("token="), 400, "invalid_request"),
        Demand("2.1", "a token twice", ask("token=x&token=x"), 400, "invalid_request"),
        Demand(
            "2.1", "nobody asks", .post(path, "token={access}"), 401, "invalid_client",
            fields: [("WWW-Authenticate", #"Basic realm="sojourn", charset="UTF-8""#)]),
        Demand("4", "a public client asks", .post(path, "token={access}&client_id=mobile"), 401, "invalid_client"),
        Demand("2.3", "a wrong secret", .post(path, "token={access}", basic: "backend:x"), 401, "invalid_client"),
        Demand(
            "2.3", "a token does not ask for itself",
            Sent(target: path, content: "token={access}", authorization: "Bearer {access}"), 401, "invalid_client"),
        Demand(
            "2.1", "a secret in the form", .post(path, "token={access}&client_id=web&client_secret={post}"), 200,
            members: ["active": "true", "sub": "{user}"]),
        Demand(
            "2.1", "POST alone", .get(path + "?token={access}"), 405, "method_not_allowed",
            fields: [("Allow", "OPTIONS, POST")]),
        Demand(
            "2.1", "JSON",
            Sent(
                target: path, content: #"{"token":"{access}"}"#, contentType: "application/json",
                basic: "backend:{secret}"), 400, "invalid_request"),
    ]

    @Test(arguments: demands) func theClauseHolds(_ demand: Demand) async throws { try await demand.check() }

    /// Section 2.2: the one member that every answer has, and that decides.
    @Test func everyAnswerIsAskedWhetherTheTokenIsActive() {
        for demand in Self.demands where demand.status == 200 {
            #expect(["true", "false"].contains(demand.members["active"] ?? nil), "\(demand.testDescription)")
        }
    }

    /// Section 2.2: active is what can be used. A refresh token of a client that has lost the grant is not.
    @Test func aRefreshTokenThatNoRefreshTakesIsNotActive() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            func areActive() async -> [Bool?] {
                let own = "token={backend.refresh}"
                let hinted = "token={refresh}&token_type_hint=refresh_token"
                return [
                    await scene.send(Self.ask(own)).bool("active"), await scene.send(Self.ask(hinted)).bool("active"),
                ]
            }
            #expect(await areActive() == [true, true])
            for (client, grants) in [("mobile", #""password""#), ("backend", #""client_credentials""#)] {
                let path = "/admin/v1/clients/\(client)"
                #expect(await server.admin(.patch, path, #"{"grant_types":[\#(grants)]}"#).status == 200)
            }
            #expect(await areActive() == [false, false])
            #expect(await scene.send(.refresh("&client_id=mobile")).string("error") == "unauthorized_client")
        }
    }
}
