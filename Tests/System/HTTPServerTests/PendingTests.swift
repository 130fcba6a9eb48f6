import HTTP
import HTTPServer
import Sockets
import Testing

/// More work than the server can do is refused at once, without a handler; the probes of operators get through.
@Suite(.timeLimit(.minutes(10))) struct PendingTests {
    /// Waits for `release` under `/slow`, and counts in `started` how many came so far.
    private actor Work {
        private var started = 0
        private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        let release = Gate()

        func begin() {
            started += 1
            for waiter in waiting where waiter.count == started { waiter.continuation.resume() }
        }

        func begun(_ count: Int) async {
            if started >= count { return }
            await withCheckedContinuation { waiting.append((count, $0)) }
        }

        nonisolated var handler: RequestHandler {
            { request, context in
                if request.target.path == "/slow" {
                    await self.begin()
                    await self.release.pass()
                }
                return await echo(request, context)
            }
        }
    }

    private static func configuration(_ pending: Int) -> HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.maximumPendingRequests = pending
        return configuration
    }

    @Test func oneTooManyIsToldSoAtOnceAndItsConnectionStays() async throws {
        let work = Work()
        try await withServer(Self.configuration(2), loops: 1, handler: work.handler) { server in
            let (first, second, third) = (
                try await server.client(), try await server.client(), try await server.client()
            )
            try await first.send(get("/slow"))
            #expect(try await third.ask(get("/")).status == 200)
            try await second.send(get("/slow"))
            await work.begun(2)
            #expect(server.server.statistics.pending == 2)
            for count in 1...3 {
                let response = try await third.ask(get("/slow"))
                #expect(response.status == 503)
                #expect(response.fields["retry-after"] == "1")
                #expect(response.fields["connection"] == nil)
                #expect(response.body.contains("too_many_requests_pending"))
                #expect(server.server.statistics.reached[.pendingRequests] == count)
            }
            // One with content is read to its end, so that the next one is understood.
            #expect(try await third.ask(post("/slow", "content")).status == 503)
            #expect(server.server.statistics.requests == 3)
            await work.release.open()
            #expect(try await first.response().status == 200)
            #expect(try await second.response().status == 200)
            #expect(try await third.ask(get("/")).status == 200)
            #expect(server.server.statistics.pending == 0)
        }
    }

    @Test func aClientThatSendsAheadIsToldOnceAndLeft() async throws {
        let work = Work()
        try await withServer(Self.configuration(1), loops: 1, handler: work.handler) { server in
            let first = try await server.client()
            try await first.send(get("/slow"))
            await work.begun(1)
            let second = try await server.client()
            try await second.send(String(repeating: get("/"), count: 1000))
            let response = try await second.response()
            #expect(response.status == 503)
            #expect(response.fields["connection"] == "close")
            await second.shutdownWrite()
            #expect(try await second.isClosed())
            await work.release.open()
        }
    }

    @Test func whatIsUrgentAndWhatComesInElsewhereIsAnswered() async throws {
        let work = Work()
        try await withServer(Self.configuration(1), loops: 1, handler: work.handler) { server in
            var options = HTTPServer.ServiceOptions(name: "second")
            options.isUrgent = { $0.target.path == "/healthz" }
            let address = try server.server.listen(
                on: .ipv4(bytes: [127, 0, 0, 1], port: 0), options, handler: work.handler)
            let first = try await server.client()
            try await first.send(get("/slow"))
            await work.begun(1)
            #expect(try await server.client().ask(get("/healthz")).status == 503)
            let second = try await Client(address)
            #expect(try await second.ask(get("/")).status == 200)
            try await second.send(get("/slow"))
            await work.begun(2)
            let third = try await Client(address)
            #expect(try await third.ask(get("/")).status == 503)
            #expect(try await third.ask(get("/healthz")).status == 200)
            await work.release.open()
        }
    }

    @Test func aRequestWithoutItsClientOrAfterItsAnswerIsStillPending() async throws {
        let work = Work()
        try await withServer(Self.configuration(2), loops: 1, handler: work.handler) { server in
            let (first, second) = (try await server.client(), try await server.client())
            try await first.send(get("/slow"))
            try await second.send(get("/slow"))
            await work.begun(2)
            await first.reset()
            server.advance(.seconds(15))
            #expect(try await second.response().status == 503)
            #expect(try await server.client().ask(get("/")).status == 503)
            #expect(server.server.statistics.pending == 2)
            await work.release.open()
            while server.server.statistics.pending > 0 { await aMoment() }
            #expect(try await server.client().ask(get("/")).status == 200)
        }
    }

    @Test func theLoopsShareTheLimit() async throws {
        let work = Work()
        try await withServer(Self.configuration(4), loops: 2, handler: work.handler) { server in
            // Connections are spread evenly, so both loops get as many.
            var clients: [Client] = []
            for _ in 0..<6 {
                let client = try await server.client()
                _ = try await client.ask(get("/"))
                clients.append(client)
            }
            for client in clients.prefix(4) { try await client.send(get("/slow")) }
            await work.begun(4)
            for client in clients.suffix(2) { #expect(try await client.ask(get("/")).status == 503) }
            await work.release.open()
            for client in clients.prefix(4) { #expect(try await client.response().status == 200) }
        }
    }
}
