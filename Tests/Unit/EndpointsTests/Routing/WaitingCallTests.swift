import Foundation
import HTTP
import Locks
import Repository
import Sessions
import Telemetry
import Testing

@testable import Endpoints

/// Calls that wait for an event: their callers are authenticated again, and none takes all places.
@Suite(.timeLimit(.minutes(1))) struct WaitingCallTests {
    /// The public routes that may wait.
    private static let routes = Route.all.filter { $0.isStreaming && $0.listeners != .admin }

    /// A server in which waits take no time. `deed` happens in the first of them, and the others last until it is over.
    private static func waiting(
        of server: EndpointsFixture, _ deed: @escaping @Sendable () async -> Void
    ) -> EndpointsFixture {
        let (time, isDone, isOver) = (Locked(Int64(0)), Locked(false), Locked(false))
        return server.waiting(
            stopwatch: { time.withLock { $0 } },
            sleep: { duration in
                let isFirst = isDone.withLock { done in
                    defer { done = true }
                    return !done
                }
                if isFirst {
                    await deed()
                    isOver.withLock { $0 = true }
                }
                while !isOver.withLock({ $0 }) { await Task.yield() }
                time.withLock { $0 += Int64(duration / .nanoseconds(1)) }
                await Task.yield()
            })
    }

    @Test("The way in of each route that waits is one that is asked again, or asked at each look")
    func ways() {
        for route in Self.routes {
            let isKnown =
                switch route.handler {
                case .user, .owner, .client: true
                // Secrets and cookies, by which each look finds what it looks at.
                case .open, .openStreaming:
                    [
                        "/v1/logins/{login_id}", "/v1/enrolments/{login_id}", "/login/phone/{id}/events",
                        "/account/events", "/v1/verifications/{verification_id}",
                    ].contains(route.pattern)
                case .immediate, .admin, .streaming: false
                }
            #expect(isKnown, "\(route.name)")
        }
    }

    @Test(
        "A session that ends while its call waits gets 401, and no news, however the query is spelled",
        arguments: ["", "/{id}"], ["wait", "w%61it"])
    func session(path: String, wait: String) async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            #expect(await login.scan(phone).status == 200)
            let target = "/v1/me/logins" + path.replacing("{id}", with: login.id)
            let version = try #require(await server.call(.get, target, bearer: phone.access).string("version"))
            let waiting = Self.waiting(of: server) {
                _ = await server.admin(.delete, "/admin/v1/sessions/\(phone.sessionID)")
            }
            let answer = await waiting.call(.get, "\(target)?\(wait)=60&version=\(version)", bearer: phone.access)
            #expect(answer.status == 401, "\(answer.text)")
        }
    }

    @Test("A call of a client that loses the scope of accounts while the call waits gets 403")
    func scope() async throws {
        try await DeviceLogin.with { server, phone in
            let version = try #require(
                await server.call(.get, "/v1/me/logins", bearer: phone.access).string("version"))
            let waiting = Self.waiting(of: server) {
                _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"scope":"read write"}"#)
            }
            let answer = await waiting.call(.get, "/v1/me/logins?wait=60&version=\(version)", bearer: phone.access)
            #expect(answer.status == 403, "\(answer.text)")
        }
    }

    @Test("A call does not wait beyond its access token")
    func expiry() async throws {
        try await DeviceLogin.with { server, phone in
            let lifetime = try #require(phone.answer.integer("expires_in"))
            server.moveClock(to: lifetime - 10)
            let (time, waited) = (Locked(Int64(0)), Locked(Duration.zero))
            let waiting = server.waiting(
                stopwatch: { time.withLock { $0 } },
                sleep: { duration in
                    time.withLock { $0 += Int64(duration / .nanoseconds(1)) }
                    waited.withLock { $0 += duration }
                })
            let version = try #require(
                await server.call(.get, "/v1/me/logins", bearer: phone.access).string("version"))
            let answer = await waiting.call(.get, "/v1/me/logins?wait=60&version=\(version)", bearer: phone.access)
            #expect(answer.status == 200 && waited.withLock { $0 } == .seconds(9))
        }
    }

    @Test(
        "A client that may no longer poll while its poll waits gets no event",
        arguments: [
            (#"{"scope":"read"}"#, 403), (#"{"grant_types":["client_credentials"],"scope":"ssf.read"}"#, 403),
            (nil, 401),
        ] as [(String?, Int)])
    func client(change: String?, status: Int) async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            let server = receiver.server
            let waiting = Self.waiting(of: server) {
                if let change {
                    _ = await server.admin(.patch, "/admin/v1/clients/siem", change)
                } else {
                    _ = await server.admin(.delete, "/admin/v1/clients/siem")
                }
                _ = try? await server.logIn()
            }
            let answer = await waiting.call(.post, "/ssf/poll", "{}", bearer: receiver.token)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test("One session has so many calls that wait; another one still has its own")
    func perSession() async throws {
        try await DeviceLogin.with { server, phone in
            let other = try await server.logIn(device: "phone-2")
            var limits = WaitingLimits()
            limits.perSession = 2
            let waiting = server.waiting(limits)
            let version = try #require(
                await server.call(.get, "/v1/me/logins", bearer: phone.access).string("version"))
            let target = "/v1/me/logins?wait=60&version=\(version)"
            let watch = waiting.endpoints.phoneLogins.watch
            await withTaskGroup { group in
                for _ in 0..<2 { group.addTask { _ = await waiting.call(.get, target, bearer: phone.access) } }
                while watch.waitingCount < 2 { await Task.yield() }
                let refused = await waiting.call(.get, target, bearer: phone.access)
                #expect(refused.status == 503 && refused.field("Retry-After") != nil, "\(refused.text)")
                #expect(await waiting.call(.get, "/v1/me/logins", bearer: phone.access).status == 200)
                group.addTask { _ = await waiting.call(.get, target, bearer: other.access) }
                while watch.waitingCount < 3 { await Task.yield() }
                group.cancelAll()
            }
            #expect(watch.waitingCount == 0)
            #expect(await waiting.call(.get, "/v1/me/logins?wait=60", bearer: phone.access).status == 200)
        }
    }

    @Test("One address has so many calls that wait without a token; another one still has its own")
    func perAddress() async throws {
        try await DeviceLogin.with { server, _ in
            let login = try await DeviceLogin(server)
            var limits = WaitingLimits()
            limits.perAddress = 2
            let waiting = server.waiting(limits)
            let version = try #require(await login.look().string("version"))
            let target = "/v1/logins/\(login.id)?wait=60&version=\(version)"
            @Sendable func wait(_ address: String) async -> Answer {
                await waiting.send(
                    Request(.get, target, fields: ["Authorization": "Bearer \(login.secret)"], body: []),
                    address: address)
            }
            let watch = waiting.endpoints.phoneLogins.watch
            await withTaskGroup { group in
                for _ in 0..<2 { group.addTask { _ = await wait("192.0.2.1") } }
                while watch.waitingCount < 2 { await Task.yield() }
                #expect(await wait("192.0.2.1").status == 503)
                group.addTask { _ = await wait("192.0.2.2") }
                while watch.waitingCount < 3 { await Task.yield() }
                group.cancelAll()
            }
        }
    }

    @Test("Pages count for their address and for all pages, clients for themselves; each place comes back once")
    func places() throws {
        var limits = WaitingLimits()
        (limits.pages, limits.perAddress, limits.perClient) = (3, 2, 1)
        let calls = WaitingCalls(limits, MetricsRegistry())
        func page(_ address: String?) throws(ServiceError) -> WaitingCalls.Place {
            try calls.pagePlace(for: Caller(remoteAddress: address, listener: .public))
        }
        let one = try page("192.0.2.1")
        let two = try page("192.0.2.1")
        #expect(throws: ServiceError.overloaded) { try page("192.0.2.1") }
        let three = try page("2001:db8::1")
        #expect(throws: ServiceError.overloaded) { try page("192.0.2.9") }
        one.giveBack()
        one.giveBack()
        let four = try page("2001:db8::2")
        #expect(throws: ServiceError.overloaded) { try page(nil) }
        let client = try calls.place(for: .client("siem"))
        #expect(throws: ServiceError.overloaded) { try calls.place(for: .client("siem")) }
        _ = try calls.place(for: .client("other"))
        for place in [two, three, four, client] { place.giveBack() }
        _ = try calls.place(for: .client("siem"))
        // Two addresses of one customer.
        _ = (try page("2001:db8::1"), try page("2001:db8::2"))
    }

    @Test(
        "nginx has a longer patience for each route that waits, and for no other one that is public",
        arguments: ["docker/compose.yaml", "Tests/System/ServerTests/Snippets/nginx-proxy.conf"])
    func nginx(path: String) throws {
        let data = try #require(FileManager.default.contents(atPath: Repository.path(path)))
        let text = String(decoding: data, as: UTF8.self)
        let start = try #require(text.firstRange(of: "location ~ ")?.upperBound)
        let pattern = try Regex(String(text[start...].prefix { $0 != " " }))
        let block = text[start...].prefix { $0 != "}" }
        #expect(block.contains("proxy_read_timeout 75s;"), "longer than the longest wait")
        #expect(block.contains("proxy_next_upstream off;") || block.contains("proxy_next_upstream_timeout 2s;"))
        for route in Self.routes {
            let target = route.pattern.replacing(try Regex("\\{[a-z_]+\\}"), with: "x")
            #expect(target.firstMatch(of: pattern) != nil, "\(route.name)")
        }
        for target in [
            "/oauth/token", "/v1/refresh", "/v1/me", "/v1/login", "/login", "/account/devices", "/ssf/stream",
        ] {
            #expect(target.firstMatch(of: pattern) == nil, "\(target)")
        }
    }
}
