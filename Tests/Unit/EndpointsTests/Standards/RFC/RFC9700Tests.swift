import HTTP
import Testing

/// The best current practice for security: each of its demands that concerns a server without an authorization endpoint.
/// Proofs of possession have tables of their own, and TLS is tested where the sockets are.
@Suite struct RFC9700Tests {
    private static let metadata = "/.well-known/oauth-authorization-server"

    static let demands: [Demand] = [
        Demand(
            "2.1.2", "no implicit grant", .token("grant_type=implicit&client_id=mobile"), 400, "unsupported_grant_type"),
        Demand(
            "2.1.2", "no answer but codes", .get(metadata), 200,
            members: ["response_types_supported": "code", "code_challenge_methods_supported": "S256"]),
        Demand(
            "2.4", "no password grant by default",
            .token("grant_type=password&username=anna&password={password}&client_id=mobile"), 400,
            "unauthorized_client"),
        Demand(
            "2.4", "nor for a confidential client that does not name it",
            .token("grant_type=password&username=anna&password={password}&client_id=web&client_secret={post}"), 400,
            "unauthorized_client"),
        Demand("2.3", "privileges can be narrowed", .refresh("&scope=read"), 200, members: ["scope": "read"]),
        Demand("2.3", "never widened", .refresh("&scope=read+admin"), 400, "invalid_scope"),
        Demand("2.3", "no other audience", .refresh("&resource=https://other.example"), 400, "invalid_target"),
        Demand(
            "2.2.2, 4.14", "a confidential client's refresh token takes its secret",
            .token("grant_type=refresh_token&refresh_token={backend.refresh}"), 400, "invalid_grant"),
        Demand(
            "4.14.2", "a refresh token is bound to its client",
            .token("grant_type=refresh_token&refresh_token={refresh}", basic: "backend:{secret}"), 400,
            "invalid_grant"),
        Demand(
            "2.5", "a confidential client authenticates",
            .token("grant_type=client_credentials&client_id=backend"), 401, "invalid_client"),
        Demand(
            "2.6", "metadata is published", .get(metadata), 200,
            members: ["issuer": "{issuer}", "dpop_signing_alg_values_supported": nil]),
        Demand("4.3.2", "no token in the query", .get("/v1/me?access_token={access}"), 401),
        Demand(
            "4.3.2", "no refresh token in the query",
            Sent(
                method: .get, target: "/oauth/token?grant_type=refresh_token&refresh_token={refresh}", contentType: nil),
            405),
        Demand(
            "4.12", "no answer redirects", .refresh(""), 200,
            fields: [("Location", nil), ("Cache-Control", "no-store")]),
    ]

    @Test(arguments: demands) func theClauseHolds(_ demand: Demand) async throws { try await demand.check() }

    /// Section 2.5: asymmetric methods are recommended, and there are some.
    @Test func asymmetricClientAuthenticationIsOffered() async throws {
        try await EndpointsFixture.with { server in
            let methods = await server.call(.get, Self.metadata).strings("token_endpoint_auth_methods_supported")
            #expect(methods?.contains("private_key_jwt") == true)
        }
    }

    /// RFC 9449 section 5.1: what may sign proofs is told, and none of it is symmetric (RFC 9700 section 2.2).
    @Test func theAlgorithmsOfProofsAreAsymmetric() async throws {
        try await EndpointsFixture.with { server in
            let named = await server.call(.get, Self.metadata).strings("dpop_signing_alg_values_supported") ?? []
            #expect(named.contains("ES256") && named.contains("EdDSA"))
            #expect(!named.contains { $0.hasPrefix("HS") || $0 == "none" })
        }
    }

    /// Section 4.14.2: the refresh token of a public client rotates; when the old one comes again, the session is over, for
    /// the new one too.
    @Test func reuseEndsTheSession() async throws {
        try await EndpointsFixture.with { server in
            let first = try await server.logIn()
            var last = first.refresh
            for time: Int64 in [3600, 7200, 10800] {
                server.moveClock(to: time)
                let next = try #require(await server.refresh(last).string("refresh_token"))
                #expect(next != last)
                last = next
            }
            #expect(await server.refresh(first.refresh).string("reason") == "refresh_token_reused")
            #expect(await server.refresh(last).string("error") == "invalid_grant")
        }
    }
}
