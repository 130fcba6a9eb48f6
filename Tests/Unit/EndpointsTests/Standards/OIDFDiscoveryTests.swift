import FoundationEssentials
import HTTP
import Sessions
import Telemetry
import Testing

@testable import Endpoints

/// The conditions of the OpenID Foundation's suite for metadata, each by its name: `oidcc-discovery-endpoint-verification` and
/// `fapi2-security-profile-final-discovery-end-point-verification` (conformance-suite @12f2a4da).
///
/// What of both, and of the suite elsewhere, does not apply, since what it asks about is not there: JARM, request objects,
/// registration, mutual TLS, attestation of clients, logout by front channel, session management, locales. The modules for
/// logins are in `OIDFBasicTests` and `OIDFSecurityProfileTests`, those for logouts in `OIDFLogoutTests`.
/// `…-client-refresh-token-test` is about clients. Scopes in another order (`…-ensure-other-scope-order-succeeds`) are a row of
/// `RFC6749Tests`; TLS (`EnsureTLS12RequireBCP195Ciphers`, `EnsureTLS13OrLater`) is tested where the sockets are.
@Suite struct OIDFDiscoveryTests {
    /// Names that IANA has registered, and those of OpenID Connect Discovery.
    private static let registered: Set<String> =
        ([
            "issuer", "token_endpoint", "revocation_endpoint", "introspection_endpoint", "jwks_uri",
            "grant_types_supported", "scopes_supported", "response_types_supported",
            "token_endpoint_auth_methods_supported", "token_endpoint_auth_signing_alg_values_supported",
            "revocation_endpoint_auth_methods_supported",
            "revocation_endpoint_auth_signing_alg_values_supported",
            "introspection_endpoint_auth_methods_supported",
            "introspection_endpoint_auth_signing_alg_values_supported",
            "subject_types_supported", "id_token_signing_alg_values_supported",
            "introspection_signing_alg_values_supported", "dpop_signing_alg_values_supported",
            "acr_values_supported", "authorization_endpoint", "pushed_authorization_request_endpoint",
            "device_authorization_endpoint", "backchannel_authentication_endpoint",
            "backchannel_token_delivery_modes_supported",
            "userinfo_endpoint",
            "end_session_endpoint", "response_modes_supported", "code_challenge_methods_supported",
            "prompt_values_supported", "claims_supported",
        ] as Set<String>).union(flags)
    private static let endpoints = [
        "token_endpoint", "revocation_endpoint", "introspection_endpoint", "jwks_uri", "authorization_endpoint",
        "pushed_authorization_request_endpoint", "device_authorization_endpoint", "backchannel_authentication_endpoint",
        "userinfo_endpoint", "end_session_endpoint",
    ]
    private static let flags: Set<String> = [
        "authorization_response_iss_parameter_supported", "request_parameter_supported",
        "backchannel_logout_supported", "backchannel_logout_session_supported", "request_uri_parameter_supported",
        "claims_parameter_supported", "backchannel_user_code_parameter_supported",
    ]

    @Test(arguments: ["oauth-authorization-server", "openid-configuration"])
    func theDocumentIsSound(_ name: String) async throws {
        try await EndpointsFixture.with { server in
            let url = EndpointsFixture.issuer + "/.well-known/" + name
            let answer = await server.call(.get, String(url.dropFirst(EndpointsFixture.issuer.count)))
            #expect(answer.status == 200, "EnsureDiscoveryEndpointResponseStatusCodeIs200")
            #expect(
                answer.field("Content-Type") == "application/json",
                "CheckDiscoveryEndpointReturnedJsonContentType")
            let issuer = try #require(answer.string("issuer"))
            #expect(
                issuer + "/.well-known/" + name == url,
                "CheckDiscEndpointDiscoveryUrl, CheckDiscEndpointIssuer, CheckOauthDiscEndpointDiscoveryUrl, CheckOauthDiscEndpointIssuer"
            )
            let parts = try #require(URL(string: issuer), "CheckDiscEndpointIssuerIsValidUrl")
            #expect(
                parts.scheme == "https" && parts.query == nil && parts.fragment == nil && parts.user == nil)
            for endpoint in Self.endpoints {
                #expect(
                    answer.string(endpoint)?.hasPrefix("https://") == true,
                    "CheckDiscEndpointTokenEndpoint, CheckJwksUri, CheckDiscEndpointAllEndpointsAreHttps: \(endpoint)"
                )
            }
            #expect(
                answer.names.isSubset(of: Self.registered),
                "CheckForUnexpectedParametersInServerMetadata: \(answer.text)")
            for list in answer.names.subtracting(Self.endpoints + ["issuer"]).subtracting(Self.flags) {
                #expect(answer.strings(list) != nil, "ValidateServerMetadataAgainstSchema: \(list)")
            }
            #expect(
                answer.strings("subject_types_supported") == ["public"],
                "CheckDiscEndpointSubjectTypesSupported")
        }
    }

    @Test func whatFAPIDemandsIsOffered() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.call(.get, "/.well-known/oauth-authorization-server")
            func algorithms(_ name: String) -> Set<String> { Set(answer.strings(name) ?? []) }
            let allowed: Set<String> = ["PS256", "ES256", "EdDSA"]
            #expect(
                answer.strings("grant_types_supported")?.contains("refresh_token") == true,
                "EnsureServerConfigurationSupportsRefreshToken")
            #expect(
                answer.strings("token_endpoint_auth_methods_supported")?.contains("private_key_jwt")
                    == true,
                "EnsureServerConfigurationSupportsPrivateKeyJwt")
            #expect(
                algorithms("dpop_signing_alg_values_supported").isSubset(of: allowed)
                    && !algorithms("dpop_signing_alg_values_supported").isEmpty,
                "FAPI2CheckDpopSigningAlgValuesSupported")
            #expect(
                !algorithms("id_token_signing_alg_values_supported").isDisjoint(with: allowed),
                "FAPI2CheckDiscEndpointIdTokenSigningAlgValuesSupported")
            #expect(
                !algorithms("token_endpoint_auth_signing_alg_values_supported").isDisjoint(with: allowed),
                "FAPI2CheckDiscEndpointTokenEndpointAuthSigningAlgValuesSupported")
        }
    }

    /// CheckDiscEndpointScopesSupportedSyntax: those that an operator names, as RFC 6749 section 3.3 writes them; none, no member.
    @Test(
        arguments: [("openid read write", ["openid", "read", "write"]), ("", nil)]
            as [(String, [String]?)])
    func scopesHaveTheirSyntax(_ named: String, _ told: [String]?) async throws {
        try await EndpointsFixture.with { server in
            let endpoints = Endpoints(
                context: server.context, metrics: MetricsRegistry(),
                logger: Logger(level: .error, sink: LogSink { _ in }, clock: { 0 }),
                scopes: try #require(Scope(named)))
            let request = Request(.get, "/.well-known/oauth-authorization-server")
            let caller = Caller(remoteAddress: "192.0.2.1", listener: .public)
            let answer = Answer(await endpoints.reply(to: request, from: caller).response())
            #expect(answer.strings("scopes_supported") == told)
        }
    }
}
