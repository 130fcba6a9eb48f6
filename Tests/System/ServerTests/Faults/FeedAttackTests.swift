import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Locks
import PostgresFixture
import Sockets
import Testing

@testable import sojourn

/// The feed of revocations against followers that ask too much of it, and through everything that ends a stream.
@Suite("The feed under attack", .timeLimit(.minutes(5)))
struct FeedAttackTests {
    /// A follower that says and reads no more than the test wants.
    private final class Peer {
        private let socket: ClientSocket
        private(set) var text = ""

        init(_ address: String) throws { socket = try ClientSocket(to: SocketAddress(address), timeout: .seconds(20)) }

        func send(_ bytes: [UInt8]) throws { try socket.send(bytes) }

        /// Reads until `end` has come.
        func read(until end: String) throws {
            while !text.contains(end) {
                let bytes = try socket.receive()
                if bytes.isEmpty {
                    throw ManyNodes.Refused(answer: "the end instead of \(end), after \(text.suffix(300))")
                }
                text += String(decoding: bytes, as: UTF8.self)
            }
        }

        /// Reads what there is, to the end of the connection, however that ends.
        func readRest() {
            while let bytes = try? socket.receive(), !bytes.isEmpty { text += String(decoding: bytes, as: UTF8.self) }
        }
    }

    private static func logIn(_ device: String, at server: CrashServer) throws -> ManyNodes.Stay {
        let body = JSONValue.object(["device": .object(["id": .string(device)])])
        return try ManyNodes.Stay(server.admin(.post, "/users/username:anna/sessions", body))
    }

    private static func addUser(at server: CrashServer) throws {
        try #require(server.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
    }

    private static func end(_ stay: ManyNodes.Stay, at server: CrashServer) throws {
        let answer = ManyNodes.patiently { server.admin(.delete, "/sessions/\(stay.sessionID)") }
        try #require(answer?.status == 204)
    }

    private static func metrics(_ server: CrashServer) throws -> String {
        let peer = try Peer(server.adminAddress)
        try peer.send(
            Array(
                ("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer \(CrashServer.adminKey)"
                    + "\r\n\r\n").utf8))
        peer.readRest()
        return peer.text
    }

    @Test("one subscriber too many is refused, and all the others hear of what ends")
    func tooManySubscribers() async throws {
        DescriptorLimit.raise(to: 4096)
        let folder = StartingFolder()
        let server = try await CrashServer(folder)
        try Self.addUser(at: server)
        let stay = try Self.logIn("phone", at: server)
        var peers: [Peer] = []
        for _ in 0..<512 {
            let peer = try Peer(server.adminAddress)
            try peer.send(FeedSubscriber.request())
            peers.append(peer)
        }
        for peer in peers { try peer.read(until: "event: caught_up") }
        let late = try Peer(server.adminAddress)
        try late.send(FeedSubscriber.request())
        try late.read(until: "}")
        #expect(late.text.hasPrefix("HTTP/1.1 503") && late.text.contains("\"too_many_subscribers\""))
        #expect(late.text.contains("\r\nRetry-After: "))
        // A long poll is a subscriber, too; a page is not.
        #expect(server.admin(.get, "/revocations?wait=1")?.json["code"]?.string == "too_many_subscribers")
        #expect(server.admin(.get, "/revocations")?.status == 200)
        let begin = ContinuousClock.now
        try Self.end(stay, at: server)
        for peer in peers { try peer.read(until: stay.sessionID) }
        #expect(ContinuousClock.now - begin < .seconds(10))
        let metrics = try Self.metrics(server)
        #expect(metrics.contains("sojourn_http_subscribers 512\n"))
        #expect(metrics.contains("sojourn_limit_reached_total{limit=\"limits.admin_subscribers\"} 2\n"))
        peers.removeLast()
        // A follower that leaves makes room.
        let subscriber = FeedSubscriber(server.adminAddress)
        #expect(await subscriber.wait { $0.sessions == [stay.sessionID] })
        subscriber.end()
        await server.kill()
    }

