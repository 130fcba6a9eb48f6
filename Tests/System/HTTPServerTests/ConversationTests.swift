import HTTP
import HTTPServer
import Testing

/// What goes well, in all the ways HTTP/1.1 lets it.
@Suite(.timeLimit(.minutes(10))) struct ConversationTests {
    @Test func aConnectionCarriesManyRequests() async throws {
        try await withServer { server in
            let client = try await server.client()
            for number in 0..<50 {
                let response = try await client.ask(post("/\(number)", "body \(number)"))
                #expect(response.status == 200)
                #expect(response.body == "POST /\(number) body \(number)")
            }
            #expect(server.server.statistics.accepted == 1)
            #expect(server.server.statistics.requests == 50)
        }
    }

    @Test func theEngineAddsDateAndLengthAndKeepsTheConnection() async throws {
        try await withServer { server in
            let response = try await server.client().ask(get("/"))
            #expect(response.fields["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(response.fields["content-length"] == "6")
            #expect(response.fields["connection"] == nil)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        let gate = Gate()
        let handler: RequestHandler = { request, context in
            if request.target.path == "/slow" { await gate.pass() }
            return await echo(request, context)
        }
        try await withServer(handler: handler) { server in
            let client = try await server.client()
            try await client.send(get("/slow") + get("/second") + post("/third", "3"))
            await gate.open()
            #expect(try await client.response().body == "GET /slow ")
            #expect(try await client.response().body == "GET /second ")
            #expect(try await client.response().body == "POST /third 3")
        }
    }

    @Test func thousandsOfPipelinedRequestsAreAnswered() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send((0..<3000).map { get("/\($0)") }.joined())
            for number in 0..<3000 { #expect(try await client.response().body == "GET /\(number) ") }
        }
    }

    @Test func aRequestMayComeByteByByte() async throws {
        try await withServer { server in
            let client = try await server.client()
            for byte in post("/slowly", "abc").utf8 { try await client.send([byte]) }
            #expect(try await client.response().body == "POST /slowly abc")
        }
    }

    @Test func chunksBecomeOneBody() async throws {
        try await withServer { server in
            let response = try await server.client().ask(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            #expect(response.body == "POST / abcde")
        }
    }

    @Test func headHasTheFieldsOfGetAndNoBody() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try await client.response(toHead: true)
            #expect(head.status == 200)
            #expect(head.fields["content-length"] == "8")
            #expect(try await client.ask(get("/next")).body == "GET /next ")
        }
    }

    @Test func aClientThatExpectsContinueIsToldToGoOn() async throws {
        try await withServer { server in
            let client = try await server.client()
            try await client.send("POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            #expect(try await client.response().status == 100)
            #expect(try await client.ask("ok").body == "POST /c ok")
        }
    }

    @Test func aBodyThatIsTooLargeGetsNoContinue() async throws {
        try await withServer { server in
            let response = try await server.client().ask(
                "POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
            #expect(response.status == 413)
        }
    }

    @Test func http10ClosesUnlessAskedToKeepAlive() async throws {
        try await withServer { server in
            let client = try await server.client()
            let kept = try await client.ask("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(kept.fields["connection"] == "keep-alive")
            let last = try await client.ask("GET /2 HTTP/1.0\r\n\r\n")
            #expect(last.fields["connection"] == "close")
            #expect(try await client.isClosed())
        }
    }

    @Test func aClientMayAskToClose() async throws {
        try await withServer { server in
            let client = try await server.client()
            let response = try await client.ask(get("/", "Connection: close\r\n"))
            #expect(response.fields["connection"] == "close")
            #expect(try await client.isClosed())
        }
    }

    @Test func aClientThatHasShutDownItsSideStillGetsItsAnswer() async throws {
        let gate = Gate()
        let handler: RequestHandler = { request, context in
            await gate.pass()
            return await echo(request, context)
        }
        try await withServer(handler: handler) { server in
            let client = try await server.client()
            try await client.send(get("/half"))
            await client.shutdownWrite()
            await gate.open()
            #expect(try await client.response().body == "GET /half ")
            #expect(try await client.isClosed())
        }
    }

    @Test func aLargeAnswerArrivesWholeAtASlowReader() async throws {
        let body = String(repeating: "0123456789", count: 800_000)
        try await withServer(handler: { _, _ in Response(.ok, text: body) }) { server in
            let client = try await server.client()
            #expect(try await client.ask(get("/")).body == body)
            #expect(try await client.ask(get("/")).body.utf8.count == body.utf8.count)
        }
    }

    @Test func sixtyFourClientsAreServedByAllLoops() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                for number in 0..<64 {
                    group.addTask {
                        let client = try await server.client()
                        for round in 0..<100 {
                            let response = try await client.ask(post("/\(number)", "\(round)"))
                            #expect(response.body == "POST /\(number) \(round)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.server.statistics.requests == 6400)
        }
    }
}
