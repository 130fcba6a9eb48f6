import Dispatch
import FoundationEssentials
import HTTP
import JSON
import PostgresFixture
import Testing

@testable import sojourn

/// The feed of revocations on processes that share a database: whatever node acknowledges an ending, every follower of the feed of any
/// node is told of it, once and in one order.
@Suite("Many nodes: the feed", .timeLimit(.minutes(5)))
struct ManyNodesFeedTests {
    /// Follows the feed of a node by long polls until it has so many ends of sessions.
    private static func follow(_ node: CrashServer, until count: Int) async throws -> [String] {
        try await onThread {
            var (ids, cursor) = ([String](), "")
            while ids.count < count {
                let page = node.admin(.get, "/revocations?wait=30&limit=7" + cursor)
                guard let page, page.status == 200, let next = page.json["next_cursor"]?.string else {
                    throw ManyNodes.Refused(answer: "\(page?.status ?? 0) \(page?.json ?? .null)")
                }
                ids += (page.json["items"]?.elements ?? []).compactMap { $0["sid"]?.string }
                cursor = "&cursor=" + next
            }
            return ids
        }
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "follower").async { continuation.resume(with: Result { try body() }) }
        }
    }

    @Test(
        "the feed is the same and complete at every node, while all of them end sessions, and behind PgBouncer",
        arguments: [false, true])
    func everyFollowerSeesAll(isBehindPgBouncer: Bool) async throws {
        let nodes = try await ManyNodes(
            on: isBehindPgBouncer ? PgBouncer.shared.newDatabase() : PostgresServer.shared.newDatabase())
        let count = 120
        var stays: [(node: CrashServer, stay: ManyNodes.Stay)] = []
        for (index, node) in nodes.nodes.enumerated() {
            for stay in try nodes.createUser("u\(index)", devices: count / 3, at: node) { stays.append((node, stay)) }
        }
        let seen = try await withThrowingTaskGroup(of: [String].self) { group in
            for node in nodes.nodes { group.addTask { try await Self.follow(node, until: count) } }
            for part in 0..<6 {
                let mine = stays.indices.filter { $0 % 6 == part }.map { stays[$0] }
                group.addTask {
                    try await Self.onThread {
                        for (index, (node, stay)) in mine.enumerated() {
                            // By the session, by its token, and by its device: three ways through the store.
                            let answer =
                                switch index % 3 {
                                case 0: node.admin(.delete, "/sessions/\(stay.sessionID)")
                                case 1: node.call(.post, "/v1/logout", bearer: stay.access)
                                default:
                                    node.call(.delete, "/v1/me/devices/d\(Self.device(of: stay))", bearer: stay.access)
                                }
                            guard answer?.status == 204 else {
                                throw ManyNodes.Refused(answer: "\(answer?.status ?? 0)")
                            }
                        }
                        return []
                    }
                }
            }
            return try await group.reduce(into: [[String]]()) { if !$1.isEmpty { $0.append($1) } }
        }
        #expect(seen.count == 3)
        for ids in seen {
            #expect(ids == seen[0])
            #expect(Set(ids) == Set(stays.map(\.stay.sessionID)) && ids.count == count)
        }
        for node in nodes.nodes { await node.kill() }
    }

    private static func device(of stay: ManyNodes.Stay) -> String {
        let claims = stay.access.split(separator: ".").dropFirst().first.flatMap { part in
            Data(base64Encoded: part.replacing("-", with: "+").replacing("_", with: "/").padded)
        }
        return claims.flatMap { JSONValue(text: Array($0))?["device_id"]?.string }.map { String($0.dropFirst()) } ?? "?"
    }
}

extension Substring {
    fileprivate var padded: String { String(self) + String(repeating: "=", count: (4 - count % 4) % 4) }
}
extension String {
    fileprivate var padded: String { self[...].padded }
}
