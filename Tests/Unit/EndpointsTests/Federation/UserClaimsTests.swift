import Cryptography
import HTTP
import JOSE
import JSON
import Testing

@testable import Endpoints

/// What an admin says of a user, for every reader of access tokens.
@Suite struct UserClaimsTests {
    private func claims(_ token: String) throws -> [String: JSONValue] {
        try #require(try JWT.parse(token).unverifiedClaims)
    }

    @Test func claims_areInEveryTokenFromTheNextRefreshOn_andInIntrospection() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(try claims(tokens.access)["role"] == nil)
            let path = "/admin/v1/users/username:anna"
            let answer = await server.admin(
                .patch, path, #"{"claims":{"role":"teller","limits":{"eur":500},"beta":true,"name \"x\"":null}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.string("claims", "role") == "teller")
            server.moveClock(to: 3600)
            let renewed = try Tokens(await server.refresh(tokens.refresh))
            let found = try claims(renewed.access)
            #expect(found["role"]?.string == "teller")
            #expect(found["sub"]?.string == tokens.userID)
            #expect(found["name \"x\""] != nil)
            // It is still one that can be read in one way, and is taken.
            #expect(await server.call(.get, "/v1/me", bearer: renewed.access).status == 200)
            let secret = try await server.makeClient(
                #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
            )
            let introspected = await server.form(
                "/oauth/introspect", "token=\(renewed.access)", basic: "api:\(try #require(secret))")
            #expect(introspected.bool("active") == true)
            #expect(introspected.string("role") == "teller")
            #expect(introspected.integer("limits", "eur") == 500)
            #expect(await server.admin(.patch, path, #"{"claims":null}"#).status == 200)
            server.moveClock(to: 7200)
            #expect(try claims(try Tokens(await server.refresh(renewed.refresh)).access)["role"] == nil)
        }
    }

    @Test(arguments: [
        "7", "[]", #""x""#, #"{"sub":"admin"}"#, #"{"exp":9}"#, #"{"scope":"all"}"#, #"{"cnf":{}}"#,
        #"{"active":true}"#,
        #"{"n":12345678901234567890}"#, #"{"n":[{"m":0.1000000000000000000001}]}"#, #"{"n":9007199254740993.0}"#,
        #"{"":1}"#, #"{"a\u0000":1}"#, #"{"a":"\u0000"}"#, #"{"a":"\#(String(repeating: "x", count: 2048))"}"#,
    ])
    func claims_thatCannotBe_areRefused(_ claims: String) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"claims":\#(claims)}"#)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.string("member") == "claims")
        }
    }

    @Test("numbers are in the token as they were given, and so in userinfo")
    func numbers() async throws {
        try await EndpointsFixture.with { server in
            _ = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"scope":"openid account","scope_claims":{"openid":["n"]}}"#)
            let numbers = "[9223372036854775807,-9223372036854775808,0.1,1e+23,5e-324]"
            let answer = await server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"claims":{"n":\#(numbers)}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let tokens = try await server.logIn()
            let payload = try #require(tokens.access.split(separator: ".").dropFirst().first)
            let text = String(decoding: try #require(Base64URL.decode(payload)), as: UTF8.self)
            #expect(text.contains(#""n":\#(numbers)"#), "\(text)")
            let told = await server.call(.get, "/oauth/userinfo", bearer: tokens.access)
            #expect(told.text.contains(#""n":\#(numbers)"#), "\(told.text)")
        }
    }

    @Test func claims_canBeGivenFromTheStart_andStayWhenOthersChange() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/users", #"{"username":"ben","claims":{"role":"a"}}"#)
            #expect(made.string("claims", "role") == "a")
            let changed = await server.admin(.patch, "/admin/v1/users/username:ben", #"{"country":"DE"}"#)
            #expect(changed.string("claims", "role") == "a")
            let emptied = await server.admin(.patch, "/admin/v1/users/username:ben", #"{"claims":{}}"#)
            #expect(!emptied.names.contains("claims"))
        }
    }
}
