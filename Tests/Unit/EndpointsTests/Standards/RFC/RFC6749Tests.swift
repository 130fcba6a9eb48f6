import HTTP
import Testing

/// The token endpoint: RFC 6749 sections 2.3, 3.2, 3.3, 4.3, 4.4, 5.1, 5.2 and 6.
@Suite struct RFC6749Tests {
    private static let own = "grant_type=client_credentials"
    private static let kept: [(name: StaticString, value: String?)] = [
        ("Cache-Control", "no-store"), ("Pragma", "no-cache"), ("Content-Type", "application/json"),
    ]
    private static var asked: [(name: StaticString, value: String?)] {
        kept + [("WWW-Authenticate", #"Basic realm="sojourn", charset="UTF-8""#)]
    }

    static let authentication: [Demand] = [
        Demand("2.3.1", "a secret by HTTP Basic", .token(own, basic: "backend:{secret}"), 200, fields: kept),
        Demand("2.3.1", "id and secret are form-encoded first", .token(own, basic: "b%61ckend:{secret}"), 200),
        Demand("2.3.1", "a secret in the form", .token(own + "&client_id=web&client_secret={post}"), 200),
        Demand(
            "2.3.1", "credentials in the URI are none",
            .post("/oauth/token?client_id=web&client_secret={post}", own), 401, "invalid_client", fields: asked),
        Demand("2.3.1", "the other place of a secret than its own", .token(own, basic: "web:{post}"), 200),
        Demand(
            "2.3.1", "the other place of a secret than its own",
            .token(own + "&client_id=backend&client_secret={secret}"), 200, fields: kept),
        Demand("2.3.1", "the secret of another client", .token(own, basic: "web:{secret}"), 401, "invalid_client"),
        Demand(
            "2.3.1", "the secret of another client in the form",
            .token(own + "&client_id=backend&client_secret={post}"), 401, "invalid_client", fields: asked),
        Demand(
            "2.3", "two methods at once", .token(own + "&client_id=web&client_secret={post}", basic: "web:{post}"), 400,
            "invalid_request", fields: kept),
        Demand(
            "2.3", "two clients at once", .token(own + "&client_id=web", basic: "backend:{secret}"), 400,
            "invalid_request"),
        Demand("2.3", "the same id twice over", .token(own + "&client_id=backend", basic: "backend:{secret}"), 200),
        Demand("2.3.1", "the scheme in any case", .token(own, authorization: "bAsIc {basic}"), 200),
        Demand(
            "3.2.1", "a confidential client without proof", .token(own + "&client_id=backend"), 401, "invalid_client"),
        Demand(
            "3.2.1", "an empty secret is none", .token(own + "&client_id=web&client_secret="), 401, "invalid_client"),
        Demand("3.2.1", "a public client names itself", .refresh("&client_id=mobile"), 200, fields: kept),
        Demand(
            "3.2.1", "a public client with a secret", .refresh("&client_id=mobile&client_secret=x"), 401,
            "invalid_client"),
        Demand("3.2.1", "an unknown client", .refresh("&client_id=nobody"), 401, "invalid_client", fields: asked),
        Demand("2.2", "ids are told apart by case", .refresh("&client_id=Mobile"), 401, "invalid_client"),
    ]

    static let requests: [Demand] = [
        Demand(
            "3.2", "POST alone", .get("/oauth/token"), 405, "method_not_allowed", fields: [("Allow", "OPTIONS, POST")]),
        Demand(
            "3.2", "a GET with the form as content",
            Sent(method: .get, target: "/oauth/token", content: own, basic: "backend:{secret}"), 405,
            "method_not_allowed"),
        Demand(
            "3.2", "a GET with the form in the URI",
            Sent(method: .get, target: "/oauth/token?" + own, contentType: nil, basic: "backend:{secret}"), 405,
            "method_not_allowed"),
        Demand(
            "3.2", "parameters in the URI are not read", .post("/oauth/token?" + own, "", basic: "backend:{secret}"),
            400, "invalid_request"),
        Demand(
            "3.2", "a query beside the form is ignored", .post("/oauth/token?x=1", own, basic: "backend:{secret}"), 200),
        Demand(
            "3.2", "JSON",
            Sent(
                target: "/oauth/token", content: #"{"grant_type":"client_credentials"}"#,
                contentType: "application/json", basic: "backend:{secret}"),
            400, "invalid_request", fields: kept),
        Demand(
            "3.2", "no type", Sent(target: "/oauth/token", content: own, contentType: nil, basic: "backend:{secret}"),
            400, "invalid_request"),
        Demand(
            "3.2", "multipart",
            Sent(
                target: "/oauth/token", content: own, contentType: "multipart/form-data; boundary=x",
                basic: "backend:{secret}"), 400, "invalid_request"),
        Demand(
            "app. B", "the type with a charset",
            Sent(
                target: "/oauth/token", content: own, contentType: "application/x-www-form-urlencoded;charset=UTF-8",
                basic: "backend:{secret}"), 200),
        Demand(
            "app. B", "the type in any case",
            Sent(
                target: "/oauth/token", content: own, contentType: "Application/X-WWW-Form-URLEncoded",
                basic: "backend:{secret}"), 200),
        Demand("3.2", "a parameter twice", .token(own + "&" + own, basic: "backend:{secret}"), 400, "invalid_request"),
        Demand(
            "3.2", "a parameter twice, once empty", .token(own + "&scope=&scope=read", basic: "backend:{secret}"), 400,
            "invalid_request"),
        Demand(
            "3.2", "an unknown parameter twice", .token(own + "&x=1&x=2", basic: "backend:{secret}"), 400,
            "invalid_request"),
        Demand(
            "3.2", "unknown parameters are ignored", .token(own + "&x=1&redirect_uri=y", basic: "backend:{secret}"), 200
        ),
        Demand(
            "3.2", "a parameter without value is omitted",
            .token(own + "&scope=&client_secret=&client_id=", basic: "backend:{secret}"), 200),
        Demand("3.2", "no grant_type", .token("x=1", basic: "backend:{secret}"), 400, "invalid_request", fields: kept),
        Demand(
            "3.2", "an empty grant_type is omitted", .token("grant_type=", basic: "backend:{secret}"), 400,
            "invalid_request"),
        Demand("app. B", "a bad escape", .token(own + "&x=%zz", basic: "backend:{secret}"), 400, "invalid_request"),
        Demand("app. B", "no UTF-8", .token(own + "&x=%ff", basic: "backend:{secret}"), 400, "invalid_request"),
        Demand(
            "1.9", "names are told apart by case", .token("Grant_Type=client_credentials", basic: "backend:{secret}"),
            400, "invalid_request"),
        Demand(
            "5.2", "values are told apart by case", .token("grant_type=Client_Credentials", basic: "backend:{secret}"),
            400, "unsupported_grant_type", fields: kept),
        Demand(
            "5.2", "a grant of OAuth that is not here",
            .token("grant_type=urn:ietf:params:oauth:grant-type:saml2-bearer&assertion=x", basic: "backend:{secret}"),
            400, "unsupported_grant_type"),
        Demand(
            "4.1.3", "a code for a client without that grant",
            .token("grant_type=authorization_code&code=x", basic: "backend:{secret}"), 400, "unauthorized_client"),
        Demand(
            "5.2", "a grant that the client may not use",
            .token("grant_type=password&username=anna&password={password}&client_id=mobile"), 400,
            "unauthorized_client", fields: kept),
        Demand("4.4", "a public client for itself", .token(own + "&client_id=mobile"), 400, "unauthorized_client"),
        Demand(
            "5.2", "wrong credentials of a user",
            .token("grant_type=password&username=anna&password=x", basic: "backend:{secret}"), 400, "invalid_grant",
            fields: kept + [("WWW-Authenticate", nil)]),
        Demand(
            "4.3.2", "no username", .token("grant_type=password&password=x", basic: "backend:{secret}"), 400,
            "invalid_request"),
        Demand(
            "4.3.2", "no password", .token("grant_type=password&username=anna&password=", basic: "backend:{secret}"),
            400, "invalid_request"),
    ]

    static let scopesAndAnswers: [Demand] = [
        Demand(
            "5.1", "what an answer has", .refresh("&client_id=mobile"), 200, fields: kept,
            members: [
                "access_token": nil, "token_type": "Bearer", "expires_in": nil, "refresh_token": nil,
                "scope": "read write account",
            ]),
        Demand(
            "4.4.3", "no refresh token for a client itself", .token(own, basic: "backend:{secret}"), 200,
            members: ["scope": "read write"], without: ["refresh_token", "session_id", "user"]),
        Demand(
            "3.3", "a narrower scope", .token(own + "&scope=write", basic: "backend:{secret}"), 200,
            members: ["scope": "write"]),
        Demand(
            "3.3", "order means nothing", .token(own + "&scope=write+read", basic: "backend:{secret}"), 200,
            members: ["scope": "write read"]),
        Demand(
            "3.3", "a wider scope", .token(own + "&scope=read+admin", basic: "backend:{secret}"), 400, "invalid_scope",
            fields: kept),
        Demand(
            "3.3", "scopes are told apart by case", .token(own + "&scope=Read", basic: "backend:{secret}"), 400,
            "invalid_scope"),
        Demand(
            "3.3", "a malformed scope", .token(own + "&scope=read++write", basic: "backend:{secret}"), 400,
            "invalid_scope"),
        Demand(
            "3.3", "a malformed scope", .token(own + "&scope=%22read%22", basic: "backend:{secret}"), 400,
            "invalid_scope"),
        Demand(
            "6", "the scope of a refresh, narrowed", .refresh("&client_id=mobile&scope=read"), 200,
            members: ["scope": "read"]),
        Demand(
            "6", "the scope of a refresh, widened", .refresh("&client_id=mobile&scope=read+write+admin"), 400,
            "invalid_scope", fields: kept),
        Demand("6", "no refresh token", .token("grant_type=refresh_token&client_id=mobile"), 400, "invalid_request"),
        Demand(
            "6", "an empty refresh token is none", .token("grant_type=refresh_token&client_id=mobile&refresh_token="),
            400, "invalid_request"),
        Demand(
            "5.2", "a refresh token that is none", .token("grant_type=refresh_token&client_id=mobile&refresh_token=x"),
            400, "invalid_grant", fields: kept + [("WWW-Authenticate", nil)]),
        Demand(
            "6", "a rolling token is no refresh token",
            .token("grant_type=refresh_token&client_id=mobile&refresh_token={access}"), 400, "invalid_grant"),
        Demand(
            "6", "a confidential client's token with its proof",
            .token("grant_type=refresh_token&refresh_token={backend.refresh}", basic: "backend:{secret}"), 200),
        Demand(
            "6", "a confidential client's token without proof",
            .token("grant_type=refresh_token&refresh_token={backend.refresh}&client_id=backend"), 401, "invalid_client"),
        Demand(
            "6", "a confidential client's token, unnamed",
            .token("grant_type=refresh_token&refresh_token={backend.refresh}"), 400, "invalid_grant"),
        Demand(
            "6", "another client's token",
            .token("grant_type=refresh_token&refresh_token={refresh}", basic: "backend:{secret}"), 400, "invalid_grant"),
        Demand(
            "6", "another client's token",
            .token("grant_type=refresh_token&refresh_token={backend.refresh}&client_id=mobile"), 400, "invalid_grant"),
        Demand(
            "5.2", "a client that may not refresh",
            .token("grant_type=refresh_token&refresh_token={refresh}&client_id=web&client_secret={post}"), 400,
            "unauthorized_client"),
    ]

    @Test(arguments: authentication) func aClientProvesItself(_ demand: Demand) async throws {
        try await demand.check()
    }

    @Test(arguments: requests) func aRequestIsRead(_ demand: Demand) async throws { try await demand.check() }

    @Test(arguments: scopesAndAnswers) func aGrantIsAnswered(_ demand: Demand) async throws { try await demand.check() }

    /// Section 6: a narrowed refresh leaves the session as wide as it was granted.
    @Test func aNarrowRefreshNarrowsOneTokenAlone() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let narrow = await scene.send(.refresh("&client_id=mobile&scope=read"))
            let next = try #require(narrow.string("refresh_token"))
            #expect(await server.refresh(next, more: "&client_id=mobile").string("scope") == EndpointsFixture.scope)
            // And one that was refused has spent nothing.
            let refused = await server.refresh(next, more: "&client_id=mobile&scope=all")
            #expect(refused.string("error") == "invalid_scope")
            #expect(await server.refresh(next, more: "&client_id=mobile").status == 200)
        }
    }
}
