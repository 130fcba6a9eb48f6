import Cryptography
import FoundationEssentials
import HTTP
import HostileServer
import JSON
import Locks
import PostgresFixture
import Testing

@testable import Deliveries
@testable import Server
@testable import sojourn

/// Servers that are killed again and again while they tell two receivers what happens: each receiver sees every event, and
/// sees each for the first time in the order of the trail.
@Suite("Webhooks: nodes that are killed", .timeLimit(.minutes(2)))
struct WebhookCrashTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let kinds = ["mails": ["session_started"], "audit": ["session_started", "user_created"]]

    /// What one target has seen.
    private final class Receiver: Sendable {
        /// The numbers of the events, each where it came for the first time.
        let arrivals = Locked<[Int64]>([])
        /// Messages without a good signature.
        let unsigned = Locked(0)
        let server: HostileServer

        /// Takes what comes, and now and then keeps silent after that.
        init(silentAt turn: Int) {
            let (arrivals, unsigned, count) = (arrivals, unsigned, Locked(0))
            server = HostileServer { request in
                if let number = WebhookCrashTests.number(request) {
                    arrivals.withLock { if !$0.contains(number) { $0.append(number) } }
                } else {
                    unsigned.withLock { $0 += 1 }
                }
                let isSilent = count.withLock { count in
                    count += 1
                    return count % turn == 0
                }
                return isSilent ? [] : [.say("HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n")]
            }
        }
    }

    /// The number of the event that a message tells of, if its signature is good.
    private static func number(_ request: String) -> Int64? {
        let parts = request.split(separator: "\r\n\r\n", maxSplits: 1)
        guard parts.count == 2, let secrets = WebhookSecrets.parse(secret) else { return nil }
        func field(_ name: String) -> String {
            let line = parts[0].split(separator: "\r\n").first { $0.hasPrefix(name + ": ") } ?? ""
            return String(line.dropFirst(name.count + 2))
        }
        let signature = WebhookSecrets.signature(
            field("webhook-id"), field("webhook-timestamp"), Array(parts[1].utf8), secrets: secrets)
        guard field("webhook-signature") == signature else { return nil }
        return JSONValue(text: Array(parts[1].utf8))?["data"]?["event_id"]?.string.flatMap { Int64($0) }
    }

    /// The servers of one database, one of which is killed at a time.
    private struct Fixture: Sendable {
        let folders: [StartingFolder]
        let database: String
        let environment: [String: String]
        let receivers = ["mails": Receiver(silentAt: 173), "audit": Receiver(silentAt: 149)]

        init(nodes: Int, database: String) {
            folders = (0..<nodes).map { _ in StartingFolder() }
            self.database = database
            var environment = [
                "SOJOURN_CONFIG": "c.json5", "SOJOURN_ROOT_KEY": Hex.encode(RandomSource.system.bytes(32)),
            ]
            for name in receivers.keys { environment["SOJOURN_WEBHOOK_SECRET_\(name.uppercased())"] = secret }
            self.environment = environment
            let entries = receivers.map { name, receiver in
                "{name: '\(name)', url: '\(receiver.server.origin)/\(name)', events: \(kinds[name] ?? [])}"
            }
            for folder in folders { folder.write("c.json5", "{webhooks: [\(entries.joined(separator: ", "))]}") }
        }

        func start(_ index: Int) async throws -> CrashServer {
            try await CrashServer(folders[index], environment: environment, database: database)
        }
    }

    /// Makes users with a session each, at whatever node lives, until it is told to stop. Returns the sessions that were
    /// acknowledged.
    private static func load(
        _ name: String, _ nodes: Locked<[CrashServer?]>, _ isOver: Locked<Bool>
    ) async throws -> Set<String> {
        var sessions: Set<String> = []
        for number in 0..<400 where !isOver.withLock({ $0 }) {
            let alive = nodes.withLock { $0.compactMap { $0 } }
            if let node = alive.isEmpty ? nil : alive[number % alive.count] {
                let user = "\(name)-\(number)"
                _ = node.admin(.post, "/users", .object(["username": .string(user)]))
                let answer = node.admin(
                    .post, "/users/username:\(user)/sessions", .object(["device": .object(["id": .string("phone")])]))
                if let answer, answer.status == 200, let id = answer.json["session_id"]?.string { sessions.insert(id) }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return sessions
    }

    /// The events of the trail: their numbers, kinds and sessions.
    private static func trail(_ node: CrashServer) throws -> [(number: Int64, kind: String, session: String?)] {
        var (events, cursor) = ([(number: Int64, kind: String, session: String?)](), "")
        while true {
            let page = try #require(node.admin(.get, "/events?limit=200" + (cursor.isEmpty ? "" : "&cursor=\(cursor)")))
            for event in page.json["items"]?.elements ?? [] {
                let number = try #require(event["id"]?.integer)
                events.append((number, event["event"]?.string ?? "", event["session_id"]?.string))
            }
            guard let next = page.json["next_cursor"]?.string else { return events }
            cursor = next
        }
    }

    private func run(_ stage: Fixture, rounds: Int, after kill: @escaping @Sendable () throws -> Void) async throws {
        let (nodes, isOver) = (Locked<[CrashServer?]>([]), Locked(false))
        for index in stage.folders.indices {
            let node = try await stage.start(index)
            nodes.withLock { $0.append(node) }
        }
        // What happens before a webhook is there is none of its business.
        let first = try #require(nodes.withLock { $0[0] })
        while first.admin(.post, "/users", .object(["username": .string(UUID().uuidString)])) != nil,
            stage.receivers["audit"]?.arrivals.withLock({ $0.isEmpty }) != false
        { try await Task.sleep(for: .milliseconds(50)) }
        var sessions: Set<String> = []
        try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for name in ["a", "b"] { group.addTask { try await Self.load(name, nodes, isOver) } }
            for round in 0..<rounds {
                try await Task.sleep(for: .milliseconds(300 + 70 * (round % 4)))
                let index = round % stage.folders.count
                let victim = nodes.withLock { nodes in
                    defer { nodes[index] = nil }
                    return nodes[index]
                }
                await victim?.kill()
                try kill()
                let next = try await stage.start(index)
                nodes.withLock { $0[index] = next }
            }
            isOver.withLock { $0 = true }
            for try await acknowledged in group { sessions.formUnion(acknowledged) }
        }
        let node = try #require(nodes.withLock { $0.compactMap { $0 }.first })
        let trail = try Self.trail(node)
        #expect(sessions.isSubset(of: Set(trail.compactMap { $0.kind == "session_started" ? $0.session : nil })))
        #expect(sessions.count > 40)
        for (name, receiver) in stage.receivers {
            let begin = receiver.arrivals.withLock { $0.first } ?? 0
            let wanted = trail.filter { (Self.kinds[name] ?? []).contains($0.kind) && $0.number >= begin }.map(\.number)
            let deadline = ContinuousClock.now + .seconds(20)
            while receiver.arrivals.withLock({ $0.count }) < wanted.count, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
            }
            let arrived = receiver.arrivals.withLock { $0 }
            #expect(arrived == wanted, "\(name): \(arrived.count) of \(wanted.count)")
            #expect(receiver.unsigned.withLock { $0 } == 0)
        }
        for case let node? in nodes.withLock({ $0 }) { await node.kill() }
        for receiver in stage.receivers.values { receiver.server.stop() }
    }

    @Test("the only node, on SQLite: the process that opens the file goes on at once")
    func sqlite() async throws {
        try await run(Fixture(nodes: 1, database: "sqlite:db"), rounds: 8) {}
    }

    @Test("two nodes on PostgreSQL, of which either may be the one that sends; its lease is let run out")
    func postgres() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        try await run(Fixture(nodes: 2, database: url), rounds: 6) {
            // Half a minute later. A node that lives and believes that it still has the lease is met as well.
            try PostgresServer.shared.run("UPDATE deliveries SET held_until = 0", schema: schema)
        }
    }
}