    /// A server with so many ends of sessions in its feed.
    private func serverWithHistory(_ folder: StartingFolder, _ count: Int) async throws -> CrashServer {
        let environment = ["SOJOURN_LIMITS_WRITE_TIMEOUT_SECONDS": "2"]
        let first = try await CrashServer(folder, environment: environment)
        try Self.addUser(at: first)
        await first.kill()
        let now = Int(Date().timeIntervalSince1970)
        #expect(
            folder.execute(
                """
                WITH RECURSIVE n (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 1000 + \(count))
                INSERT INTO revocations (number, kind, revoked_at, matters_until, session_id)
                SELECT i, 'session_ended', \(now), \(now + 86_400), randomblob(16) FROM n;
                UPDATE sqlite_sequence SET seq = 1000 + \(count) WHERE name = 'audit_events';
                """))
        return try await CrashServer(folder, environment: environment)
    }

    /// In kilobytes.
    private static func memory(of folder: StartingFolder) throws -> Int {
        let ready = try #require(folder.text("ready.json").flatMap { JSONValue(text: Array($0.utf8)) })
        let pid = try #require(ready["pid"]?.integer)
        let status = try #require(FileManager.default.contents(atPath: "/proc/\(pid)/status"))
        let line = try #require(
            String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    @Test("subscribers that do not read are cut, cost little, delay no other, and can go on where they were")
    func stalledSubscribers() async throws {
        let (folder, count) = (StartingFolder(), 40_000)
        let server = try await serverWithHistory(folder, count)
        let stay = try Self.logIn("phone", at: server)
        let before = try Self.memory(of: folder)
        var stalled: [Peer] = []
        for _ in 0..<16 {
            let peer = try Peer(server.adminAddress)
            try peer.send(FeedSubscriber.request())
            stalled.append(peer)
        }
        let subscriber = FeedSubscriber(server.adminAddress)
        #expect(await subscriber.wait { $0.sessions.count == count && $0.caughtUp == 1 })
        let begin = ContinuousClock.now
        try Self.end(stay, at: server)
        #expect(await subscriber.wait { $0.sessions.last == stay.sessionID })
        #expect(ContinuousClock.now - begin < .seconds(1))
        let growth = try Self.memory(of: folder) - before
        #expect(growth < 24_000, "\(growth) KB for 16 who do not read")
        let deadline = ContinuousClock.now + .seconds(20)
        while try !Self.metrics(server).contains("sojourn_http_subscribers 1\n"), ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(50))
        }
        let metrics = try Self.metrics(server)
        #expect(metrics.contains("sojourn_http_subscribers 1\n"))
        #expect(metrics.contains("sojourn_limit_reached_total{limit=\"limits.write_timeout_seconds\"} 16\n"))
        #expect(metrics.contains("sojourn_http_buffered_bytes 0\n"))
        for peer in stalled {
            peer.readRest()
            // Not the end of a stream that is complete.
            #expect(!peer.text.hasSuffix("0\r\n\r\n") && !peer.text.contains("caught_up"))
            // The last id with an event that has come whole.
            let events = peer.text.split(separator: "\n\n").dropLast().compactMap {
                $0.firstRange(of: "id: ").map { $0.upperBound }
            }
            #expect(events.count > 100 && events.count < count)
            let cursor = String(peer.text[try #require(events.last)...].prefix { $0 != "\n" })
            let next = server.admin(.get, "/revocations?limit=1&cursor=\(cursor)")?.json["items"]?.elements.first?[
                "sid"]?
                .string
            #expect(next == subscriber.seen.sessions[events.count])
        }
        subscriber.end()
        await server.kill()
    }

    /// Ends one session after the other until it is told to stop. Returns those with an acknowledged end.
    private static func endAll(
        _ stays: [ManyNodes.Stay], at server: @escaping @Sendable (Int) -> CrashServer
    ) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "ending").async {
                continuation.resume(
                    with: Result {
                        var acknowledged: [String] = []
                        for (index, stay) in stays.enumerated() {
                            var answer: CrashServer.Answer?
                            let deadline = ContinuousClock.now + .seconds(30)
                            // A call without an answer is repeated.
                            while answer?.status != 204, ContinuousClock.now < deadline {
                                answer = server(index).admin(.delete, "/sessions/\(stay.sessionID)")
                                if answer?.status != 204 { usleep(5000) }
                            }
                            guard answer?.status == 204 else {
                                throw ManyNodes.Refused(answer: "\(answer?.status ?? 0)")
                            }
                            acknowledged.append(stay.sessionID)
                        }
                        return acknowledged
                    })
            }
        }
    }

    @Test(
        "while nodes are stopped and started one after the other, streams end in order, go on elsewhere, and miss nothing"
    )
    func rollingRestart() async throws {
        let nodes = try await ManyNodes(2, on: PostgresServer.shared.newDatabase())
        let living = Locked(nodes.nodes)
        let stays = try nodes.createUser("anna", devices: 120, at: nodes.nodes[0])
        let subscribers = nodes.nodes.map { FeedSubscriber($0.adminAddress) }
        for subscriber in subscribers { #expect(await subscriber.wait { $0.caughtUp == 1 }) }
        async let acknowledged = Self.endAll(stays) { index in living.withLock { $0[index % 2] } }
        for round in 0..<4 {
            let index = round % 2
            #expect(await subscribers[0].wait { $0.sessions.count >= 25 * (round + 1) })
            let (old, other) = living.withLock { ($0[index], $0[1 - index]) }
            living.withLock { $0[index] = other }
            for subscriber in subscribers { subscriber.move(to: other.adminAddress) }
            let poll = try Peer(old.adminAddress)
            try poll.send(
                Array(
                    ("GET /admin/v1/revocations?wait=60&cursor=\(try Self.lastCursor(other)) HTTP/1.1\r\nHost: a\r\n"
                        + "Authorization: Bearer \(CrashServer.adminKey)\r\n\r\n").utf8))
            let begin = ContinuousClock.now
            #expect(await old.stop() == "")
            // The grace of idle connections, and no more: the stop does not wait for the end of a stream.
            #expect(ContinuousClock.now - begin < .seconds(6))
            poll.readRest()
            #expect(poll.text.hasPrefix("HTTP/1.1 200") && poll.text.contains("\"next_cursor\""))
            let next = try await nodes.restart(index)
            living.withLock { $0[index] = next }
        }
        let all = try await acknowledged
        for subscriber in subscribers {
            #expect(await subscriber.wait { $0.sessions.count >= all.count })
            let seen = subscriber.seen
            #expect(seen.sessions == all && seen.cut == 0 && seen.resets == 0)
            #expect(seen.ended > 1)
            subscriber.end()
        }
        for node in living.withLock({ $0 }) { await node.kill() }
    }

    private static func lastCursor(_ node: CrashServer) throws -> String {
        var cursor = ""
        while true {
            let page = node.admin(.get, "/revocations?limit=200&cursor=\(cursor)")
            cursor = try #require(page?.json["next_cursor"]?.string)
            if page?.json["has_more"] == .bool(false) { return cursor }
        }
    }

    @Test(
        "a follower of a database that goes back to an older state begins anew, and misses no end of the new one",
        arguments: [false, true])
    func olderDatabase(isStandby: Bool) async throws {
        let server = try PostgresServer()
        try server.run("CREATE SCHEMA app")
        let standby = isStandby ? try PostgresServer(following: server) : nil
        let nodes = try await ManyNodes(
            1, on: standby.map { server.url(schema: "app", or: $0) } ?? server.url(schema: "app"))
        let first = nodes.nodes[0]
        let stays = try nodes.createUser("anna", devices: 4, at: first)
        try Self.end(stays[0], at: first)
        // The first look of a node that starts now is at this end, which the standby has as well.
        await first.kill()
        let node = try await nodes.restart(0)
        let subscriber = FeedSubscriber(node.adminAddress)
        #expect(await subscriber.wait { $0.sessions == [stays[0].sessionID] && $0.caughtUp == 1 })
        if let standby {
            try standby.catchUp(with: server)
            try standby.stopFollowing()
        }
        let last = try server.run("SELECT max(number) FROM revocations", schema: "app").prefix { $0.isNumber }
        for stay in stays[1...2] { try Self.end(stay, at: node) }
        #expect(await subscriber.wait { $0.sessions == stays.prefix(3).map(\.sessionID) })
        if let standby {
            try server.control("stop", "-m", "immediate")
            try standby.control("promote")
        } else {
            // No connection breaks: nothing but the rows shows it.
            try server.run(
                """
                DELETE FROM revocations WHERE number > \(last);
                UPDATE sessions SET ended_at = NULL, ended_reason = NULL, revision = revision + 1
                    WHERE id <> '\(stays[0].sessionID)';
                SELECT setval('revocations_number_seq', \(last));
                """, schema: "app")
        }
        // As many as were lost, so that the numbers are used up again.
        for stay in stays[2...3] { try Self.end(stay, at: node) }
        if isStandby {
            // The node that acknowledged an end before the fail-over ends the session again, and none twice.
            let all = stays.map(\.sessionID).sorted()
            #expect(await subscriber.wait { $0.sessions.sorted() == all }, "\(subscriber.seen)")
        } else {
            let expected = [stays[0], stays[2], stays[3]].map(\.sessionID)
            #expect(await subscriber.wait { $0.sessions == expected }, "\(subscriber.seen)")
        }
        #expect(subscriber.seen.resets == 1)
        subscriber.end()
        await node.kill()
    }
}
