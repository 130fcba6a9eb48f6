import Dispatch
import HTTP
import Synchronization
import Testing

@testable import Endpoints

/// A request is answered on the executor that asks: each step to another executor and back costs every request.
@Suite struct ExecutorTests {
    @Test func anAnswerThatWaitsForNothingStaysWhereItWasAskedFor() async throws {
        try await EndpointsFixture.with { server in
            let caller = ConfinedCaller()
            let (status, jobs) = await caller.token("grant_type=refresh_token", server.endpoints)
            #expect(status == .badRequest)
            #expect(jobs == 0)
        }
    }

    /// When it is decided, and when it is durable, if that comes later.
    @Test func aRefreshComesBackTwiceAtMost() async throws {
        try await EndpointsFixture.with { server in
            let token = try await server.logIn().refresh
            let caller = ConfinedCaller()
            let (status, jobs) = await caller.token(
                "grant_type=refresh_token&refresh_token=\(token)&client_id=mobile", server.endpoints)
            #expect(status == .ok)
            #expect(jobs <= 2)
        }
    }
}

/// Asks for answers on an executor that counts what it is given to run.
private actor ConfinedCaller {
    private final class CountingExecutor: SerialExecutor {
        let queue = DispatchQueue(label: "counting")
        let jobs = Atomic<Int>(0)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.add(1, ordering: .relaxed)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = CountingExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The status of the answer to a form at the token endpoint, and how many jobs it took.
    func token(_ form: String, _ endpoints: Endpoints) async -> (Status, Int) {
        let request = Request(
            .post, "/oauth/token", fields: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array(form.utf8))
        let before = executor.jobs.load(ordering: .relaxed)
        let caller = Caller(remoteAddress: "192.0.2.1", listener: .public)
        let response = await endpoints.reply(to: request, from: caller).response()
        return (response.status, executor.jobs.load(ordering: .relaxed) - before)
    }
}
