import HTTP
import HTTPServer
import Sockets
import Testing

/// Stopping in good order.
@Suite(.timeLimit(.minutes(10))) struct StopTests {
    @Test func aRequestInFlightIsAnsweredAndIdleConnectionsClose() async throws {
        let started = Gate()
        let release = Gate()
        let handler = slowEcho(started, release)
        try await withServer(handler: handler) { server in
            let idle = try await server.client()
            #expect(try await idle.ask(get("/")).status == 200)
            let busy = try await server.client()
            try await busy.send(get("/slow"))
            await started.pass()
            async let stopped: Void = server.server.stop(deadline: .seconds(60))
            #expect(try await idle.isClosed())
            await #expect(throws: SocketError.connectionRefused("\(server.address)")) { _ = try await server.client() }
            await release.open()
            let response = try await busy.response()
            #expect(response.body == "GET /slow ")
            #expect(response.fields["connection"] == "close")
            await busy.shutdownWrite()
            #expect(try await busy.isClosed())
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
                await Task.yield()
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
