import HTTP
import JOSE
import JSON
import Testing

@testable import Endpoints

/// What an admin says of a user, for everybody who reads access tokens.
@Suite struct UserClaimsTests {
    private func claims(_ token: String) throws -> [String: JSONValue] {
        try #require(try JWT.parse(token).unverifiedClaims)
    }

    @Test func claims_areInEveryTokenFromTheNextRefreshOn_andInIntrospection() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await stage.logIn()
            #expect(try claims(tokens.access)["role"] == nil)
            let path = "/admin/v1/users/username:anna"
            let answer = await stage.admin(
                .patch, path, #"{"claims":{"role":"teller","limits":{"eur":500},"beta":true,"name \"x\"":null}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.string("claims", "role") == "teller")
            stage.moveClock(to: 3600)
            let renewed = try Tokens(await stage.refresh(tokens.refresh))
            let found = try claims(renewed.access)
            #expect(found["role"]?.string == "teller")
            #expect(found["sub"]?.string == tokens.userID)
            #expect(found["name \"x\""] != nil)
            // It is still one that can be read in one way, and is taken.
            #expect(await stage.call(.get, "/v1/me", bearer: renewed.access).status == 200)
            let secret = try await stage.makeClient(
                #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
            )
            let introspected = await stage.form(
                "/oauth/introspect", "token=\(renewed.access)", basic: "api:\(try #require(secret))")
            #expect(introspected.bool("active") == true)
            #expect(introspected.string("role") == "teller")
            #expect(introspected.integer("limits", "eur") == 500)
            #expect(await stage.admin(.patch, path, #"{"claims":null}"#).status == 200)
            stage.moveClock(to: 7200)
            #expect(try claims(try Tokens(await stage.refresh(renewed.refresh)).access)["role"] == nil)
        }
    }

    @Test(arguments: [
        "7", "[]", #""x""#, #"{"sub":"admin"}"#, #"{"exp":9}"#, #"{"scope":"all"}"#, #"{"cnf":{}}"#,
        #"{"active":true}"#,
        #"{"":1}"#, #"{"a\u0000":1}"#, #"{"a":"\u0000"}"#, #"{"a":"\#(String(repeating: "x", count: 2048))"}"#,
    ])
    func claims_thatCannotBe_areRefused(_ claims: String) async throws {
        try await EndpointsFixture.with { stage in
            let answer = await stage.admin(.patch, "/admin/v1/users/username:anna", #"{"claims":\#(claims)}"#)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.string("member") == "claims")
        }
    }

    @Test func claims_canBeGivenFromTheStart_andStayWhenOthersChange() async throws {
        try await EndpointsFixture.with { stage in
            let made = await stage.admin(.post, "/admin/v1/users", #"{"username":"ben","claims":{"role":"a"}}"#)
            #expect(made.string("claims", "role") == "a")
            let changed = await stage.admin(.patch, "/admin/v1/users/username:ben", #"{"country":"DE"}"#)
            #expect(changed.string("claims", "role") == "a")
            let emptied = await stage.admin(.patch, "/admin/v1/users/username:ben", #"{"claims":{}}"#)
            #expect(!emptied.names.contains("claims"))
        }
    }
}
