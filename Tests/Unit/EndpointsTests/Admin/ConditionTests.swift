import HTTP
import Testing

@testable import Endpoints

/// Conditional requests (RFC 9110 section 13), where the tag of what is there has to be known; and HEAD beside GET.
@Suite struct ConditionTests {
    @Test func aTagThatStillHoldsIsAnswered304() async throws {
        try await EndpointsFixture.with { server in
            for path in [
                "/oauth/jwks", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
                "/.well-known/apple-app-site-association", "/.well-known/assetlinks.json",
            ] {
                let tag = try #require(await server.send(Request(.get, path)).field("ETag"))
                #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count == 34)
                for value in [tag, "W/\(tag)", "\"x\", \(tag)", "\"a,b\" ,W/\(tag),", "W/\"x\",\(tag)"] {
                    for method in [Method.get, .head] {
                        let answer = await server.send(Request(method, path, fields: ["If-None-Match": value]))
                        #expect(answer.status == 304, "\(value)")
                        #expect(answer.field("ETag") == tag)
                        #expect(answer.field("Cache-Control") == "public, max-age=300")
                        #expect(answer.field("Content-Type") == nil)
                        #expect(answer.response.body.isEmpty)
                    }
                }
                let lines: Fields = ["If-None-Match": "\"x\"", "If-None-Match": tag]
                #expect(await server.send(Request(.get, path, fields: lines)).status == 304)
                for value in ["x\(tag)", "\(tag.dropLast())", "\"x\(tag.dropFirst())", "w/\(tag)", "'\(tag)"] {
                    let answer = await server.send(Request(.get, path, fields: ["If-None-Match": value]))
                    #expect(answer.status == 200, "\(value)")
                }
            }
        }
    }

    @Test func aTagChangesWithWhatItNames() async throws {
        try await EndpointsFixture.with { server in
            let before = await server.send(Request(.get, "/oauth/jwks")).field("ETag")
            #expect(await server.send(Request(.get, "/oauth/jwks")).field("ETag") == before)
            #expect(await server.admin(.post, "/admin/v1/keys/rotate", "{}").status == 201)
            let after = await server.send(Request(.get, "/oauth/jwks")).field("ETag")
            #expect(after != nil && after != before)
        }
    }

    @Test func ifMatchComparesStrongly() async throws {
        try await EndpointsFixture.with { server in
            let tag = try #require(await server.send(Request(.get, "/oauth/jwks")).field("ETag"))
            for (value, status) in [(tag, 200), ("\"x\", \(tag)", 200), ("*", 200), ("W/\(tag)", 412), ("\"x\"", 412)] {
                let answer = await server.send(Request(.get, "/oauth/jwks", fields: ["If-Match": value]))
                #expect(answer.status == status, "\(value)")
            }
            let both: Fields = ["If-Match": tag, "If-None-Match": tag]
            #expect(await server.send(Request(.get, "/oauth/jwks", fields: both)).status == 304)
        }
    }

    @Test func aChangeIsNotMadeWhenItsConditionDoesNotHold() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let body = #"{"display_name":"Anna"}"#
            for fields: Fields in [["If-Match": "\"x\""], ["If-None-Match": "*"], ["If-Match": "W/\"x\""]] {
                let answer = await server.call(.patch, "/v1/me", body, bearer: tokens.access, fields: fields)
                #expect(answer.status == 412)
                #expect(answer.string("code") == "precondition_failed")
            }
            let unchanged = await server.call(.get, "/v1/me", bearer: tokens.access)
            #expect(unchanged.string("display_name") == nil)
            for fields: Fields in [["If-Match": "*"], ["If-None-Match": "\"x\""], ["If-Unmodified-Since": "x"]] {
                let answer = await server.call(.patch, "/v1/me", body, bearer: tokens.access, fields: fields)
                #expect(answer.status == 200)
            }
            let ended = await server.call(
                .delete, "/v1/me/devices", bearer: tokens.access, fields: ["If-Match": "\"x\""])
            #expect(ended.status == 412)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
        }
    }

    @Test func forwardAuthenticationIgnoresTheConditionsOfTheOriginalRequest() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            for path in ["/v1/verify", "/v1/verify/a/b"] {
                let fields: Fields = ["If-None-Match": "*", "If-Match": "\"x\"", "Content-Encoding": "gzip"]
                #expect(await server.call(.get, path, bearer: tokens.access, fields: fields).status == 200)
            }
        }
    }

    @Test func headHasTheFieldsOfGetAlsoWhenItIsRefused() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            for path in [
                "/healthz", "/readyz", "/oauth/jwks", "/v1/me", "/v1/me/devices", "/v1/verify", "/nothing", "/",
            ] {
                for authorization in ["Bearer \(tokens.access)", "Bearer x"] {
                    let fields: Fields = ["X-Request-Id": "1", "Authorization": authorization]
                    let get = await server.send(Request(.get, path, fields: fields))
                    let head = await server.send(Request(.head, path, fields: fields))
                    #expect(get.response == head.response, "\(path)")
                }
            }
        }
    }

    @Test func whatIsMadeSaysWhereItIs() async throws {
        try await EndpointsFixture.with { server in
            let client = await server.admin(
                .post, "/admin/v1/clients", #"{"client_id":"a/b?c d~","token_endpoint_auth_method":"none"}"#)
            #expect(client.status != 201)
            let other = await server.admin(
                .post, "/admin/v1/clients", #"{"client_id":"a/b?c~","token_endpoint_auth_method":"none"}"#)
            #expect(other.status == 201)
            let location = try #require(other.field("Location"))
            #expect(location == "/admin/v1/clients/a%2Fb%3Fc~")
            #expect(await server.admin(.get, location).string("client_id") == "a/b?c~")
            let key = await server.admin(.post, "/admin/v1/admin-keys", #"{"name":"x"}"#)
            #expect(await server.admin(.delete, try #require(key.field("Location"))).status == 204)
        }
    }
}
