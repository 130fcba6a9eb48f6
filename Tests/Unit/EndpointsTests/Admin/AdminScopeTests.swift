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
        "DELETE /admin/v1/sessions/{session_id}", "DELETE /admin/v1/sessions/{session_id}/pin",
        "DELETE /admin/v1/logins/{login_id}",
        "POST /admin/v1/event-streams/{client_id}/verify", "POST /admin/v1/deliveries/retry",
        "POST /admin/v1/webhooks/{name}/test", "POST /admin/v1/mails/{mail_id}/retry",
    ]

    /// What a sign-up backend may do, and nothing else.
    private static let users: Set = [
        "POST /admin/v1/users", "GET /admin/v1/users/{user}", "PATCH /admin/v1/users/{user}",
        "POST /admin/v1/users/{user}/password-reset", "POST /admin/v1/invitations", "GET /admin/v1/logins/{login_id}",
    ]

    /// Every call of the admin interface with the scopes that open it: a table of all calls and all scopes.
    private static let calls: [(route: Route, scopes: Set<AdminKey.Scope>)] = Route.all.filter {
        $0.pattern.hasPrefix("/admin/")
    }.map { route in
        var scopes: Set<AdminKey.Scope> = [.owner]
        if users.contains(route.name) { scopes.insert(.users) }
        if support.contains(route.name) { scopes.insert(.support) }
        // A preview changes nothing.
        if route.method == .get || route.pattern.hasSuffix("/preview") { scopes.formUnion([.read, .support]) }
        if route.pattern == "/admin/v1/revocations" { scopes.insert(.feed) }
        if route.pattern == "/admin/v1/mail/refusals" { scopes.insert(.mail) }
        return (route, scopes)
    }

    private static func target(_ route: Route) -> String {
        route.pattern.split(separator: "/").map { $0.hasPrefix("{") ? "/username:nobody" : "/\($0)" }.joined()
    }

    private func send(_ route: Route, _ key: String, _ server: EndpointsFixture, on listener: Caller.Listener = .admin)
        async
        -> Answer
    {
        await server.send(
            Request(route.method, Self.target(route), fields: ["Authorization": "Bearer \(key)"]), on: listener)
    }

    @Test("each call takes the keys with a scope that includes it, and refuses all other keys")
    func table() async throws {
        let named = Self.support.union(Self.users)
        #expect(named.isSubset(of: Set(Self.calls.map(\.route.name))))
        try await EndpointsFixture.with { server in
            let administration = Administration(server.context)
            for scope in AdminKey.Scope.allCases {
                let secret = try await administration.createAdminKey(name: "tried", scope: scope, by: .system).1
                for (route, scopes) in Self.calls {
                    let answer = await send(route, secret, server)
                    if scopes.contains(scope) {
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

    @Test("a sign-up backend sets no claims and no longer session, in a new user and in a present one")
    func membersOfOwner() async throws {
        try await EndpointsFixture.with { server in
            let administration = Administration(server.context)
            let secret = try await administration.createAdminKey(name: "sign-up", scope: .users, by: .system).1
            func call(_ method: Method, _ path: String, _ body: String) async -> Answer {
                await server.admin(method, "/admin/v1/users\(path)", body, key: secret)
            }

            let made = await call(
                .post, "", #"{"username":"bert","password":"long enough","email":"b@x.org","source":"user"}"#)
            let verified = await call(.patch, "/username:bert", #"{"email_verified":true}"#)
            #expect(made.status == 201)
            #expect(verified.bool("email_verified") == true)

            for member in [#""claims":{"role":"teller"}"#, #""claims":null"#, #""offline_session_max":31536000"#] {
                let new = await call(.post, "", #"{"username":"carl",\#(member)}"#)
                let present = await call(.patch, "/username:bert", "{\(member)}")
                for answer in [new, present] {
                    #expect(answer.status == 403, "\(member)")
                    #expect(answer.string("code") == "insufficient_scope", "\(member)")
                    #expect(answer.string("detail")?.hasSuffix("it takes the scope owner.") == true)
                }
            }
            #expect(await call(.post, "", #"{"username":"carl"}"#).status == 201)
        }
    }

    @Test("the log names the key that is refused, and no user where no proof has come")
    func refusedActor() async throws {
        try await EndpointsFixture.with { server in
            let administration = Administration(server.context)
            let (key, secret) = try await administration.createAdminKey(name: "feed", scope: .feed, by: .system)
            func refused() -> String { server.log.last { $0.contains("request refused") } ?? "" }
            for (route, scopes) in Self.calls where !scopes.contains(.feed) {
                _ = await send(route, secret, server)
                #expect(refused().contains(#""actor":"admin:\#(key.id)""#), "\(route.name): \(refused())")
                _ = await send(route, "sja_unknown", server)
                #expect(refused().contains(#""actor":"unknown""#), "\(route.name): \(refused())")
            }
        }
    }

    @Test func noCallOfOneListenerIsOnTheOther() async throws {
        try await EndpointsFixture.with { server in
            for route in Route.all where route.listeners != .both && !route.pattern.hasSuffix("*") {
                let answer = await send(
                    route, server.adminKey, server, on: route.listeners == .admin ? .public : .admin)
                #expect(answer.status == 404, "\(route.name)")
                #expect(answer.string("code") == "not_found", "\(route.name)")
            }
        }
    }

    @Test func aKeyOpensNothingFromItsEndOn() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/admin-keys", #"{"name":"week","scope":"support","expires_in":604800}"#)
            #expect(made.status == 201)
            #expect(made.string("scope") == "support")
            #expect(made.integer("expires_at") == EndpointsFixture.start + 604_800)
            let key = try #require(made.string("admin_key"))
            let list = try #require(Route.all.first { $0.name == "GET /admin/v1/users" })
            server.moveClock(to: 604_799)
            let before = await send(list, key, server)
            #expect(before.status == 200)
            server.moveClock(to: 604_800)
            let after = await send(list, key, server)
            #expect(after.status == 401)
            let refused = await server.admin(.post, "/admin/v1/admin-keys", #"{"name":"x","expires_in":59}"#)
            #expect(refused.string("member") == "expires_in")
            let unknown = await server.admin(.post, "/admin/v1/admin-keys", #"{"name":"x","scope":"admin"}"#)
            #expect(unknown.string("member") == "scope")
        }
    }

    @Test func theLastUseIsKnownToTheHour() async throws {
        try await EndpointsFixture.with { server in
            func lastUse() async throws -> Int64? {
                try await server.store.adminKeys().first?.lastUsedAt?.secondsSinceEpoch
            }
            let unused = try await lastUse()
            #expect(unused == nil)
            for (second, expected) in [(0, 0), (3599, 0), (3600, 3600), (5000, 3600), (90_000, 90_000)]
                as [(Int64, Int64)]
            {
                server.moveClock(to: second)
                let answer = await server.admin(.get, "/admin/v1/admin-keys")
                #expect(answer.status == 200)
                let used = try await lastUse()
                #expect(used == EndpointsFixture.start + expected)
            }
        }
    }
}
