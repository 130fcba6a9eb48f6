import HTTP
import JOSE
import OAuth
import Sessions
import Testing

@testable import Endpoints

@Suite struct DiscoveryTests {
    @Test(arguments: ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"])
    func metadataAgreesWithTheRoutes(_ path: String) async throws {
        try await EndpointsFixture.with { server in
            let metadata = await server.call(.get, path)
            #expect(metadata.status == 200)
            #expect(metadata.field("Cache-Control") == "public, max-age=300")
            #expect(metadata.string("issuer") == EndpointsFixture.issuer)
            let posts = [
                "token_endpoint", "revocation_endpoint", "introspection_endpoint",
                "pushed_authorization_request_endpoint", "device_authorization_endpoint",
                "backchannel_authentication_endpoint",
            ]
            let gets = ["jwks_uri", "authorization_endpoint", "userinfo_endpoint", "end_session_endpoint"]
            for (member, method) in posts.map({ ($0, Method.post) }) + gets.map({ ($0, .get) }) {
                let url = try #require(metadata.string(member))
                #expect(url.hasPrefix(EndpointsFixture.issuer + "/"))
                let path = String(url.dropFirst(EndpointsFixture.issuer.count))
                #expect(Route.all.contains { $0.method == method && $0.pattern == path && $0.listeners == .public })
            }
            #expect(
                metadata.strings("grant_types_supported") == [
                    "authorization_code", "refresh_token", "client_credentials", "password",
                    "urn:ietf:params:oauth:grant-type:jwt-bearer",
                    "urn:ietf:params:oauth:grant-type:device_code", "urn:openid:params:grant-type:ciba",
                    "urn:ietf:params:oauth:grant-type:token-exchange",
                ])
            #expect(metadata.strings("response_types_supported") == ["code"])
            #expect(metadata.strings("code_challenge_methods_supported") == ["S256"])
            #expect(metadata.bool("authorization_response_iss_parameter_supported") == true)
            #expect(metadata.bool("request_uri_parameter_supported") == false)
            #expect(
                metadata.strings("token_endpoint_auth_methods_supported")
                    == Client.AuthenticationMethod.allCases.map(\.rawValue))
            #expect(
                metadata.strings("introspection_endpoint_auth_methods_supported")
                    == ["client_secret_basic", "client_secret_post", "private_key_jwt"])
            #expect(metadata.strings("id_token_signing_alg_values_supported") == ["ES256", "RS256"])
        }
    }

    @Test func thePublishedKeysVerifyTheTokens() async throws {
        try await EndpointsFixture.with { server in
            let before = try await server.logIn(device: "a").access
            let first = await server.call(.get, "/oauth/jwks")
            #expect(first.field("Cache-Control") == "public, max-age=300")
            #expect(first.elements("keys").count == 2)
            let curves = first.elements("keys").filter { $0.string("kty") == "EC" }
            #expect(curves.map(\.names) == [["alg", "crv", "kid", "kty", "use", "x", "y"]])
            let rsa = first.elements("keys").filter { $0.string("kty") == "RSA" }
            #expect(rsa.map(\.names) == [["alg", "e", "kid", "kty", "n", "use"]])

            server.moveClock(to: 10)
            let rotated = await server.admin(.post, "/admin/v1/keys/rotate", #"{"immediately":true}"#)
            #expect(rotated.status == 201)
            let after = try await server.logIn(device: "b").access
            let second = await server.call(.get, "/oauth/jwks")
            let published = second.elements("keys").compactMap { $0.string("kid") }
            #expect(published.count == 4)
            let keys = await server.admin(.get, "/admin/v1/keys").items
            #expect(Set(keys.compactMap { $0.string("kid") }) == Set(published))
            #expect(
                keys.allSatisfy {
                    $0.names.isSubset(of: ["kid", "alg", "state", "created_at", "active_from", "retired_at"])
                })
            #expect(try JWT.parse(after).header.kid == rotated.string("kid"))
            for token in [before, after] {
                #expect(published.contains(try JWT.parse(token).header.kid ?? ""))
                #expect(await server.call(.get, "/v1/verify", bearer: token).status == 200)
            }
        }
    }

    /// Methods of the proxied request that this server does not have itself: of WebDAV, CalDAV, caches, and made up.
    private static let otherMethods: [(Method, String)] = [
        "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "MKCALENDAR", "SEARCH", "ACL",
        "QUERY", "PURGE", "BREW", "get", "UPDATEREDIRECTREF",
    ].flatMap { name in
        ["/v1/verify", "/v1/verify/calendars/anna"].map { (Method(rawValue: name), $0) }
    }

    @Test("a method that this server does not have is refused at each path but those of forward authentication")
    func unknownMethodsElsewhere() async throws {
        try await EndpointsFixture.with { server in
            for path in ["/v1/me", "/oauth/token", "/v1/verifyx", "/healthz", "/v1/me/devices/x"] {
                let answer = await server.send(Request(Method(rawValue: "REPORT"), path))
                #expect(answer.status == 501, "\(path)")
            }
            let admin = await server.send(Request(Method(rawValue: "REPORT"), "/v1/verify"), on: .admin)
            #expect(admin.status == 501)
        }
    }

    @Test func verifyNamesTheUserWhateverTheProxyAppends() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            for (method, path) in [
                (.get, "/v1/verify"), (.head, "/v1/verify"), (.get, "/v1/verify/"),
                // Every 2xx means "let pass", whatever it was asked by.
                (.options, "/v1/verify"), (.post, "/v1/verify"),
                (.delete, "/v1/verify?audience=\(EndpointsFixture.audience)"),
                (.connect, "/v1/verify"), (.trace, "/v1/verify"),
                (.post, "/v1/verify/api/orders?x=1"),
                (.delete, "/v1/verify/a//b"), (.options, "/v1/verify/%20"),
            ] + Self.otherMethods as [(Method, String)] {
                let answer = await server.call(method, path, bearer: tokens.access)
                #expect(answer.status == 200, "\(method) \(path)")
                #expect(answer.field("X-User-Id") == tokens.userID)
                #expect(answer.field("X-Session-Id") == tokens.sessionID)
                #expect(answer.field("X-Device-Id") == "phone-1")
                #expect(answer.field("X-Client-Id") == "mobile")
                #expect(answer.field("X-Scope") == EndpointsFixture.scope)
                #expect(answer.field("Cache-Control") == "no-store")
                let none = await server.call(method, path)
                #expect(none.status == 401)
                #expect(none.field("X-User-Id") == nil)
                #expect(none.field("WWW-Authenticate") == #"Bearer realm="sojourn""#)
            }
        }
    }
}
