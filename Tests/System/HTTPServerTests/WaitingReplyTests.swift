import HTTP
import HTTPServer
import Sockets
import Testing

/// What replies that wait may take of the server.
@Suite(.timeLimit(.minutes(5))) struct WaitingReplyTests {
    /// Answers nothing before its client leaves.
    private static let responder: Responder = { _, _ in
        .streaming(
            StreamingReply(longestWait: .seconds(60)) {
                try? await Task.sleep(for: .seconds(3600))
                return .whole(Response(.ok, text: "nothing new"))
            })
    }

    private func client(_ address: SocketAddress) async throws -> Client {
        try await Client(address, timeout: .seconds(5))
    }

    @Test("Waiting requests of one listener leave the other listener its places")
    func listeners() async throws {
        var configuration = HTTPServer.Configuration()
        (configuration.maximumStreamingReplies, configuration.reservedStreamingReplies) = (2, 1)
        try await withServer(configuration, loops: 2) { server in
            let open = try server.server.listen(
                on: SocketAddress("127.0.0.1:0"), HTTPServer.ServiceOptions(), responder: Self.responder)
            var options = HTTPServer.ServiceOptions(name: "admin")
            options.isReserved = true
            let admin = try server.server.listen(on: SocketAddress("127.0.0.1:0"), options, responder: Self.responder)
            var waiting: [Client] = []
            for address in [open, open, admin] {
                let one = try await client(address)
                try await one.send(get("/wait"))
                waiting.append(one)
                try await wait("a place") { server.server.statistics.streaming == waiting.count }
            }
            for address in [open, admin] {
                let refusal = try await client(address).ask(get("/wait"))
                #expect(refusal.status == 503 && refusal.body.contains("too_many_subscribers"))
            }
            #expect(server.server.statistics.reached[.streamingReplies] == 1)
            #expect(server.server.statistics.reached[.reservedStreamingReplies] == 1)
            for one in waiting { await one.close() }
            try await wait("the places come back") { server.server.statistics.streaming == 0 }
        }
    }

    @Test("The content of a request that waits counts as memory until it ends, and too much of it gets 503")
    func content() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumBufferedBytes = 200_000
        try await withServer(configuration, loops: 1) { server in
            let address = try server.server.listen(
                on: SocketAddress("127.0.0.1:0"), HTTPServer.ServiceOptions(), responder: Self.responder)
            let content = String(repeating: "a", count: 60_000)
            let request = "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + content
            var waiting: [Client] = []
            for number in 1...2 {
                let one = try await client(address)
                try await one.send(request)
                waiting.append(one)
                try await wait("a place") { server.server.statistics.streaming == number }
                #expect(server.server.statistics.bufferedBytes >= number * 55_000)
            }
            while waiting.count < 6 {
                let known = server.server.statistics
                let one = try await client(address)
                try await one.send(request)
                waiting.append(one)
                try await wait("a place or a refusal") {
                    server.server.statistics.streaming > known.streaming
                        || (server.server.statistics.reached[.bufferedBytes] ?? 0) > 0
                }
                if (server.server.statistics.reached[.bufferedBytes] ?? 0) > 0 { break }
            }
            #expect((server.server.statistics.reached[.bufferedBytes] ?? 0) > 0)
            for one in waiting { await one.close() }
            try await wait("all memory comes back") {
                server.server.statistics.streaming == 0 && server.server.statistics.bufferedBytes == 0
            }
        }
    }
}
