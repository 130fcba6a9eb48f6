import Glibc
import HTTP
import HTTPServer
import Sockets
import Synchronization
import Testing

/// Stopping in good order.
@Suite(.timeLimit(.minutes(10))) struct StopTests {
    @Test func aRequestInFlightIsAnsweredAndNoNewConnectionIsTaken() async throws {
        let started = Gate()
        let release = Gate()
        let handler = slowEcho(started, release)
        try await withServer(handler: handler) { server in
            let busy = try await server.client()
            try await busy.send(get("/slow"))
            await started.pass()
            async let stopped: Void = server.server.stop(deadline: .seconds(60))
            await server.isRefusing()
            await release.open()
            let response = try await busy.response()
            #expect(response.body == "GET /slow ")
            #expect(response.fields["connection"] == "close")
            await busy.shutdownWrite()
            #expect(try await busy.isClosed())
            await stopped
        }
    }

    @Test func anIdleConnectionIsAnsweredWithinTheGraceAndThenHalfClosed() async throws {
        try await withServer { server in
            let idle = try await server.client()
            #expect(try await idle.ask(get("/")).fields["connection"] == nil)
            let fresh = try await server.client()
            let silent = try await server.client()
            #expect(try await silent.ask(get("/")).status == 200)
            while server.server.statistics.open < 3 { await aMoment() }
            async let stopped: Void = server.server.stop(deadline: .seconds(60))
            await server.isRefusing()
            for client in [idle, fresh] {
                let response = try await client.ask(get("/late"))
                #expect(response.status == 200)
                #expect(response.fields["connection"] == "close")
                await client.close()
            }
            while server.server.statistics.open > 1 { await aMoment() }
            // The grace is over: an orderly end. What crosses with it is not answered, and not with a reset either.
            server.advance(.seconds(1))
            #expect(try await silent.isClosed())
            try await silent.send(post("/crosses", "x"))
            #expect(try await silent.isClosed())
            await silent.close()
            await stopped
        }
    }

    @Test func aQueuedConnectionIsAnsweredWhenTheServerStops() async throws {
        // No connection is accepted while the only loop is busy.
        let isBlocked = Atomic<Bool>(true)
        let started = Gate()
        let handler: RequestHandler = { request, context in
            if request.target.path == "/block" {
                await started.open()
                while isBlocked.load(ordering: .acquiring) { usleep(1000) }
            }
            return await echo(request, context)
        }
        try await withServer(loops: 1, handler: handler) { server in
            let blocker = try await server.client()
            try await blocker.send(get("/block"))
            await started.pass()
            var clients: [Client] = []
            for _ in 0..<100 {
                let client = try await server.client()
                try await client.send(get("/queued"))
                clients.append(client)
            }
            async let stopped: Void = server.server.stop(deadline: .seconds(60))
            isBlocked.store(false, ordering: .releasing)
            for client in clients {
                let response = try? await client.response()
                #expect(response?.body == "GET /queued ")
                await client.close()
            }
            await blocker.close()
            await stopped
        }
    }

    @Test func whatIsNotDoneAtTheDeadlineIsCut() async throws {
        let started = Gate()
        let release = Gate()
        let handler: RequestHandler = { request, context in
            await started.open()
            await release.pass()
            return await echo(request, context)
        }
        // No other deadline than that of stopping, however often the clock moves.
        var configuration = HTTPServer.Configuration()
        configuration.requestTimeout = .seconds(1_000_000_000)
        configuration.headerTimeout = .seconds(1_000_000_000)
        try await withServer(configuration, handler: handler) { server in
            let idle = try await server.client()
            try await idle.send("GET /unfinished HTTP")
            let busy = try await server.client()
            try await busy.send(get("/never"))
            await started.pass()
            async let stopped: Void = server.server.stop(deadline: .seconds(5))
            await #expect(throws: SocketError.self) {
                while true { _ = try await server.client() }
            }
            // The loops may begin to count a moment after the listener has closed.
            while server.server.statistics.open > 0 {
                server.advance(.seconds(6))
                await aMoment()
            }
            #expect(await busy.countUntilEnd() == 0)
            await stopped
            await release.open()
        }
    }

    @Test func aServerWithoutConnectionsStopsAtOnceAndTwice() async throws {
        try await withServer { server in
            await server.server.stop(deadline: .seconds(60))
            await server.server.stop(deadline: .seconds(60))
        }
    }
}

extension ServerUnderTest {
    /// Waits until no connection is accepted any more; one that comes just when the listener closes is reset.
    func isRefusing() async {
        await #expect(throws: SocketError.self) {
            while true { _ = try await client() }
        }
    }
}
