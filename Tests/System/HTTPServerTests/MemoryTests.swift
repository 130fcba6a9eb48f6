import HTTP
import HTTPServer
import Sockets
import Testing

/// Whatever clients do, what they can make the server hold has an end, and all of it comes back.
@Suite(.timeLimit(.minutes(10))) struct MemoryTests {
    @Test func aHundredOfTheLargestHeadsAreHeldUntilTheirDeadlineAndNoLonger() async throws {
        try await withServer(loops: 1) { server in
            var clients: [Client] = []
            for _ in 0..<100 {
                let client = try await server.client()
                try await client.send(
                    "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 16_000))
                clients.append(client)
            }
            try await server.settle()
            let held = server.server.statistics.bufferedBytes
            #expect(held > 100 * 11_000)
            #expect(held < 100 * 40_000)
            server.advance(.seconds(10))
            for client in clients { #expect(try await client.response().status == 408) }
            #expect(server.server.statistics.bufferedBytes == 0)
            #expect(server.server.statistics.reached[.headerTime] == 100)
        }
    }

    @Test(arguments: RateTests.Framing.allCases)
    func contentThatStopsIsHeldUntilItsDeadlineAndNoLonger(framing: RateTests.Framing) async throws {
        try await withServer(loops: 1) { server in
            var clients: [Client] = []
            for _ in 0..<20 {
                let client = try await server.client()
                try await client.send(framing.head(65_000) + framing.piece(60_000))
                clients.append(client)
            }
            while server.server.statistics.bufferedBytes < 20 * 55_000 { await aMoment() }
            #expect(server.server.statistics.bufferedBytes < 20 * 200_000)
            for _ in 0..<2 {
                server.advance(.seconds(30))
                try await server.settle()
            }
            for client in clients { #expect(try await client.response().status == 408) }
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    @Test func aClientThatNeverReadsIsCutAndTheAnswersAreForgotten() async throws {
        let large: RequestHandler = { request, _ in
            Response(status: .ok, body: [UInt8](repeating: 0x61, count: request.target.path == "/" ? 1 : 8 << 20))
        }
        try await withServer(loops: 1, handler: large) { server in
            var clients: [Client] = []
            for _ in 0..<4 {
                let client = try await server.client()
                try await client.send(get("/large"))
                clients.append(client)
            }
            while server.server.statistics.bufferedBytes < 8 << 20 { await aMoment() }
            try await server.settle()
            #expect(server.server.statistics.bufferedBytes < 40 << 20)
            try await server.advanceUntilWritesAreCut(4)
            #expect(server.server.statistics.bufferedBytes == 0)
            for client in clients { #expect(await client.countUntilEnd() < 8 << 20) }
        }
    }

    @Test func pipelinedRequestsAreNotEvenReadWhileAnAnswerWaits() async throws {
        // More than the kernel takes, so that the very first answer waits.
        let handler: RequestHandler = { request, _ in
            Response(status: .ok, body: [UInt8](repeating: 0x61, count: request.target.path == "/" ? 1 : 1 << 24))
        }
        try await withServer(loops: 1, handler: handler) { server in
            let client = try await server.client()
            let flood = Array(String(repeating: get("/large"), count: 400_000).utf8)
            #expect(flood.count > 10 << 20)
            let sending = Task { try await client.send(flood) }
            while server.server.statistics.bufferedBytes == 0 { await aMoment() }
            try await server.settle()
            let requests = server.server.statistics.requests
            #expect(requests == 2)
            // One answer, and what one read brought.
            #expect(server.server.statistics.bufferedBytes < 1 << 25)
            for _ in 0..<100 { try await server.settle() }
            #expect(server.server.statistics.requests == requests + 100)
            try await server.advanceUntilWritesAreCut(1)
            #expect(server.server.statistics.bufferedBytes == 0)
            await #expect(throws: SocketError.self) { try await sending.value }
        }
    }

    @Test func thousandsOfTinyChunksTakeNoMoreThanTheirContent() async throws {
        try await withServer(loops: 1, handler: { Response(.ok, text: "\($0.body.count) \($1.listenerName)") }) {
            server in
            let client = try await server.client()
            try await client.send(RateTests.Framing.chunks.head(0))
            for _ in 0..<64 { try await client.send(String(repeating: "1\r\na\r\n", count: 1023)) }
            try await server.settle()
            #expect(server.server.statistics.bufferedBytes < 400_000)
            #expect(try await client.ask("0\r\n\r\n").body == "65472 public")
            try await server.settle()
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    @Test(arguments: [
        ("1;a=b\r\na\r\n", 400, "chunk_extensions_too_long"), ("1\r\na\r\n", 413, "body_too_large"),
    ])
    func aFloodOfChunksEnds(chunk: String, status: Int, code: String) async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            try await client.send(RateTests.Framing.chunks.head(0))
            // The server may have closed before all is out.
            for _ in 0..<70 { try? await client.send(String(repeating: chunk, count: 1000)) }
            let response = try await client.response()
            #expect(response.status == status)
            #expect(response.body.contains(code))
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    @Test func aFloodOfEmptyLinesEnds() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send(String(repeating: "\r\n", count: 100_000))
            #expect(try await client.response().body.contains("leading_empty_lines"))
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    // MARK: The bound

    /// Content of which the last byte is missing.
    private static let unfinished =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20001\r\n\r\n" + String(repeating: "a", count: 20_000)

    @Test func theBoundIsExactAndASmallRequestPassesAllTheSame() async throws {
        // What one holds depends on how arrays grow.
        var (held, configuration) = (0, HTTPServer.Configuration())
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            try await client.send(Self.unfinished)
            try await server.settle()
            held = server.server.statistics.bufferedBytes
            #expect(held > 16_000)
        }
        for (bound, isHeld) in [(held - 1, false), (held, true), (held + 1, true)] {
            configuration.maximumBufferedBytes = bound
            try await withServer(configuration, loops: 1) { server in
                let client = try await server.client()
                try await client.send(Self.unfinished)
                try await server.settle()
                if isHeld {
                    #expect(server.server.statistics.bufferedBytes == held)
                    let next = try await server.client()
                    try await next.send(Self.unfinished)
                    try await Self.expectRefusal(of: next)
                    try await client.send("b")
                    #expect(try await client.response().status == 200)
                } else {
                    try await Self.expectRefusal(of: client)
                }
                #expect(server.server.statistics.reached[.bufferedBytes] == 1)
                try await server.settle()
                #expect(server.server.statistics.bufferedBytes == 0)
            }
        }
    }

    private static func expectRefusal(of client: Client) async throws {
        let response = try await client.response()
        #expect(response.status == 503)
        #expect(response.fields["retry-after"] == "1")
        #expect(response.fields["connection"] == "close")
        #expect(response.body.contains("out_of_buffers"))
    }

    @Test func aClientThatAsksBeforeSendingContentIsToldToWait() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumBufferedBytes = 20_000
        try await withServer(configuration, loops: 1) { server in
            let holder = try await server.client()
            try await holder.send(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 22000\r\n\r\n" + String(repeating: "a", count: 21_999))
            try await server.settle()
            #expect(server.server.statistics.bufferedBytes > 17_500)
            let client = try await server.client()
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
            try await Self.expectRefusal(of: client)
        }
    }

    @Test func anAnswerThatFindsNoRoomIsCut() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumBufferedBytes = 1 << 20
        let large: RequestHandler = { request, _ in
            Response(status: .ok, body: [UInt8](repeating: 0x61, count: request.target.path == "/" ? 1 : 16 << 20))
        }
        try await withServer(configuration, loops: 1, handler: large) { server in
            let client = try await server.client()
            try await client.send(get("/large"))
            // While no client reads, the kernel takes a part of it only.
            try await server.settle()
            #expect(await client.countUntilEnd() < 16 << 20)
            #expect(server.server.statistics.reached[.bufferedBytes] == 1)
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    @Test func aRequestCountsUntilItsHandlerHasEndedEvenIfTheClientHasGone() async throws {
        let (started, release) = (Gate(), Gate())
        try await withServer(loops: 1, handler: slowEcho(started, release)) { server in
            let client = try await server.client()
            try await client.send(post("/slow", String(repeating: "a", count: 30_000)))
            await started.pass()
            #expect(server.server.statistics.bufferedBytes > 25_000)
            await client.reset()
            while server.server.statistics.open > 0 { try await server.settle() }
            #expect(server.server.statistics.bufferedBytes > 25_000)
            #expect(server.server.statistics.pending == 1)
            await release.open()
            while server.server.statistics.pending > 0 { await aMoment() }
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }
}

extension ServerUnderTest {
    /// Lets the time of writers pass. The system takes bytes on its own for a moment, which fills one window at most, or
    /// the start of another.
    fileprivate func advanceUntilWritesAreCut(_ count: Int) async throws {
        for _ in 0..<3 where server.statistics.timeouts < count {
            advance(.seconds(30))
            try await settle()
        }
        #expect(server.statistics.reached[.writeTime] == count)
    }
}
