import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import JSON
import Testing

@testable import Endpoints

/// Signed introspection: RFC 9701 sections 4, 5 and 7.
@Suite struct RFC9701Tests {
    private static let type: StaticString = "application/token-introspection+jwt"

    private static func ask(_ form: String, accept: String?, basic: String? = "backend:{secret}") -> Sent {
        var sent = Sent.post("/oauth/introspect", form, basic: basic)
        if let accept { sent.fields = [("Accept", accept)] }
        return sent
    }

    /// Section 4: a request for a JWT gets one, and every other one gets JSON.
    @Test(
        arguments: [
            (nil, false), ("*/*", false), ("application/*", false), ("application/json", false),
            ("application/jwt", false),
            ("application/token-introspection+jwt", true), ("Application/Token-Introspection+JWT", true),
            ("text/html, application/token-introspection+jwt;q=0.5", true),
            ("application/token-introspection+jwt;q=0", false), ("application/token-introspection+jwt; q=0.000", false),
            // RFC 9110 section 12.5.1: what is more welcome, by the range that fits best.
            ("application/json, application/token-introspection+jwt;q=0.1", false),
            ("application/token-introspection+jwt ; Q=0.899, application/json;q=0.9", false),
            ("application/token-introspection+jwt;q=0.5, */*;q=0.8", false),
            ("application/token-introspection+jwt;q=0.5, application/*;q=0.8", false),
            ("application/token-introspection+jwt;q=0.5, application/json;q=0.4, */*", true),
            ("application/token-introspection+jwt;q=0.5, application/*;q=0.4, */*;q=0.8", true),
            ("application/token-introspection+jwt;q=0.9, application/json;q=0.89", true),
            ("application/json, application/token-introspection+jwt", true),
            ("application/json;q=0, application/token-introspection+jwt;q=0.001", true),
            // A weight that is none: as if it had not been said.
            ("application/token-introspection+jwt;q=2", false), ("application/token-introspection+jwt;q=1.1", false),
            ("application/token-introspection+jwt;q=0.0001", false), ("application/token-introspection+jwt;q=", false),
            ("application/token-introspection+jwt;q=-1", false), ("application/token-introspection+jwt;q=.5", false),
            ("application/json;q=x, application/token-introspection+jwt;q=0.1", true), (",;,", false), ("", false),
        ] as [(String?, Bool)])
    func theAcceptFieldDecides(_ accept: String?, _ isSigned: Bool) async throws {
        try await EndpointsFixture.with { server in
            let answer = try await Scene(server).send(Self.ask("token={access}", accept: accept))
            #expect(answer.status == 200)
            #expect(answer.field("Content-Type") == (isSigned ? "\(Self.type)" : "application/json"))
            #expect(answer.field("Cache-Control") == "no-store")
        }
    }

    /// Section 5: the claims, and inside just what the JSON would have.
    @Test(arguments: ["access", "own", "refresh", "nothing"]) func theJWTSaysWhatTheJSONSays(_ name: String)
        async throws
    {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let form = "token={\(name)}&token_type_hint=\(name == "refresh" ? "refresh_token" : "x")"
            let plain = await scene.send(Self.ask(form, accept: nil))
            let signed = await scene.send(Self.ask(form, accept: "\(Self.type)")).text
            let (header, claims) = try tokenParts(signed)
            #expect(Set(header.keys) == ["typ", "alg", "kid"])
            #expect(header["typ"]?.string == "token-introspection+jwt")
            #expect(claims["iss"]?.string == EndpointsFixture.issuer)
            #expect(claims["aud"]?.string == "backend")
            if case .integer(let second)? = claims["iat"] { #expect(second == EndpointsFixture.start) }
            // Neither sub nor exp, so that no reader takes it for an access token.
            #expect(Set(claims.keys) == ["iss", "aud", "iat", "token_introspection"])
            guard case .object(let inner)? = claims["token_introspection"] else {
                Issue.record("no object")
                return
            }
            #expect(Set(inner.keys) == plain.names)
            #expect(try Self.payload(signed).contains("\"token_introspection\":\(plain.text)}"))
            #expect(plain.bool("active") == (name != "nothing"))
            if name == "nothing" { #expect(inner.count == 1) }
        }
    }

    private static func payload(_ token: String) throws -> String {
        let segment = try #require(token.split(separator: ".").dropFirst().first)
        return String(decoding: try #require(Base64URL.decode(segment)), as: UTF8.self)
    }

    /// Members that an admin has given the user stand in both.
    @Test func ownClaimsAreInTheJWT() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let change = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"claims":{"tier":"gold"}}"#)
            #expect(change.status == 200, "\(change.text)")
            let answer = await scene.send(Self.ask("token={access}", accept: "\(Self.type)"))
            guard case .object(let inner)? = try tokenParts(answer.text).claims["token_introspection"] else {
                Issue.record("no object")
                return
            }
            #expect(inner["tier"]?.string == "gold")
        }
    }

    /// Section 5: signed by a key of the set, with an algorithm that section 7 lists.
    @Test func theSignatureIsOneOfThePublishedKeys() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let token = await scene.send(Self.ask("token={access}", accept: "\(Self.type)")).text
            let keys = try JSONDecoder().decode(
                JWKSet.self, from: Data(await scene.send(.get("/oauth/jwks")).text.utf8))
            let parsed = try JWT.parse(token)
            _ = try parsed.verify(
                using: { keys.verificationKey(kid: $0) }, type: .type("token-introspection+jwt"))
            let metadata = await scene.send(.get("/.well-known/oauth-authorization-server"))
            let named = metadata.strings("introspection_signing_alg_values_supported")
            let algorithm = try #require(try tokenParts(token).header["alg"]?.string)
            #expect(named == [algorithm])
        }
    }

    /// Section 8.1: an introspection is nothing to log in with.
    @Test func itIsNoAccessToken() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let token = await scene.send(Self.ask("token={access}", accept: "\(Self.type)")).text
            for target in ["/v1/me", "/v1/verify"] {
                #expect(await server.call(.get, target, bearer: token).status == 401)
            }
            #expect(await server.refresh(token).status == 400)
            #expect(await scene.send(Self.ask("token=\(token)", accept: nil)).bool("active") == false)
        }
    }

    /// Section 5: a caller without a proof gets an error as ever, and no JWT.
    @Test func errorsStayJSON() async throws {
        let json: [(name: StaticString, value: String?)] = [("Content-Type", "application/json")]
        for demand in [
            Demand(
                "4", "nobody asks", Self.ask("token={access}", accept: "\(Self.type)", basic: nil), 401,
                "invalid_client", fields: json),
            Demand("4", "no token", Self.ask("x=1", accept: "\(Self.type)"), 400, "invalid_request", fields: json),
        ] { try await demand.check() }
    }
}
