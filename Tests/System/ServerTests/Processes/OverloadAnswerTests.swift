import Dispatch
import Endpoints
import HTTP
import JSON
import SQLiteStore
import Sessions
import Synchronization
import Testing

@testable import sojourn

/// More is asked than the database can do: what is too much is refused at once, and what is in flight completes.
@Suite("Overload", .timeLimit(.minutes(10)))
struct OverloadAnswerTests {
    /// Holds up the writer of a store until it is released.
    private struct Hold {
        private let gate = DispatchSemaphore(value: 0)
        private let holding: Task<Void, any Error>

        init(_ store: SQLiteStore) async throws {
            let gate = gate
            let reached = AsyncStream<Void>.makeStream()
            holding = Task {
                try await store.updateSettings { _ in
                    reached.continuation.finish()
                    gate.wait()
                }
            }
            for await _ in reached.stream {}
        }

        func release() async throws {
            gate.signal()
            try await holding.value
        }
    }

    private static func refresh(_ endpoints: Endpoints, _ token: String) async -> Response {
        let body = JSONValue.object(["refresh_token": .string(token)]).text()
        let request = Request(.post, "/v1/refresh", fields: ["Content-Type": "application/json"], body: body)
        return await endpoints.reply(to: request, from: Caller(remoteAddress: "192.0.2.1", listener: .public))
            .response()
    }

    @Test("beyond the queue's bound a refresh gets 503 with Retry-After at once, and those in the queue complete")
    func queueBound() async throws {
        try await RaceFixture.with({ $0.pendingMax = 100 }) { stage in
            let login = try await stage.logIn(try await stage.makeUser("anna"))
            let endpoints = stage.endpoints()
            let hold = try await Hold(stage.store)
            let inFlight = (0..<100).map { _ in Task { await Self.refresh(endpoints, login.token) } }
            while stage.store.waitingChanges < 100 { await Task.yield() }
            // These are answered while the writer is still held up: nothing of them waits anywhere.
            let answers = RaceMoments()
            let tooMany = (0..<5000).map { _ in
                Task {
                    let answer = await Self.refresh(endpoints, login.token)
                    _ = answers.next()
                    return answer
                }
            }
            while answers.last < 5000, stage.store.waitingChanges <= 100 { await Task.yield() }
            #expect(stage.store.waitingChanges == 100)
            try await hold.release()
            var shed: [Response] = []
            for task in tooMany { shed.append(await task.value) }
            #expect(shed.allSatisfy { $0.status.code == 503 })
            #expect(shed.allSatisfy { ($0.fields.first("Retry-After").flatMap(Int.init) ?? 0) > 0 })
            for task in inFlight { #expect(await task.value.status.code == 200) }
            #expect(await Self.refresh(endpoints, login.token).status.code == 200)
        }
    }

    @Test("a refresh that waited longer than ten seconds gets 503 and is not decided later")
    func deadline() async throws {
        let elapsed = Mutex(Duration.zero)
        let origin = ContinuousClock.now
        try await RaceFixture.with({ $0.now = { origin + elapsed.withLock { $0 } } }) { stage in
            let login = try await stage.logIn(try await stage.makeUser("anna"))
            let endpoints = stage.endpoints()
            stage.clock.advance(by: RaceFixture.rotationInterval)
            for (waited, status, child) in [
                (Duration.milliseconds(10_001), 503, 1), (.milliseconds(10_000), 200, 2),
            ] as [(Duration, Int, UInt64)] {
                let hold = try await Hold(stage.store)
                let late = Task { await Self.refresh(endpoints, login.token) }
                while stage.store.waitingChanges < 1 { await Task.yield() }
                elapsed.withLock { $0 += waited }
                try await hold.release()
                let answer = await late.value
                #expect(answer.status.code == status)
                #expect(answer.fields.contains("Retry-After") == (status == 503))
                // Behind everything that waited: if it were to be decided later, it would be by now.
                try await stage.store.ping()
                let session = try await stage.administration.session(login.session.id).session
                #expect(session.child == child)
                #expect(session.ending == nil)
            }
        }
    }
}
