import Cryptography
import HTTP
import Locks
import SQLiteStore
import Sessions
import Telemetry
import Testing

@testable import Endpoints

@Suite struct RetryAfterTests {
    private static let start = ContinuousClock.now

    /// The answers of a policy that refuses ten times a second, from one second on.
    private func answers(_ policy: inout RetryAfterPolicy, _ tenths: Range<Int>, random: UInt64) -> [Int] {
        tenths.map { policy.seconds(at: Self.start + .milliseconds(100 * $0), random: random) }
    }

    @Test("The answer grows with each second of an outage, from 1 or 2 to 20 to 40, and is random between")
    func growth() {
        var (least, most) = (RetryAfterPolicy(), RetryAfterPolicy())

        // No remainder, and one that every range of so few numbers has as its last.
        let lowest = answers(&least, 0..<1000, random: 0)
        let spread = (0..<40).map { random in
            var policy = most
            return policy.seconds(at: Self.start, random: UInt64(random))
        }
        _ = answers(&most, 0..<1000, random: 0)
        let later = (0..<210).map { random in
            var policy = most
            return policy.seconds(at: Self.start + .seconds(100), random: UInt64(random))
        }

        #expect(Set(spread) == [1, 2])
        #expect(lowest.first == 1 && lowest.last == 20 && zip(lowest, lowest.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(lowest[100] == 5 && lowest[300] == 15)
        #expect(Set(later) == Set(20...40))
    }

    @Test("After the outage the answer shrinks by the time in which nothing was refused")
    func shrinking() {
        var policy = RetryAfterPolicy()
        _ = answers(&policy, 0..<1000, random: 0)

        #expect(answers(&policy, 1100..<1101, random: 0) == [15])
        #expect(answers(&policy, 1400..<1401, random: 0) == [1])
    }

    @Test("Refusals now and then are no outage, however long they go on")
    func seldom() {
        var policy = RetryAfterPolicy()

        let seconds = stride(from: 0, to: 200, by: 4).map { second in
            policy.seconds(at: Self.start + .seconds(second), random: 1)
        }

        #expect(Set(seconds) == [2])
    }

    @Test("Only what most calls need makes the answer grow: the store, and places for calls")
    func causes() async throws {
        struct Surprise: Error {}
        try await EndpointsFixture.with { server in
            let seconds = Locked(0)
            let node = server.waiting(
                retryAfter: RetryAfter(
                    random: RandomSource { Array(repeating: 0, count: $0) },
                    now: { Self.start + .seconds(seconds.withLock { $0 }) }))
            let call = Call(
                request: Request(.get, "/v1/me"), caller: Caller(remoteAddress: nil, listener: .public),
                requestID: "r", route: try #require(Route.all.first { $0.pattern == "/v1/me" }), parameter: "")
            /// The answer after the error has come once a second for a minute.
            func answer(_ error: any Error) -> String? {
                for _ in 1..<60 {
                    _ = node.endpoints.errorResponse(error, to: call)
                    seconds.withLock { $0 += 1 }
                }
                return Answer(node.endpoints.errorResponse(error, to: call)).field("Retry-After")
            }

            #expect(answer(Surprise()) == "1")
            #expect(answer(ServiceError.store(.corrupted("row 7"))) == "1")
            #expect(answer(ServiceError.passwordQueueFull) == "1")
            #expect(answer(ServiceError.identityProviderUnavailable) == "5")
            #expect(answer(ServiceError.overloaded) == "20")
            // A minute without any of these.
            #expect(answer(Surprise()) == "1")
            #expect(answer(ServiceError.store(.unavailable("gone"))) == "20")
        }
    }

    @Test("Endpoints and engine share one policy, with the clock and the random bytes that it gets")
    func shared() {
        let seconds = Locked(0)
        let retryAfter = RetryAfter(
            random: RandomSource { Array(repeating: 0xFF, count: $0) },
            now: { Self.start + .seconds(seconds.withLock { $0 }) })
        for second in 0...60 {
            seconds.withLock { $0 = second }
            let limit = min(max(second, 2), 40)
            #expect(((limit + 1) / 2...limit).contains(retryAfter.seconds()), "\(second)")
        }
    }

    @Test("Every call that fails for want of the store says when to come back")
    func everyCall() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            await server.store.close()

            var refused: Set<String> = []
            for route in Route.all where !route.isStreaming && !route.pattern.hasSuffix("*") {
                let isAdmin = route.listeners == .admin
                let path = route.pattern.replacing(#/\{[a-z_]+\}/#, with: "AAAAAAAAAAAAAAAAAAAAAA")
                let request = Request(
                    route.method, path,
                    fields: [
                        "Authorization": "Bearer \(isAdmin ? server.adminKey : tokens.access)",
                        "Content-Type": "application/json",
                    ], body: Array("{}".utf8))
                let answer = await server.send(request, on: isAdmin ? .admin : .public, isSecure: true)
                guard answer.status == 503 else { continue }
                refused.insert(route.name)
                let seconds = answer.field("Retry-After").flatMap { Int($0) }
                #expect(RetryAfterPolicy.limits.lowerBound / 2...RetryAfterPolicy.limits.upperBound ~= seconds ?? -1)
            }

            #expect(refused.contains("GET /readyz") && refused.count > 60, "\(refused.sorted())")
        }
    }

    /// A log of failures: its seconds end by `flush` alone.
    private func untimed(_ logger: Logger) -> FailureLog {
        FailureLog(logger, sleep: { _ in await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } })
    }

    @Test("Fifty failures of one cause and route are one line of the log, and then one a second")
    func log() async throws {
        try await EndpointsFixture.with { fixture in
            let server = fixture.waiting(failures: untimed(fixture.endpoints.logger))
            let tokens = try await server.logIn()
            await server.store.close()

            for _ in 0..<50 { #expect(await server.refresh(tokens.refresh).status == 503) }
            server.endpoints.failures.flush()

            let lines = server.log.filter { $0.contains("request failed") }
            let counts = lines.map { line in
                line.firstMatch(of: #/"count":([0-9]+)/#).flatMap { Int($0.output.1) } ?? 1
            }
            #expect(lines.first?.contains(#""cause":"store unavailable: "#) == true)
            #expect(counts == [1, 49], "\(lines)")
            // Another route has a line of its own.
            #expect(await server.admin(.get, "/admin/v1/clients").status == 503)
            #expect(server.log.count { $0.contains("request failed") } == 3)
        }
    }

    @Test("Each fault of the server has a line of its own, with its request")
    func faults() async throws {
        try await EndpointsFixture.with { fixture in
            let server = fixture.waiting(failures: untimed(fixture.endpoints.logger))
            let route = try #require(Route.all.first { $0.pattern == "/v1/me" })
            for id in ["first", "second", "third"] {
                let call = Call(
                    request: Request(.get, "/v1/me"), caller: Caller(remoteAddress: nil, listener: .public),
                    requestID: id, route: route, parameter: "")
                let answer = server.endpoints.errorResponse(ServiceError.store(.corrupted("row 7")), to: call)
                #expect(answer.status.code == 500)
                #expect(server.log.last?.contains(#""request_id":"\#(id)""#) == true)
            }
            #expect(server.log.count { $0.contains("request failed") } == 3)
        }
    }
}
