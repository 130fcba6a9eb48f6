import HTTP
import Testing

@testable import Endpoints

@Suite struct RoutingTests {
    /// A path that the route's pattern matches.
    private func path(_ route: Route) -> String {
        let segments = route.pattern.split(separator: "/").map { $0.hasPrefix("{") || $0 == "*" ? "x" : String($0) }
        return "/" + segments.joined(separator: "/")
    }

    @Test func theListenersDoNotKnowEachOthersRoutes() async throws {
        try await EndpointsFixture.with { server in
            for route in Route.all {
                let known = Problem(.notFound, code: "not_found", detail: "There is nothing at this path.").response
                    .body
                let others: [Caller.Listener] =
                    switch route.listeners {
                    case .public: [.admin, .adminSocket]
                    case .admin: [.public]
                    case .both: []
                    }
                for listener in others {
                    let answer = await server.send(Request(route.method, path(route)), on: listener)
                    #expect(answer.status == 404, "\(route.name)")
                    #expect(answer.response.body == known)
                }
            }
        }
    }

    @Test func everyAdminCallNeedsAKey() async throws {
        try await EndpointsFixture.with { server in
            let adminRoutes = Route.all.filter { $0.pattern.hasPrefix("/admin/") }
            #expect(adminRoutes.count == 71)
            for route in adminRoutes {
                switch route.handler {
                case .admin, .streaming: break
                default:
                    Issue.record("\(route.name) is open")
                    continue
                }
                let missing = await server.send(Request(route.method, path(route)), on: .admin)
                #expect(missing.status == 401)
                #expect(missing.string("code") == "unauthenticated")
                for value in ["Bearer wrong", "Bearer \(server.adminKey)x", "Basic YTpi"] {
                    let wrong = await server.send(
                        Request(route.method, path(route), fields: ["Authorization": value]), on: .admin)
                    #expect(wrong.status == 401, "\(route.name)")
                }
                let twice: Fields = [
                    "Authorization": "Bearer \(server.adminKey)", "Authorization": "Bearer \(server.adminKey)",
                ]
                let repeated = await server.send(Request(route.method, path(route), fields: twice), on: .admin)
                #expect(repeated.status == 400)
            }
        }
    }

    @Test func theAdminSocketNeedsNoKey() async throws {
        try await EndpointsFixture.with { server in
            #expect(await server.send(Request(.get, "/admin/v1/users"), on: .adminSocket).status == 200)
            #expect(await server.send(Request(.post, "/admin/v1/revoke-all"), on: .adminSocket).status == 204)
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(events.last?.string("event") == "all_sessions_revoked")
            #expect(events.last?.string("actor") == "admin:local")
        }
    }

    @Test func anUnknownPathIs404() async throws {
        try await EndpointsFixture.with { server in
            for path in [
                "/v1", "/v1/login/", "/v1//login", "/V1/login", "/v1/%6Cogin", "/v1/me/devices/",
                "/v1/me%2Fdevices",
                "/v1/me/devices/a/b", "/v1/me/devices/%zz", "/{}", "/v1/me/devices/{}/{}", "/oauth/token/x", "/metrics",
                "/v1/verifyx",
            ] {
                #expect(await server.send(Request(.get, path)).status == 404, "\(path)")
            }
        }
    }

    @Test func aWrongMethodIs405AndSaysWhichAreRight() async throws {
        try await EndpointsFixture.with { server in
            let cases: [(Method, String, String)] = [
                (.get, "/v1/login", "OPTIONS, POST"), (.get, "/oauth/token", "OPTIONS, POST"),
                (.post, "/v1/me", "DELETE, GET, HEAD, OPTIONS, PATCH"), (.trace, "/healthz", "GET, HEAD, OPTIONS"),
                (.head, "/v1/login", "OPTIONS, POST"), (.get, "/v1/me/devices/x", "DELETE, OPTIONS, PATCH"),
                (.connect, "/oauth/jwks", "GET, HEAD, OPTIONS"),
            ]
            for (method, path, allow) in cases {
                let answer = await server.send(Request(method, path))
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.field("Allow") == allow)
                let options = await server.send(Request(.options, path))
                #expect(options.status == 204)
                #expect(options.field("Allow") == allow)
            }
            #expect(await server.send(Request(Method(rawValue: "BREW"), "/healthz")).status == 501)
            #expect(await server.send(Request(Method(rawValue: "get"), "/healthz")).status == 501)
            let asterisk = await server.send(Request(method: .options, target: .asterisk))
            #expect(asterisk.status == 204)
            #expect(asterisk.field("Allow") == "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
        }
    }

    @Test func headIsAnsweredAsGet() async throws {
        try await EndpointsFixture.with { server in
            for path in ["/healthz", "/oauth/jwks", "/.well-known/oauth-authorization-server"] {
                let get = await server.send(Request(.get, path, fields: ["X-Request-Id": "1"]))
                let head = await server.send(Request(.head, path, fields: ["X-Request-Id": "1"]))
                #expect(get.response == head.response)
            }
        }
    }

    @Test func aRequestIDIsKeptIfItIsOneAndMadeOtherwise() async throws {
        try await EndpointsFixture.with { server in
            let longest = String(repeating: "r", count: 128)
            for id in ["abc-1", "~!", longest] {
                let answer = await server.send(Request(.get, "/healthz", fields: ["X-Request-Id": id]))
                #expect(answer.field("X-Request-Id") == id)
                let missing = await server.send(Request(.get, "/nothing", fields: ["X-Request-Id": id]))
                #expect(missing.field("X-Request-Id") == id)
            }
            let impossible: [Fields] = [
                [:], ["X-Request-Id": ""], ["X-Request-Id": "a b"], ["X-Request-Id": "ä"],
                ["X-Request-Id": longest + "r"], ["X-Request-Id": "a", "X-Request-Id": "b"],
            ]
            var made: Set<String> = []
            for fields in impossible {
                let id = await server.send(Request(.get, "/healthz", fields: fields)).field("X-Request-Id") ?? ""
                #expect(id.utf8.count == 16)
                made.insert(id)
            }
            #expect(made.count == impossible.count)
        }
    }
}
