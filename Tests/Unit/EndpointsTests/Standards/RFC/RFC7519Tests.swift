import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import JSON
import Testing

@testable import Endpoints
@testable import Sessions

/// The access token as a JWT: RFC 7519 sections 4.1, 5 and 7, and as an access token: RFC 9068 sections 2 and 4.
@Suite struct RFC7519Tests {
    private func number(_ value: JSONValue?) -> Int64? {
        if case .integer(let number)? = value { number } else { nil }
    }

    @Test func aTokenHasTheClaimsThatTheClausesDemand() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let (header, claims) = try tokenParts(tokens.access)
            // RFC 9068 section 2.1: the type, and an asymmetric algorithm. RFC 7515 section 4.1.4: which key.
            #expect(header["typ"]?.string == "at+jwt")
            #expect(header["alg"]?.string == "ES256")
            #expect(Set(header.keys) == ["typ", "alg", "kid"])
            // RFC 9068 section 2.2: all of them REQUIRED.
            #expect(claims["iss"]?.string == EndpointsFixture.issuer)
            #expect(claims["aud"]?.string == EndpointsFixture.audience)
            #expect(claims["sub"]?.string == tokens.userID)
            #expect(claims["client_id"]?.string == "mobile")
            #expect(claims["jti"]?.string?.utf8.count == 22)
            // RFC 7519 section 4.1.4 and 4.1.6: whole seconds.
            #expect(number(claims["iat"]) == EndpointsFixture.start)
            #expect(number(claims["exp"]) == tokens.answer.integer("expires_at"))
            // RFC 9068 section 2.2.1 and 2.2.3.
            #expect(number(claims["auth_time"]) == EndpointsFixture.start)
            #expect(claims["scope"]?.string == EndpointsFixture.scope)
            if case .array(let methods)? = claims["amr"] { #expect(methods.map(\.string) == ["pwd"]) }
        }
    }

    /// RFC 7519 section 4.1.7: no two tokens share a name, also not two of one second.
    @Test func everyTokenHasANameOfItsOwn() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let again = await server.refresh(tokens.refresh)
            let first = try tokenParts(tokens.access).claims["jti"]?.string
            let second = try tokenParts(try #require(again.string("access_token"))).claims["jti"]?.string
            #expect(first != nil && second != nil && first != second)
        }
    }

    /// RFC 9068 section 2.2: the subject of a token that a client got for itself is the client.
    @Test func aClientsOwnTokenNamesTheClient() async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let (_, claims) = try tokenParts(scene["own"])
            #expect(claims["sub"]?.string == "backend" && claims["client_id"]?.string == "backend")
            // RFC 9068 section 2.2.1: without a login.
            #expect(Set(claims.keys) == ["iss", "aud", "sub", "client_id", "iat", "exp", "jti", "scope", "epoch"])
        }
    }

    /// A token that our own key has signed, and whether it is taken: what each clause demands of a reader.
    struct Row: Sendable, CustomTestStringConvertible {
        let clause: String
        let says: String
        var isTaken = false
        var status = 401
        /// Changes members of the header, as JSON text.
        var header: [String: String?] = [:]
        /// Changes members of the claims, as JSON text.
        var claims: [String: String?] = [:]
        /// Changes both before they are encoded and signed.
        var parts: @Sendable ([String]) -> [String] = { $0 }
        /// Changes the token when it is signed.
        var token: @Sendable (String) -> String = { $0 }

        var testDescription: String { "\(clause): \(says)" }

        static func claim(_ clause: String, _ says: String, _ name: String, _ json: String?, isTaken: Bool = false)
            -> Row
        {
            Row(clause: clause, says: says, isTaken: isTaken, claims: [name: json])
        }

        static func header(_ clause: String, _ says: String, _ name: String, _ json: String?, isTaken: Bool = false)
            -> Row
        {
            Row(clause: clause, says: says, isTaken: isTaken, header: [name: json])
        }

        static func parts(_ clause: String, _ says: String, _ parts: @escaping @Sendable ([String]) -> [String]) -> Row
        {
            Row(clause: clause, says: says, parts: parts)
        }

        static func text(
            _ clause: String, _ says: String, status: Int = 401, _ token: @escaping @Sendable (String) -> String
        ) -> Row { Row(clause: clause, says: says, status: status, token: token) }
    }

    private static let now = EndpointsFixture.start
    static let rows: [Row] = claimRows + headerRows + formRows

    private static let claimRows: [Row] = [
        .claim("4", "unknown claims are ignored", "x", #"{"y":[1]}"#, isTaken: true),
        .claim("4", "a claim stands once", #"sub":"x","sub"#, #""y""#),
        .claim("4", "names are told apart by case", "EXP", "1", isTaken: true),
        .claim("4.1.1", "iss is compared as it stands", "iss", "\"\(EndpointsFixture.issuer.uppercased())\""),
        .claim("4.1.1", "iss is a string", "iss", "1"),
        .claim("4.1.2", "sub is a string", "sub", "1"),
        .claim("4.1.3", "aud is one string", "aud", "\"\(EndpointsFixture.audience)\"", isTaken: true),
        .claim(
            "4.1.3", "aud has us among others", "aud", #"["https://x.example","\#(EndpointsFixture.audience)"]"#,
            isTaken: true),
        .claim("4.1.3", "aud has others alone", "aud", #"["https://x.example","\#(EndpointsFixture.audience)x"]"#),
        .claim("4.1.3", "aud holds what is no string", "aud", #"["\#(EndpointsFixture.audience)",1]"#),
        .claim("4.1.4", "exp is to come", "exp", "\(now + 1)", isTaken: true),
        .claim("4.1.4", "exp is now", "exp", "\(now)"),
        .claim("4.1.4", "exp is a string", "exp", "\"\(now + 60)\""),
        .claim("4.1.4", "exp is true", "exp", "true"),
        .claim("4.1.4", "exp is below zero", "exp", "-1"),
        .claim("2", "a NumericDate may have a fraction: ours has none", "exp", "\(now + 60).5"),
        .claim("2", "a NumericDate may have an exponent", "exp", "\(now + 60)e0", isTaken: true),
        .claim("4.1.5", "nbf has come", "nbf", "\(now)", isTaken: true),
        .claim("4.1.5", "nbf is to come", "nbf", "\(now + 1)"),
        .claim("4.1.5", "nbf is a string", "nbf", "\"\(now)\""),
        .claim("4.1.6", "iat is a string", "iat", "\"\(now)\""),
        .claim("4.1.7", "jti is a number", "jti", "7"),
    ]

    private static let headerRows: [Row] = [
        .header("5.1", "typ is its own", "typ", #""JWT""#),
        .header("5.1", "typ is missing", "typ", nil),
        .header("5", "unknown header parameters are ignored", "x", "1", isTaken: true),
        .header("7.2-5", "a header parameter stands once", #"alg":"ES256","alg"#, #""ES256""#),
        .header("7.2-5", "an extension that must be understood", "crit", #"["x"]"#),
        .header("RFC 7515 4.1.11", "an empty list of them", "crit", "[]"),
        .header("RFC 7515 4.1.1", "alg is missing", "alg", nil),
        .header("RFC 7515 4.1.1", "alg is in lower case", "alg", #""es256""#),
        .header("RFC 7515 4.1.4", "kid is unknown", "kid", #""other""#),
        .header("RFC 7515 4.1.4", "kid is a path", "kid", #""../../dev/null""#),
        .header("RFC 7797", "the payload is not encoded", "b64", "false"),
    ]

    private static let formRows: [Row] = [
        Row(
            clause: "6", says: "an unsecured JWT", header: ["alg": #""none""#],
            token: { $0.split(separator: ".").prefix(2).joined(separator: ".") + "." }),
        .text("7.2-1", "no period") { _ in "abc" },
        .text("7.2-1", "two parts") { $0.split(separator: ".").prefix(2).joined(separator: ".") },
        .text("7.2-1", "no signature") { $0.split(separator: ".").prefix(2).joined(separator: ".") + "." },
        .text("7.2-1", "four parts") { $0 + ".x" },
        .text("7.2-7", "five parts: encrypted, which none of ours is") { $0 + ".x.y" },
        .text("7.2-2", "padding") { $0 + "==" },
        .text("7.2-2", "the alphabet of plain base64") { $0.replacing("-", with: "+").replacing("_", with: "/") + "+" },
        .text("7.2-2", "a character of no alphabet", status: 400) { $0.replacing(".", with: ".*") },
        .text("7.2-2", "bits that nothing stands for") { token in
            // 64 bytes are 86 digits, and the last four bits mean nothing: A and B are the same byte.
            let digits = "AQgw", last = token.last ?? "A"
            return token.dropLast() + (digits.contains(last) ? "B" : "C")
        },
        .parts("7.2-3", "a header that is no JSON") { [String($0[0].dropLast()), $0[1]] },
        .parts("7.2-3", "something after the header") { [$0[0] + "{}", $0[1]] },
        .parts("7.2-4", "a header that is no object") { ["[\($0[0])]", $0[1]] },
        .parts("7.2-10", "claims that are no JSON") { [$0[0], String($0[1].dropLast())] },
        .parts("7.2-10", "claims that are no object") { [$0[0], "[\($0[1])]"] },
        .parts("7.2-10", "no claims") { [$0[0], ""] },
    ]

    /// Sections 4 to 7: at a resource, and in an introspection alike.
    @Test(arguments: rows) func aReaderTakesOrRefuses(_ row: Row) async throws {
        try await EndpointsFixture.with { server in
            let scene = try await Scene(server)
            let active = try #require(server.context.signingKeys.signer(at: server.context.clock.now))
            var header: [String: String] = ["typ": #""at+jwt""#, "alg": #""ES256""#, "kid": "\"\(active.kid)\""]
            for (name, json) in row.header { header[name] = json }
            var claims = [
                "iss": "\"\(EndpointsFixture.issuer)\"", "aud": "\"\(EndpointsFixture.audience)\"",
                "sub": "\"\(scene["user"])\"",
                "client_id": #""mobile""#, "iat": "\(Self.now)", "exp": "\(Self.now + 60)", "jti": #""j""#,
                "sid": "\"\(scene["session"])\"", "device_id": #""phone-1""#,
            ]
            for (name, json) in row.claims { claims[name] = json }
            let texts = [header, claims].map { members in
                "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
            }
            let input = row.parts(texts).map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
            let token = row.token(input + "." + Base64URL.encode(active.key.sign(Array(input.utf8))))
            let answer = await server.call(.get, "/v1/me", bearer: token)
            #expect(answer.status == (row.isTaken ? 200 : row.status), "\(row.testDescription): \(answer.text)")
            if !row.isTaken {
                #expect(answer.string("code") == (row.status == 401 ? "invalid_token" : "invalid_request"))
            }
            let form = "token=\(token.replacing("+", with: "%2B"))"
            let told = await server.form("/oauth/introspect", form, basic: "backend:\(scene["secret"])")
            #expect(told.bool("active") == row.isTaken, "\(row.testDescription): \(told.text)")
        }
    }

    /// Section 4.1.4: on or after `exp` it must not be accepted, to the second.
    @Test func timeDecides() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let end = try #require(tokens.answer.integer("expires_at")) - EndpointsFixture.start
            server.moveClock(to: end - 1)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            server.moveClock(to: end)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 401)
        }
    }
}
