import HTTP
import HTTPServer
import Locks
import Testing

/// Handlers that are resumed together are answered together.
@Suite(.timeLimit(.minutes(10))) struct BurstTests {
    @Test func noneIsAnsweredBeforeAllThatWereResumedWithItHaveGoneOn() async throws {
        let gate = Gate()
        let watched = Locked<HTTPServer?>(nil)
        // How many were still unanswered when each one went on.
        let pendingWhenResumed = Locked<[Int]>([])
        let handler: RequestHandler = { request, context in
            switch request.target.path {
            case "/wait":
                await gate.pass()
                let pending = watched.withLock { $0?.statistics.pending } ?? 0
                pendingWhenResumed.withLock { $0.append(pending) }
            // This runs on the loop that they wait for: they go on when it has ended, in one turn.
            case "/resume": await gate.open()
            default: break
            }
            return await echo(request, context)
        }
        try await withServer(loops: 1, handler: handler) { server in
            watched.withLock { $0 = server.server }
            defer { watched.withLock { $0 = nil } }
            var clients: [Client] = []
            for _ in 0..<8 {
                let client = try await server.client()
                try await client.send(get("/wait"))
                clients.append(client)
            }
            try await wait("the handlers have not begun") { server.server.statistics.pending == 8 }
            #expect(try await server.client().ask(get("/resume")).status == 200)
            for client in clients { #expect(try await client.response().status == 200) }
            let pending = pendingWhenResumed.withLock { $0 }
            #expect(pending.count == 8)
            #expect(pending.allSatisfy { $0 >= 8 }, "some were answered in between")
        }
    }
}
