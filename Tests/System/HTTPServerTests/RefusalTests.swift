import HTTP
import HTTPServer
import Testing

/// What the engine refuses before any handler sees it.
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\nnocolon\r\n\r\n", 400, "malformed_field_name"),
        ("GET / HTTP/1.1\r\n\r\n", 400, "missing_host"),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "unsupported_version"),
        (post("/", "x", "Transfer-Encoding: chunked\r\n"), 400, "conflicting_framing"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413, "body_too_large"),
        ("GET /AAAA HTTP/1.1\r\nHost: a\r\n\r\n", 414, "request_line_too_long"),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: AAAAAAAA\r\n\r\n", 431, "fields_too_large"),
    ])
    func whatIsRefusedGetsAProblemAndTheConnectionCloses(bytes: String, status: Int, code: String) async throws {
        try await withServer { server in
            let client = try await server.client()
            // Each A stands for many, so that the names of the cases stay short.
            let response = try await client.ask(bytes.replacing("A", with: String(repeating: "A", count: 2100)))
            #expect(response.status == status)
            #expect(response.fields["content-type"] == "application/problem+json")
            #expect(response.fields["connection"] == "close")
            #expect(response.body.contains("\"code\":\"\(code)\""))
            #expect(response.body.contains("\"status\":\(status)"))
            await client.shutdownWrite()
            #expect(try await client.isClosed())
            #expect(server.server.statistics.protocolErrors == 1)
            #expect(server.server.statistics.requests == 0)
        }
    }

    @Test func theAnswerIsNotLostWhenTheClientGoesOnSending() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
            try await client.send([UInt8](repeating: 0x61, count: 900_000))
            #expect(try await client.response().status == 413)
            await client.shutdownWrite()
            #expect(try await client.isClosed())
        }
    }

    @Test func goodRequestsBeforeABadOneAreAnswered() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send(get("/good") + "BAD\r\n\r\n")
            #expect(try await client.response().body == "GET /good ")
            #expect(try await client.response().status == 400)
        }
    }
}
