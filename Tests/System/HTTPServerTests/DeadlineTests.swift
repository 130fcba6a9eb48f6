import HTTP
import HTTPServer
import Testing

/// No client holds a connection longer than its deadline. The clock is the test's; each test first gets an answer, so that it
/// knows how far the server has come before it moves the clock.
@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    @Test func aHeadThatIsNotFinishedIsCutAtItsDeadline() async throws {
        try await withServer { server in
            let client = try await server.client()
            #expect(try await client.ask(get("/") + "GET /next HT").status == 200)
            server.advance(.seconds(11))
            #expect(try await client.response().status == 408)
            await client.shutdownWrite()
            #expect(try await client.isClosed())
            #expect(server.server.statistics.timeouts == 1)
        }
    }

    @Test func moreBytesDoNotMoveTheDeadlineOfAHead() async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            #expect(try await client.ask(get("/") + "GET /next HT").status == 200)
            server.advance(.seconds(6))
            try await client.send("TP/1.1\r\nHost:")
            // The answer to another connection of the same loop proves that the loop has seen those bytes.
            #expect(try await server.client().ask(get("/")).status == 200)
            server.advance(.seconds(5))
            #expect(try await client.response().status == 408)
        }
    }

    @Test func aBodyThatIsNotFinishedIsCutAtItsDeadline() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
            #expect(try await client.response().status == 100)
            try await client.send("abc")
            server.advance(.seconds(31))
            #expect(try await client.response().status == 408)
            #expect(server.server.statistics.timeouts == 1)
        }
    }

    @Test func anIdleConnectionIsClosedWithoutAWord() async throws {
        try await withServer { server in
            let client = try await server.client()
            #expect(try await client.ask(get("/")).status == 200)
            server.advance(.seconds(76))
            #expect(try await client.isClosed())
            #expect(server.server.statistics.timeouts == 0)
        }
    }

    @Test func aConnectionInUseOutlivesTheIdleDeadline() async throws {
        try await withServer { server in
            let client = try await server.client()
            for _ in 0..<5 {
                #expect(try await client.ask(get("/")).status == 200)
                server.advance(.seconds(60))
            }
        }
    }

    @Test func aClientThatDoesNotReadIsCut() async throws {
        let size = 64 << 20
        let body = [UInt8](repeating: 0x61, count: size)
        try await withServer(handler: { _, _ in Response(status: .ok, body: body) }) { server in
            let client = try await server.client()
            try await client.send(get("/"))
            _ = try await client.receiveSome()
            // The kernel goes on filling its buffers for a moment.
            while server.server.statistics.timeouts == 0 {
                server.advance(.seconds(31))
                await aMoment()
            }
            #expect(await client.countUntilEnd() < size - 1024)
        }
    }

    @Test func aHandlerThatNeverAnswersIsAnsweredFor() async throws {
        let started = Gate()
        let release = Gate()
        let wasCancelled = Gate()
        let handler: RequestHandler = { request, context in
            await started.open()
            await release.pass()
            if Task.isCancelled { await wasCancelled.open() }
            return await echo(request, context)
        }
        try await withServer(handler: handler) { server in
            let client = try await server.client()
            try await client.send(get("/never"))
            await started.pass()
            server.advance(.seconds(16))
            let response = try await client.response()
            #expect(response.status == 503)
            #expect(response.fields["retry-after"] == "1")
            #expect(response.fields["connection"] == "close")
            #expect(server.server.statistics.handlerTimeouts == 1)
            // The late answer goes nowhere.
            await release.open()
            await wasCancelled.pass()
            await client.shutdownWrite()
            #expect(try await client.isClosed())
        }
    }

    @Test func aLingeringConnectionEndsEvenIfTheClientDoesNot() async throws {
        try await withServer { server in
            let client = try await server.client()
            #expect(try await client.ask("BAD\r\n\r\n").status == 400)
            #expect(try await client.isClosed())
            // The client keeps its side open; so does the server, until its patience ends.
            #expect(server.server.statistics.open == 1)
            while server.server.statistics.open > 0 {
                server.advance(.seconds(3))
                await aMoment()
            }
        }
    }
}
