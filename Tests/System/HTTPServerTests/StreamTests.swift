import HTTP
import HTTPServer
import Locks
import Sockets
import TLS
import TLSFixture
import Testing

/// Answers in pieces, over real sockets. The clock is the test's.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
    /// Sends what the test says, when the test says it.
    private final class Source: Sendable {
        private let pieces = AsyncStream<[UInt8]>.makeStream()
        let started = Gate()
        let ended = Gate()
        let isRefused = Locked(false)
        let first: String

        init(first: String = "") { self.first = first }

        func say(_ text: String) { pieces.continuation.yield(Array(text.utf8)) }
        func say(_ bytes: [UInt8]) { pieces.continuation.yield(bytes) }
        func finish() { pieces.continuation.finish() }

        var responder: Responder {
            { request, _ in
                if request.target.path == "/poll" {
                    return .streaming(
                        StreamingReply(longestWait: .seconds(60)) {
                            try? await Task.sleep(for: .seconds(3600))
                            return .whole(Response(.ok, text: "nothing new"))
                        })
                }
                if request.target.path != "/stream" { return .now(Response(.ok, text: request.target.path)) }
                var head = Response(status: .ok, fields: ["Content-Type": "text/event-stream"])
                head.body = Array(self.first.utf8)
                let stream = StreamedResponse(head: head, heartbeat: Array(":\n\n".utf8)) { reader in
                    await self.started.open()
                    for await piece in self.pieces.stream where !Task.isCancelled {
                        if await !reader.send(piece) {
                            self.isRefused.withLock { $0 = true }
                            break
                        }
                    }
                    await self.ended.open()
                }
                return .streaming(StreamingReply(longestWait: .seconds(60)) { .stream(stream) })
            }
        }
    }

    private func withSource(
        _ source: Source = Source(), _ configuration: HTTPServer.Configuration = HTTPServer.Configuration(),
        _ options: HTTPServer.ServiceOptions = HTTPServer.ServiceOptions(),
        _ body: (ServerUnderTest, SocketAddress) async throws -> Void
    ) async throws {
        try await withServer(configuration, loops: 1) { server in
            let address = try server.server.listen(
                on: SocketAddress("127.0.0.1:0"), options, responder: source.responder)
            // Whatever has failed: no reader waits for a source that says no more.
            defer { source.finish() }
            try await body(server, address)
        }
    }

    private func text(_ client: Client, until end: String) async throws -> String {
        var text = ""
        while !text.contains(end) {
            do {
                text += String(decoding: try await client.receiveAtLeast(1), as: UTF8.self)
            } catch {
                throw NotSeen("\(String(reflecting: end)) did not come, but \(String(reflecting: text)): \(error)")
            }
        }
        return text
    }

    /// A client that soon despairs of what does not come.
    private func client(_ address: SocketAddress) async throws -> Client {
        try await Client(address, timeout: .seconds(5))
    }

    private func expectEnd(of source: Source) async throws {
        try await wait("whoever produces a stream was not told to end") { await source.ended.isOpen }
    }

    private func expectNoReader(at server: ServerUnderTest) async throws {
        try await wait("a stream without a reader is still counted") { server.server.statistics.streaming == 0 }
        try await wait("the connection of a stream without a reader is still open") {
            server.server.statistics.open == 0
        }
    }

    @Test func piecesComeAsTheyAreProducedInChunksAndTheConnectionStays() async throws {
        let source = Source(first: "a")
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            // The second request was sent ahead: it waits for the end of the stream.
            try await client.send(get("/stream") + get("/next"))
            let head = try await text(client, until: "1\r\na\r\n")
            #expect(head.contains("HTTP/1.1 200 OK\r\n"))
            #expect(head.contains("\r\nTransfer-Encoding: chunked\r\n"))
            #expect(!head.contains("Content-Length") && !head.contains("Connection"))
            source.say("hello, world: 18!!")
            #expect(try await text(client, until: "!!\r\n") == "12\r\nhello, world: 18!!\r\n")
            source.finish()
            let rest = try await text(client, until: "/next")
            #expect(rest.hasPrefix("0\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(server.server.statistics.streaming == 0)
        }
    }

    @Test func aClientOfHTTP10ReadsToTheEndOfTheConnection() async throws {
        let source = Source()
        try await withSource(source) { _, address in
            let client = try await self.client(address)
            try await client.send("GET /stream HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
            let head = try await text(client, until: "\r\n\r\n")
            #expect(!head.contains("Transfer-Encoding") && head.contains("Connection: close\r\n"))
            source.say("plain")
            #expect(try await text(client, until: "plain") == "plain")
            source.finish()
            #expect(try await client.isClosed())
        }
    }

    @Test func headGetsTheFieldsAndNothingIsProduced() async throws {
        let source = Source()
        try await withSource(source) { _, address in
            let client = try await self.client(address)
            try await client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" + get("/next"))
            let response = try await client.response(toHead: true)
            #expect(response.fields["transfer-encoding"] == "chunked")
            #expect(try await client.response().body == "/next")
        }
    }

    @Test func silenceBringsHeartbeatsAndNoTimeoutOfRequestsEndsAStream() async throws {
        let source = Source()
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            for _ in 0..<20 {
                server.advance(.seconds(16))
                #expect(try await text(client, until: "\n\n\r\n") == "3\r\n:\n\n\r\n")
            }
            source.say("still here")
            #expect(try await text(client, until: "here\r\n").hasPrefix("a\r\n"))
            #expect(server.server.statistics.handlerTimeouts == 0)
        }
    }

    @Test func aStreamEndsInOrderAfterItsTime() async throws {
        let source = Source()
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            server.advance(.seconds(901))
            #expect(try await text(client, until: "0\r\n\r\n") == "0\r\n\r\n")
            #expect(try await client.ask(get("/next")).body == "/next")
            try await expectEnd(of: source)
        }
    }

    @Test func aStreamIsCutIfItsProducerDoesNotEndWhenItIsToldTo() async throws {
        let never = Gate()
        let responder: Responder = { _, _ in
            let stream = StreamedResponse(head: Response(status: .ok, fields: [:]), heartbeat: [0x3A]) { _ in
                await never.pass()
            }
            return .streaming(StreamingReply(longestWait: .seconds(60)) { .stream(stream) })
        }
        try await withServer(loops: 1) { server in
            let address = try server.server.listen(on: SocketAddress("127.0.0.1:0"), responder: responder)
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            server.advance(.seconds(901))
            try await server.settle()
            server.advance(.seconds(16))
            try await wait("a stream goes on whose producer was told to end") { server.server.statistics.open == 0 }
            await never.open()
            try await expectNoReader(at: server)
        }
    }

    @Test func aClientThatDoesNotReadIsCutAndTheProducerWaitsMeanwhile() async throws {
        let source = Source()
        let piece = [UInt8](repeating: 0x61, count: 1 << 20)
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            for _ in 0..<64 { source.say(piece) }
            // The kernel's buffers are full when something is kept here: one piece, not sixty.
            try await wait("nothing is kept for a client that does not read") {
                server.server.statistics.bufferedBytes > 0
            }
            #expect(server.server.statistics.bufferedBytes < 4 << 20)
            try await wait("a client that does not read is not cut") {
                server.advance(.seconds(31))
                return server.server.statistics.open == 0
            }
            try await expectEnd(of: source)
            #expect(source.isRefused.withLock { $0 })
            #expect(server.server.statistics.reached[.writeTime] == 1)
            #expect(server.server.statistics.bufferedBytes == 0)
        }
    }

    /// The kernel has taken all that it was given, so that no answer is too slow; that it does not arrive is seen by the heartbeats.
    @Test func aClientThatTakesNothingMoreIsFoundOutByTheHeartbeats() async throws {
        let source = Source()
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            source.say([UInt8](repeating: 0x61, count: 16 << 20))
            try await wait("nothing is kept for a client that does not read") {
                server.server.statistics.bufferedBytes > 0
            }
            try await wait("a client that reads does not get everything") {
                _ = try? await client.receiveSome(16_384)
                return server.server.statistics.bufferedBytes == 0
            }
            server.advance(.seconds(16))
            try await server.settle()
            #expect(server.server.statistics.streaming == 1)
            server.advance(.seconds(16))
            try await expectNoReader(at: server)
            try await expectEnd(of: source)
            #expect(server.server.statistics.reached[.writeTime] == 1)
        }
    }

    @Test func aSlowReaderGetsEveryByte() async throws {
        let source = Source()
        try await withSource(source) { _, address in
            let client = try await self.client(address)
            try await client.send("GET /stream HTTP/1.0\r\nHost: a\r\n\r\n")
            _ = try await text(client, until: "\r\n\r\n")
            let piece = [UInt8](repeating: 0x62, count: 300_000)
            for _ in 0..<40 { source.say(piece) }
            source.finish()
            var count = 0
            while let some = try? await client.receiveSome(8192) { count += some }
            #expect(count == 40 * piece.count)
        }
    }

    @Test func aClientThatLeavesIsLeftAtOnce() async throws {
        let source = Source()
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            await client.close()
            try await expectEnd(of: source)
            try await expectNoReader(at: server)
        }
    }

    @Test func moreThanTheLimitAreToldSo() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumStreamingReplies = 1
        let source = Source()
        try await withSource(source, configuration) { server, address in
            let first = try await client(address)
            try await first.send(get("/stream"))
            _ = try await text(first, until: "\r\n\r\n")
            let second = try await client(address)
            let refusal = try await second.ask(get("/stream"))
            try #require(refusal.status == 503 && refusal.body.contains("too_many_subscribers"))
            #expect(refusal.fields["retry-after"] == "1")
            // The connection is still good for something else.
            #expect(try await second.ask(get("/next")).body == "/next")
            await first.close()
            try await wait("the place of who has left is not free") { server.server.statistics.streaming == 0 }
            try await second.send(get("/stream"))
            #expect(try await text(second, until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            #expect(server.server.statistics.reached[.streamingReplies] == 1)
        }
    }

    /// Lets `body` look at a server that stops, and lets it go when that has failed: its clock stands still.
    private func whileStopping(_ server: ServerUnderTest, _ body: () async throws -> Void) async throws {
        let stopping = Task { await server.server.stop(deadline: .seconds(60)) }
        do {
            try await body()
            try await wait("a server whose clients have gone does not stop") { server.server.statistics.open == 0 }
        } catch {
            server.advance(.seconds(61))
            await stopping.value
            throw error
        }
        await stopping.value
    }

    @Test func aStopEndsStreamsInOrder() async throws {
        let source = Source()
        try await withSource(source) { server, address in
            let client = try await self.client(address)
            try await client.send(get("/stream"))
            _ = try await text(client, until: "\r\n\r\n")
            try await whileStopping(server) { () async throws in
                #expect(try await text(client, until: "0\r\n\r\n") == "0\r\n\r\n")
                // The end of the connection comes by itself, and no clock brings it.
                #expect(try await client.isClosed())
                await client.close()
            }
        }
    }

    /// Its grace lets an idle connection ask once more. Were that a stream, the server would not stop before its deadline.
    @Test func aRequestWhileTheServerStopsGetsAnEndAndNoWait() async throws {
        let source = Source()
        try await withSource(source) { server, address in
            let (poll, stream) = (try await client(address), try await client(address))
            for client in [poll, stream] { #expect(try await client.ask(get("/next")).body == "/next") }
            try await whileStopping(server) { () async throws in
                await server.isRefusing()
                try await stream.send(get("/stream"))
                #expect(try await text(stream, until: "0\r\n\r\n").contains("Connection: close\r\n"))
                try await poll.send(get("/poll"))
                #expect(try await poll.response().body == "nothing new")
                for client in [poll, stream] { await client.close() }
            }
        }
    }

    @Test func aLongPollOutlivesTheTimeoutOfRequestsButNotItsOwn() async throws {
        let (release, never) = (Gate(), Gate())
        let responder: Responder = { request, _ in
            .streaming(
                StreamingReply(longestWait: .seconds(60)) {
                    await (request.target.path == "/poll" ? release : never).pass()
                    return .whole(Response(.ok, text: "event"))
                })
        }
        try await withServer(loops: 1) { server in
            let address = try server.server.listen(on: SocketAddress("127.0.0.1:0"), responder: responder)
            let (client, other) = (try await self.client(address), try await self.client(address))
            try await client.send(get("/poll"))
            try await other.send(get("/never"))
            try await wait("two long polls are not counted") { server.server.statistics.streaming == 2 }
            server.advance(.seconds(59))
            try await server.settle()
            await release.open()
            #expect(try await client.response().body == "event")
            server.advance(.seconds(17))
            #expect(try await other.response().status == 503)
            await never.open()
        }
    }

    @Test func streamsGoOverTLS() async throws {
        let source = Source(first: "first")
        var options = HTTPServer.ServiceOptions()
        options.tls = TLSContextHolder(try Certificates.shared.context())
        try await withSource(source, HTTPServer.Configuration(), options) { server, address in
            let client = try await TLSClient(address)
            #expect(try await client.ask(get("/stream"), until: "first\r\n").hasPrefix("HTTP/1.1 200"))
            // A heartbeat is in a record of its own; that its bytes are more than the text is not held against the client.
            for _ in 0..<4 {
                server.advance(.seconds(16))
                #expect(try await client.receive(until: ":\n\n\r\n") == "3\r\n:\n\n\r\n")
            }
            source.say("last")
            source.finish()
            #expect(try await client.receive(until: "0\r\n\r\n") == "4\r\nlast\r\n0\r\n\r\n")
        }
    }
}
