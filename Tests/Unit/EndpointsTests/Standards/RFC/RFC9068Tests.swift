import HTTP
import JOSE
import Testing

@testable import Endpoints
@testable import Sessions

/// Access tokens as JWTs: what of RFC 9068 section 4 a resource server has to refuse is refused, though the key is the true one.
/// What stands in a token is in `RFC7519Tests`.
@Suite struct RFC9068Tests {
    struct Row: Sendable, CustomTestStringConvertible {
        let says: String
        var typ = "at+jwt"
        var claims: [String: String?] = [:]
        let isTaken: Bool

        init(_ says: String, typ: String = "at+jwt", _ claims: [String: String?] = [:], isTaken: Bool = false) {
            (self.says, self.typ, self.claims, self.isTaken) = (says, typ, claims, isTaken)
        }

        var testDescription: String { says }
    }

    static let rows: [Row] = [
        Row("as it was issued", isTaken: true),
        Row("the type with its tree", typ: "application/at+jwt", isTaken: true),
        Row("an array of one audience", ["aud": #"["\#(EndpointsFixture.audience)"]"#], isTaken: true),
        Row("another type", typ: "JWT"),
        Row("the type of an ID token's logout", typ: "logout+jwt"),
        Row("the type of an introspection", typ: "token-introspection+jwt"),
        Row("another issuer", ["iss": #""https://other.example""#]),
        Row("the issuer with a slash", ["iss": #""\#(EndpointsFixture.issuer)/""#]),
        Row("no issuer", ["iss": nil]),
        Row("another audience", ["aud": #""https://other.example""#]),
        Row("no audience", ["aud": nil]),
        Row("an audience that is empty", ["aud": "[]"]),
        Row("an audience that is a number", ["aud": "1"]),
        Row("expired in this second", ["exp": "\(EndpointsFixture.start)"]),
        Row("expired", ["exp": "\(EndpointsFixture.start - 1)"]),
        Row("no expiry", ["exp": nil]),
        Row("no subject", ["sub": nil]),
        Row("no client", ["client_id": nil]),
        Row("no time of issue", ["iat": nil]),
        Row("no name", ["jti": nil]),
    ]

    @Test(arguments: rows) func aResourceServerTakesOrRefuses(_ row: Row) async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            var claims = [
                "iss": "\"\(EndpointsFixture.issuer)\"", "aud": "\"\(EndpointsFixture.audience)\"",
                "sub": "\"\(tokens.userID)\"",
                "client_id": #""mobile""#, "iat": "\(EndpointsFixture.start)", "exp": "\(EndpointsFixture.start + 60)",
                "jti": #""j""#,
                "sid": "\"\(tokens.sessionID)\"", "device_id": #""phone-1""#,
            ]
            for (name, value) in row.claims { claims[name] = value }
            let text = claims.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
            let active = try #require(
                server.context.signingKeys.signer(at: Instant(secondsSinceEpoch: EndpointsFixture.start)))
            let token = try JWTSigner(key: active.key, kid: active.kid, typ: row.typ)
                .sign(encodedClaims: Array("{\(text)}".utf8))
            for target in ["/v1/me", "/v1/verify"] {
                #expect(await server.call(.get, target, bearer: token).status == (row.isTaken ? 200 : 401), "\(target)")
            }
        }
    }
}
