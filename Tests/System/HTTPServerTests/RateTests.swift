import HTTP
import HTTPServer
import Testing

/// Content and answers may take their time, as long as they move: a phone on a bad line is served, a drip is not. The clock
/// is the test's; one loop, so that the answer to another client proves that it has seen what was sent before.
@Suite(.timeLimit(.minutes(10))) struct RateTests {
    /// The start of a request with content that is to come, and what surrounds a piece of it.
    enum Framing: CaseIterable, Sendable {
        case length, chunks

        func head(_ count: Int) -> String {
            let field = self == .length ? "Content-Length: \(count)" : "Transfer-Encoding: chunked"
            return "POST / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n"
        }

        func piece(_ count: Int) -> String {
            let data = String(repeating: "a", count: count)
            return self == .length ? data : String(count, radix: 16) + "\r\n\(data)\r\n"
        }

        var end: String { self == .length ? "" : "0\r\n\r\n" }
    }

    @Test(arguments: Framing.allCases) func contentThatComesSlowlyButSteadilyArrives(framing: Framing) async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            try await client.send(framing.head(64_000))
            try await server.settle()
            // 500 bytes per second, and a little: two minutes for what is to come within thirty seconds when it drips.
            for _ in 0..<4 {
                try await client.send(framing.piece(16_000))
                try await server.settle()
                server.advance(.seconds(31))
                try await server.settle()
            }
            #expect(try await client.ask(framing.end + get("/")).status == 200)
            #expect(server.server.statistics.timeouts == 0)
        }
    }

    /// The rate is 500 bytes per second over 30 s.
    @Test(arguments: Framing.allCases, [(14_999, 408), (15_000, 200), (15_001, 200)])
    func theMinimumIsExact(framing: Framing, minimum: (count: Int, status: Int)) async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            try await client.send(framing.head(20_000))
            try await server.settle()
            // The chunks' own bytes do not count: what has been decoded does.
            try await client.send(framing.piece(minimum.count))
            try await server.settle()
            server.advance(.seconds(30))
            try await server.settle()
            if minimum.status == 200 { try await client.send(framing.piece(20_000 - minimum.count) + framing.end) }
            #expect(try await client.response().status == minimum.status)
            #expect(server.server.statistics.reached[.bodyTime] == (minimum.status == 408 ? 1 : 0))
        }
    }

    @Test func contentThatDripsIsCutHoweverOften() async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
            for _ in 0..<30 {
                try await client.send("a")
                try await server.settle()
                server.advance(.seconds(1))
            }
            #expect(try await client.response().status == 408)
        }
    }

    @Test(arguments: Framing.allCases) func aBurstBuysNoMoreThanOnePause(framing: Framing) async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            try await client.send(framing.head(60_001))
            try await server.settle()
            try await client.send(framing.piece(60_000))
            try await server.settle()
            server.advance(.seconds(30))
            try await server.settle()
            server.advance(.seconds(29))
            try await server.settle()
            #expect(server.server.statistics.timeouts == 0)
            server.advance(.seconds(1))
            #expect(try await client.response().status == 408)
        }
    }

    @Test func withoutAMinimumAnyByteWillDoAndNoneWillNot() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.bodyMinimumRate = 0
        try await withServer(configuration, loops: 1) { server in
            let client = try await server.client()
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
            for _ in 0..<5 {
                try await server.settle()
                try await client.send("a")
                try await server.settle()
                server.advance(.seconds(30))
            }
            try await server.settle()
            #expect(server.server.statistics.timeouts == 0)
            server.advance(.seconds(30))
            #expect(try await client.response().status == 408)
        }
    }

    // MARK: Answers

    private static let large: RequestHandler = { request, _ in
        Response(status: .ok, body: [UInt8](repeating: 0x61, count: request.target.path == "/large" ? 16 << 20 : 1))
    }

    @Test func aReaderOfOneByteNowAndThenIsCut() async throws {
        try await withServer(loops: 1, handler: Self.large) { server in
            let client = try await server.client()
            try await client.send(get("/large"))
            while server.server.statistics.bufferedBytes == 0 { await aMoment() }
            // The system takes bytes on its own for a moment, which can fill one window, or the start of another.
            for _ in 0..<6 where server.server.statistics.timeouts == 0 {
                _ = try await client.receiveSome(1)
                server.advance(.seconds(15))
                try await server.settle()
            }
            #expect(server.server.statistics.reached[.writeTime] == 1)
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    @Test func aSlowButSteadyReaderGetsItAll() async throws {
        try await withServer(loops: 1, handler: Self.large) { server in
            let client = try await server.client()
            try await client.send(get("/large"))
            while server.server.statistics.bufferedBytes == 0 { await aMoment() }
            var count = 0
            // Less at a time than the system keeps for the client: what it takes of the answer would not show it.
            for _ in 0..<10 {
                let until = count + 600_000
                while count < until { count += try await client.receiveSome(65_536) }
                server.advance(.seconds(31))
                try await server.settle()
            }
            #expect(server.server.statistics.timeouts == 0)
            while count < 16 << 20 { count += try await client.receiveSome(65_536) }
            #expect(count > 16 << 20)
        }
    }
}
