import HTTP
import JOSE
import JSON
import Sessions
import Telemetry
import Testing

@testable import Endpoints

/// The metadata: RFC 8414 sections 2 and 3, compared with what the endpoints do.
@Suite struct RFC8414Tests {
    private static let path = "/.well-known/oauth-authorization-server"

    static let demands: [Demand] = [
        Demand(
            "3.2", "JSON", .get(path), 200, fields: [("Content-Type", "application/json")],
            members: ["issuer": "{issuer}"]),
        Demand("3.1", "GET alone", .post(path, ""), 405, "method_not_allowed"),
        Demand("3.2", "for everybody", .get(path, authorization: "Bearer x"), 200),
        Demand(
            "2", "no empty claims", .get(path), 200,
            without: [
                "scopes_supported", "registration_endpoint",
            ]),
    ]

    @Test(arguments: demands) func theClauseHolds(_ demand: Demand) async throws { try await demand.check() }

    /// Every grant that is named is known, and no other.
    @Test func theGrantsAreThoseOfTheTokenEndpoint() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let named = Set(await scene.send(.get(Self.path)).strings("grant_types_supported") ?? [])
            let all = [
                "refresh_token", "client_credentials", "password", "authorization_code", "implicit",
                "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange",
                "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:saml2-bearer",
                "urn:openid:params:grant-type:ciba",
            ]
            #expect(named.isSubset(of: all))
            for grant in all {
                let answer = await scene.send(.token("grant_type=\(grant)", basic: "backend:{secret}"))
                #expect((answer.string("error") != "unsupported_grant_type") == named.contains(grant), "\(grant)")
            }
        }
    }

    /// Every method that is named for an endpoint opens it, and no other method does.
    @Test(arguments: ["token", "revocation", "introspection"])
    func theMethodsAreThoseOfTheEndpoint(_ endpoint: String) async throws {
        try await Assertions.with { world in
            let scene = try await Scene(world.server)
            let metadata = await scene.send(.get(Self.path))
            let named = Set(metadata.strings("\(endpoint)_endpoint_auth_methods_supported") ?? [])
            let path = String((metadata.string("\(endpoint)_endpoint") ?? "").dropFirst(EndpointsFixture.issuer.count))
            let form = [
                "token": "grant_type=refresh_token&refresh_token=x", "revocation": "token=x",
                "introspection": "token=x",
            ]
            let asked = form[endpoint] ?? ""
            let proof = "client_assertion_type=\(Assertions.type)&client_assertion=\(world.assertion(jti: endpoint))"
            let post = try await world.server.makeClient(
                #"{"client_id":"post","token_endpoint_auth_method":"client_secret_post"}"#)
            let ways: [(method: String, sent: Sent)] = [
                ("none", .post(path, asked + "&client_id=mobile")),
                ("client_secret_basic", .post(path, asked, basic: "backend:{secret}")),
                ("client_secret_post", .post(path, asked + "&client_id=post&client_secret=\(post ?? "")")),
                ("private_key_jwt", .post(path, asked + "&" + proof)),
            ]
            #expect(named.isSubset(of: ways.map(\.method)))
            for (method, sent) in ways {
                let opens = await scene.send(sent).string("error") != "invalid_client"
                #expect(opens == named.contains(method), "\(endpoint) \(method)")
            }
        }
    }

    /// Every algorithm that is named for assertions is that of a key that can be registered, and no other is.
    @Test func theAlgorithmsAreThoseOfKeysThatAreTaken() async throws {
        try await EndpointsFixture.with { server in
            let metadata = await server.call(.get, Self.path)
            for endpoint in ["token", "revocation", "introspection"] {
                #expect(
                    metadata.strings("\(endpoint)_endpoint_auth_signing_alg_values_supported")
                        == ["ES256", "EdDSA", "RS256", "PS256"])
            }
            // Section 2: `none` must not be used.
            #expect(!metadata.text.contains(#""none"]"#))
            // What is built into the tokens, the published keys have.
            let algorithms = await server.call(.get, "/oauth/jwks").elements("keys").compactMap { $0.string("alg") }
            #expect(metadata.strings("id_token_signing_alg_values_supported") == Array(Set(algorithms)).sorted())
        }
    }

    /// Section 3.1 and section 5: where an issuer with a path is looked for. Everything else comes below that path, from which a
    /// proxy takes it off or not.
    @Test(arguments: [
        ("https://id.example/auth", "/auth"), ("https://id.example/a/b", "/a/b"), ("https://id.example/auth/", "/auth"),
        ("http://127.0.0.1:8080/auth", "/auth"),
    ])
    func anIssuerWithAPathIsFound(_ issuer: String, _ path: String) async throws {
        try await EndpointsFixture.with { server in
            let node = server.node(issuer: issuer)
            let places = [Self.path, "/.well-known/openid-configuration"]
            for target in places + places.map({ $0 + path }) + places.map({ path + $0 }) {
                let answer = await node(Request(.get, target))
                #expect(answer.status == 200, "\(target)")
                #expect(answer.string("issuer") == issuer)
                let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
                #expect(answer.string("token_endpoint") == base + "/oauth/token")
            }
            #expect(await node(Request(.post, Self.path + path)).status == 405)
            for target in ["/other", path + "/x", "/", path + "x"].map({ Self.path + $0 }) {
                #expect(await node(Request(.get, target)).status == 404, "\(target)")
            }
        }
    }

    @Test(arguments: ["https://id.example", "http://127.0.0.1:8080", "https://id.example/"])
    func anIssuerWithoutAPathHasOnePlace(_ issuer: String) async throws {
        try await EndpointsFixture.with { server in
            let node = server.node(issuer: issuer)
            #expect(await node(Request(.get, Self.path)).string("issuer") == issuer)
            for more in ["/", "/auth", "/id.example"] {
                #expect(await node(Request(.get, Self.path + more)).status == 404, "\(more)")
            }
        }
    }

    /// Section 3.3: a request finds the issuer of the tokens.
    @Test func theIssuerIsThatOfTheTokens() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let told = await scene.send(.post("/oauth/introspect", "token={access}", basic: "backend:{secret}"))
            #expect(told.string("iss") == (await scene.send(.get(Self.path))).string("issuer"))
        }
    }
}

extension EndpointsFixture {
    /// What another node on the same database answers, with another issuer.
    fileprivate func node(issuer: String) -> (Request) async -> Answer {
        let context = ServiceContext(
            store: store, policy: context.policy, rootKeys: rootKeys, signingKeys: context.signingKeys,
            passwords: context.passwords, clock: context.clock, issuer: issuer, audience: issuer)
        let endpoints = Endpoints(
            context: context, metrics: MetricsRegistry(),
            logger: Logger(level: .error, sink: LogSink { _ in }, clock: { 0 }))
        let caller = Caller(remoteAddress: nil, listener: .public)
        return { Answer(await endpoints.reply(to: $0, from: caller).response()) }
    }
}
