import HTTP
import HTTPServer
import Locks
import Testing

/// Handlers that are resumed together are answered together.
@Suite(.timeLimit(.minutes(10))) struct BurstTests {
    /// Waits under `/wait` until somebody asks for `/resume`, and notes how many were still unanswered when each one went on.
    private final class Work: Sendable {
        private struct State {
            weak var server: HTTPServer?
            var waiting: [CheckedContinuation<Void, Never>] = []
            var pendingWhenResumed: [Int] = []
        }

        private let state = Locked(State())

        func watch(_ server: HTTPServer) { state.withLock { $0.server = server } }

        var waitingCount: Int { state.withLock { $0.waiting.count } }
        var pendingWhenResumed: [Int] { state.withLock { $0.pendingWhenResumed } }

        var handler: RequestHandler {
            { request, context in
                switch request.target.path {
                case "/wait":
                    await withCheckedContinuation { continuation in
                        self.state.withLock { $0.waiting.append(continuation) }
                    }
                    self.state.withLock { state in
                        state.pendingWhenResumed.append(state.server?.statistics.pending ?? 0)
                    }
                case "/resume":
                    let waiting = self.state.withLock { state in
                        defer { state.waiting = [] }
                        return state.waiting
                    }
                    // This runs on the loop that they wait for: they go on when it has ended, in one turn.
                    for continuation in waiting { continuation.resume() }
                default: break
                }
                return await echo(request, context)
            }
        }
    }

    @Test func noneIsAnsweredBeforeAllThatWereResumedWithItHaveGoneOn() async throws {
        let work = Work()
        try await withServer(loops: 1, handler: work.handler) { server in
            work.watch(server.server)
            var clients: [Client] = []
            for _ in 0..<8 {
                let client = try await server.client()
                try await client.send(get("/wait"))
                clients.append(client)
            }
            try await wait("the handlers have not begun") { work.waitingCount == 8 }
            #expect(try await server.client().ask(get("/resume")).status == 200)
            for client in clients { #expect(try await client.response().status == 200) }
            let pending = work.pendingWhenResumed
            #expect(pending.count == 8)
            #expect(pending.allSatisfy { $0 >= 8 }, "some were answered in between")
        }
    }
}
