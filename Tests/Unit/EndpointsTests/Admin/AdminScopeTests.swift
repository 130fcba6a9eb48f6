import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

@Suite struct AdminScopeTests {
    /// What people at a help desk may do beside looking.
    private static let support: Set = [
        "POST /admin/v1/users/{user}/disable", "POST /admin/v1/users/{user}/enable",
        "POST /admin/v1/users/{user}/revoke", "POST /admin/v1/users/{user}/unlock",
        "DELETE /admin/v1/sessions/{session_id}", "DELETE /admin/v1/logins/{login_id}",
        "POST /admin/v1/event-streams/{client_id}/verify", "POST /admin/v1/deliveries/retry",
        "POST /admin/v1/webhooks/{name}/test",
    ]

    /// Every call of the admin interface with the least scope that opens it.
    private static let calls: [(route: Route, scope: AdminKey.Scope)] = Route.all.filter {
        $0.pattern.hasPrefix("/admin/")
    }.map { route in
        if route.pattern == "/admin/v1/revocations" { return (route, .feed) }
        return (route, route.method == .get ? .read : support.contains(route.name) ? .support : .owner)
    }

    private static func target(_ route: Route) -> String {
        route.pattern.split(separator: "/").map { $0.hasPrefix("{") ? "/username:nobody" : "/\($0)" }.joined()
    }

    private func send(_ route: Route, _ key: String, _ stage: EndpointsFixture, on listener: Caller.Listener = .admin)
        async
        -> Answer
    {
        await stage.send(
            Request(route.method, Self.target(route), fields: ["Authorization": "Bearer \(key)"]), on: listener)
    }

    @Test func everyCallTakesTheScopeThatItNeedsAndNoLess() async throws {
        #expect(Self.calls.filter { $0.scope == .support }.count == Self.support.count)
        try await EndpointsFixture.with { stage in
            let administration = Administration(stage.context)
            for scope in AdminKey.Scope.allCases {
                let secret = try await administration.createAdminKey(name: "tried", scope: scope, by: .system).1
                for (route, needed) in Self.calls {
                    let answer = await send(route, secret, stage)
                    if scope >= needed {
                        #expect(answer.status != 401, "\(route.name) with \(scope)")
                        #expect(answer.string("code") != "insufficient_scope", "\(route.name) with \(scope)")
                    } else {
                        #expect(answer.status == 403, "\(route.name) with \(scope)")
                        #expect(answer.string("code") == "insufficient_scope")
                    }
                }
            }
        }
    }

    @Test func noCallOfOneListenerIsOnTheOther() async throws {
        try await EndpointsFixture.with { stage in
            for route in Route.all where route.listeners != .both && !route.pattern.hasSuffix("*") {
                let answer = await send(route, stage.adminKey, stage, on: route.listeners == .admin ? .public : .admin)
                #expect(answer.status == 404, "\(route.name)")
                #expect(answer.string("code") == "not_found", "\(route.name)")
            }
        }
    }

    @Test func aKeyOpensNothingFromItsEndOn() async throws {
        try await EndpointsFixture.with { stage in
            let made = await stage.admin(
                .post, "/admin/v1/admin-keys", #"{"name":"week","scope":"support","expires_in":604800}"#)
            #expect(made.status == 201)
            #expect(made.string("scope") == "support")
            #expect(made.integer("expires_at") == EndpointsFixture.start + 604_800)
            let key = try #require(made.string("admin_key"))
            let list = try #require(Route.all.first { $0.name == "GET /admin/v1/users" })
            stage.moveClock(to: 604_799)
            let before = await send(list, key, stage)
            #expect(before.status == 200)
            stage.moveClock(to: 604_800)
            let after = await send(list, key, stage)
            #expect(after.status == 401)
            let refused = await stage.admin(.post, "/admin/v1/admin-keys", #"{"name":"x","expires_in":59}"#)
            #expect(refused.string("member") == "expires_in")
            let unknown = await stage.admin(.post, "/admin/v1/admin-keys", #"{"name":"x","scope":"admin"}"#)
            #expect(unknown.string("member") == "scope")
        }
    }

    @Test func theLastUseIsKnownToTheHour() async throws {
        try await EndpointsFixture.with { stage in
            func lastUse() async throws -> Int64? {
                try await stage.store.adminKeys().first?.lastUsedAt?.secondsSinceEpoch
            }
            let unused = try await lastUse()
            #expect(unused == nil)
            for (second, expected) in [(0, 0), (3599, 0), (3600, 3600), (5000, 3600), (90_000, 90_000)]
                as [(Int64, Int64)]
            {
                stage.moveClock(to: second)
                let answer = await stage.admin(.get, "/admin/v1/admin-keys")
                #expect(answer.status == 200)
                let used = try await lastUse()
                #expect(used == EndpointsFixture.start + expected)
            }
        }
    }
}
