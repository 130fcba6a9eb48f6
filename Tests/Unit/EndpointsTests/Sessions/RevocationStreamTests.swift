import HTTP
import Locks
import Sessions
import Synchronization
import Telemetry
import Testing

@testable import Endpoints

/// The feed as server-sent events.
extension RevocationTests {
    /// Waits for the end of a stream, which takes no longer than the look at its key.
    private func expectEnd(of reading: Task<Void, Never>, _ sentence: String) async throws {
        let hasEnded = Locked(false)
        Task {
            await reading.value
            hasEnded.withLock { $0 = true }
        }
        defer { reading.cancel() }
        try await wait(sentence) { hasEnded.withLock { $0 } }
    }

    /// Collects pieces until the test has what it wants.
    final class Reader: PieceReader {
        let text = Locked("")
        func send(_ piece: [UInt8]) async -> Bool {
            text.withLock { $0 += String(decoding: piece, as: UTF8.self) }
            return true
        }
        func wait(for end: String) async throws {
            let deadline = ContinuousClock.now + .seconds(5)
            while !text.withLock({ $0.contains(end) }) {
                if ContinuousClock.now > deadline {
                    throw NotSeen(description: "\(end) is not in the stream: \(text.withLock { $0 })")
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func stream(
        _ server: EndpointsFixture, _ fields: Fields = Fields(), cursor: String = "", key: String? = nil,
        from endpoints: Endpoints? = nil
    ) async throws -> StreamedResponse {
        var fields = fields
        fields.append("Authorization", "Bearer \(key ?? server.adminKey)")
        fields.append("Accept", "text/event-stream")
        let request = Request(.get, "/admin/v1/revocations" + cursor, fields: fields, body: [])
        let caller = Caller(remoteAddress: "192.0.2.1", listener: .admin)
        guard case .streaming(let reply) = (endpoints ?? server.endpoints).reply(to: request, from: caller),
            case .stream(let stream) = await reply.respond()
        else { throw CancellationError() }
        return stream
    }

    @Test func eventsAreSentAsTheyComeAndResumed() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let other = try await server.logIn(device: "tablet")
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            let first = try await stream(server)
            #expect(first.head.fields.first("Content-Type") == "text/event-stream")
            #expect(first.head.fields.first("Cache-Control") == "no-store")
            let reader = Reader()
            let reading = Task { await first.produce(reader) }
            try await reader.wait(for: "event: caught_up")
            #expect(reader.text.withLock { $0 }.contains(tokens.sessionID))
            #expect(await server.call(.post, "/v1/logout", bearer: other.access).status == 204)
            try await reader.wait(for: other.sessionID)
            reading.cancel()
            await reading.value
            let text = reader.text.withLock { $0 }
            let ids = text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
            #expect(ids.count == 3 && ids[0] == ids[1])
            #expect(ids[0].contains("-\(EndpointsFixture.start + 1_209_600)-"))
            // From the first id on comes the second event, and nothing else; the field is newer than the query.
            for (fields, cursor) in [
                (["Last-Event-ID": ids[0]], ""), (["Last-Event-ID": ids[0]], "?cursor=1"),
                (Fields(), "?cursor=\(ids[0])"),
            ] as [(Fields, String)] {
                let resumed = try await stream(server, fields, cursor: cursor)
                let reader = Reader()
                let reading = Task { await resumed.produce(reader) }
                try await reader.wait(for: "event: caught_up")
                reading.cancel()
                await reading.value
                let text = reader.text.withLock { $0 }
                #expect(text.contains(other.sessionID) && !text.contains(tokens.sessionID))
            }
        }
    }

    @Test(arguments: [true, false]) func aStreamEndsSoonAfterItsKeyAndTellsNothingMore(_ isDeleted: Bool)
        async throws
    {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let made = await server.admin(
                .post, "/admin/v1/admin-keys", #"{"name":"api","scope":"feed","expires_in":60}"#)
            let (key, id) = (try #require(made.string("admin_key")), try #require(made.string("id")))
            let nanoseconds = Atomic<Int64>(0)
            let endpoints = Endpoints(
                context: server.context, metrics: MetricsRegistry(), logger: .silent,
                stopwatch: { nanoseconds.load(ordering: .relaxed) })
            let (stream, reader) = (try await stream(server, key: key, from: endpoints), Reader())
            let reading = Task { await stream.produce(reader) }
            try await reader.wait(for: "event: caught_up")
            // As long as the key is good, so is the stream.
            nanoseconds.store(16_000_000_000, ordering: .relaxed)
            try await waitForAWaiter(at: endpoints.revocations)
            if isDeleted {
                #expect(await server.admin(.delete, "/admin/v1/admin-keys/\(id)").status == 204)
            } else {
                server.moveClock(to: 60)
            }
            nanoseconds.store(32_000_000_000, ordering: .relaxed)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            try await expectEnd(of: reading, "a stream goes on though its key is gone")
            #expect(!reader.text.withLock { $0.contains(tokens.sessionID) })
        }
    }

    /// The history is longer than a page.
    @Test func aNewcomerIsCaughtUpAfterAllThatThereWasAndNoSooner() async throws {
        try await EndpointsFixture.with { server in
            let count = RevocationFeed.pageMax * 2
            for _ in 0..<count { try await Administration(server.context).revokeAllSessions(by: .system) }
            let (stream, reader) = (try await stream(server), Reader())
            let reading = Task { await stream.produce(reader) }
            try await reader.wait(for: "event: caught_up")
            reading.cancel()
            let before = reader.text.withLock { $0 }.split(separator: "event: caught_up")[0]
            #expect(before.split(separator: "\n").count { $0.hasPrefix("data: ") } == count)
            try await expectEnd(of: reading, "a stream goes on that was told to end")
        }
    }

    @Test func aCursorOfAnotherDatabaseGetsNoStream() async throws {
        try await EndpointsFixture.with { server in
            let request = Request(
                .get, "/admin/v1/revocations",
                fields: [
                    "Authorization": "Bearer \(server.adminKey)", "Accept": "text/event-stream",
                    "Last-Event-ID": "1-9999999999-1",
                ], body: [])
            let answer = await server.send(request, on: .admin)
            #expect(answer.status == 410 && answer.string("code") == "unknown_cursor")
        }
    }

    @Test func nothingMoreIsProducedForAReaderThatHasGone() async throws {
        struct Gone: PieceReader {
            func send(_ piece: [UInt8]) async -> Bool { false }
        }
        try await EndpointsFixture.with { server in
            let stream = try await stream(server)
            let reading = Task { await stream.produce(Gone()) }
            try await expectEnd(of: reading, "a stream goes on though nobody reads it")
        }
    }
}
