import Dispatch
import HTTP
import Synchronization
import Testing

@testable import Endpoints

/// Whoever asks for an answer gets it where it asks: each step to another executor and back costs every request.
@Suite struct ExecutorTests {
    @Test func anAnswerThatWaitsForNothingStaysWhereItWasAskedFor() async throws {
        try await Stage.with { stage in
            let caller = ConfinedCaller()
            let form = Array("grant_type=refresh_token".utf8)
            let request = Request(
                .post, "/oauth/token", fields: ["Content-Type": "application/x-www-form-urlencoded"], body: form)
            let (status, jobs) = await caller.answer(stage.endpoints, request)
            #expect(status == .badRequest)
            #expect(jobs == 0)
        }
    }

    /// Once when it is decided, once when it is durable.
    @Test func aRefreshComesBackTwice() async throws {
        try await Stage.with { stage in
            let token = try await stage.logIn().refresh
            let caller = ConfinedCaller()
            let form = Array("grant_type=refresh_token&refresh_token=\(token)&client_id=mobile".utf8)
            let request = Request(
                .post, "/oauth/token", fields: ["Content-Type": "application/x-www-form-urlencoded"], body: form)
            let (status, jobs) = await caller.answer(stage.endpoints, request)
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

    /// The status of the answer, and how many jobs it took.
    func answer(_ endpoints: Endpoints, _ request: Request) async -> (Status, Int) {
        let before = executor.jobs.load(ordering: .relaxed)
        let caller = Caller(remoteAddress: "192.0.2.1", listener: .public)
        let response = await endpoints.reply(to: request, from: caller).response()
        return (response.status, executor.jobs.load(ordering: .relaxed) - before)
    }
}
