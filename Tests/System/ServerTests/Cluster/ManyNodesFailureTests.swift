import Glibc
import HTTP
import JSON
import PostgresFixture
import Repository
import Testing

@testable import sojourn

/// Promises 1 and 3 on three processes: whichever of them dies, and whatever becomes of PostgreSQL, an app sees an answer or a
/// retry, and no session ends.
@Suite("Many nodes: failures", .timeLimit(.minutes(5)))
struct ManyNodesFailureTests {
    /// Longer than the store waits for a decision.
    private static let patience = Duration.seconds(12)

    private func stays(_ nodes: ManyNodes, _ count: Int = 12) throws -> [ManyNodes.Stay] {
        try (0..<count).flatMap { try nodes.createUser("user-\($0)", devices: 1, at: nodes.nodes[$0 % 3]) }
    }

    private func show(_ what: String, _ result: ManyNodesLoad.Result) {
        let text =
            "\(what): \(result.refreshed) refreshes, \(result.refused) refused, \(result.broken) broken, "
            + "longest wait \(result.longestWait)\n"
        _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }

    @Test("a node that is killed costs a retry at another one, and nothing that was acknowledged", arguments: [0, 120])
    func killedNode(rotationInterval: Int64) async throws {
        let nodes = try await ManyNodes(on: PostgresServer.shared.newDatabase())
        try nodes.set(["rotation_interval": .integer(rotationInterval)], at: nodes.nodes[0])
        var living = nodes.nodes
        let load = ManyNodesLoad(try stays(nodes), at: living)
        for round in 0..<Lane.rounds(push: 3, full: 6) {
            await load.awaitRefreshes(Int.random(in: 50...150))
            await living[round % 3].kill()
            // The other two carry on.
            await load.awaitRefreshes(50)
            living[round % 3] = try await nodes.restart(round % 3)
            load.replace(round % 3, by: living[round % 3])
        }
        let result = await load.end()
        show("nodes killed", result)
        #expect(result.failures == [])
        #expect(result.broken > 0)
        #expect(result.refused == 0)
        // A refresh that was acknowledged and lost would show as a token newer than the database.
        #expect(try ManyNodes.betrayals(living[0]) == (0, 0))
    }

    @Test("while PostgreSQL is down there is 503 with Retry-After, and then every session goes on")
    func restartedDatabase() async throws {
        let server = try PostgresServer()
        let nodes = try await ManyNodes(on: server.newDatabase())
        try nodes.set(["rotation_interval": .integer(0)], at: nodes.nodes[0])
        let load = ManyNodesLoad(try stays(nodes), at: nodes.nodes)
        for round in 0..<Lane.rounds(push: 3, full: 6) {
            await load.awaitRefreshes(100)
            switch round % 3 {
            case 0: try server.control("restart", "-m", "immediate")
            case 1: try server.control("restart", "-m", "fast")
            default:
                try server.control("stop", "-m", "immediate")
                let refused = load.sight.refused
                await load.wait { $0.refused >= refused + 50 }
                // The keys are published all the same.
                for node in nodes.nodes { #expect(node.call(.get, "/oauth/jwks")?.status == 200) }
                #expect(nodes.nodes[0].call(.get, "/readyz")?.status == 503)
                try server.control("start")
            }
        }
        await load.awaitRefreshes(100)
        let result = await load.end()
        show("PostgreSQL restarted", result)
        #expect(result.failures == [])
        #expect(result.broken == 0)
        #expect(result.refused > 0)
        #expect(result.longestWait < Self.patience)
        #expect(try ManyNodes.betrayals(nodes.nodes[0]) == (0, 0))
    }

    @Test(
        "while PostgreSQL stands still, 503 comes after little more than ten seconds, and then every session goes on")
    func frozenDatabase() async throws {
        let server = try PostgresServer()
        let nodes = try await ManyNodes(on: server.newDatabase())
        try nodes.set(["rotation_interval": .integer(0)], at: nodes.nodes[0])
        let load = ManyNodesLoad(try stays(nodes), at: nodes.nodes)
        await load.awaitRefreshes(100)
        // More often than there are clients: some wait behind others for a connection that leads nowhere.
        try await server.whileFrozen {
            await load.wait { $0.refused >= 1 }
            Self.expectLoopsToServe(nodes)
            await load.wait { $0.refused >= Lane.rounds(push: 13, full: 36) }
        }
        await load.awaitRefreshes(100)
        let result = await load.end()
        show("PostgreSQL frozen", result)
        #expect(result.failures == [])
        #expect(result.broken == 0)
        #expect(result.longestWait < Self.patience)
        #expect(try ManyNodes.betrayals(nodes.nodes[0]) == (0, 0))
    }

    /// While others wait for the database, what needs none is answered by every loop of every node, and the keys are published.
    private static func expectLoopsToServe(_ nodes: ManyNodes) {
        for node in nodes.nodes {
            for _ in 0..<8 {
                let begin = ContinuousClock.now
                #expect(node.call(.get, "/healthz")?.status == 200)
                // A call that waits for the database waits for ten seconds.
                #expect(ContinuousClock.now - begin < .seconds(4))
            }
            #expect(node.call(.get, "/oauth/jwks")?.status == 200)
        }
    }

    @Test("a standby that is promoted without the last seconds ends no session, and every node believes what it holds")
    func lostSeconds() async throws {
        let primary = try PostgresServer()
        try primary.run("CREATE SCHEMA app")
        let standby = try PostgresServer(following: primary)
        let nodes = try await ManyNodes(on: primary.url(schema: "app", or: standby))
        try nodes.set(["rotation_interval": .integer(0), "refresh_after": .integer(100)], at: nodes.nodes[0])
        let stays = try stays(nodes)
        let load = ManyNodesLoad(stays, at: nodes.nodes)
        await load.awaitRefreshes(100)
        try standby.catchUp(with: primary)
        try standby.stopFollowing()
        // What is acknowledged from here on will be lost.
        try nodes.set(["refresh_after": .integer(200)], at: nodes.nodes[0])
        let lostKey = nodes.nodes[1].admin(.post, "/keys/rotate", .object(["immediately": .bool(true)]))?.json["kid"]
        await load.awaitRefreshes(200)
        for node in nodes.nodes { #expect(try Self.refreshAfter(nodes, at: node) == 200) }
        try primary.control("stop", "-m", "immediate")
        try standby.control("promote")
        await load.awaitRefreshes(200)
        for node in nodes.nodes {
            #expect(try Self.refreshAfter(nodes, at: node) == 100)
            let keys = node.call(.get, "/oauth/jwks")?.json["keys"]?.elements.map { $0["kid"] }
            #expect(keys?.count == 2 && keys?.contains(lostKey) == false)
        }
        // The changes after it are the successors of those that were lost, and are not taken for them.
        for seconds in [300, 400, 500] as [Int64] {
            let body = JSONValue.object(["refresh_after": .integer(seconds)])
            let change = ManyNodes.patiently { nodes.nodes[2].admin(.put, "/settings/sessions", body) }
            #expect(change?.status == 200)
            for node in nodes.nodes { #expect(try Self.refreshAfter(nodes, at: node) == seconds) }
        }
        let result = await load.end()
        show("a standby promoted", result)
        #expect(result.failures == [])
        #expect(result.broken == 0)
        #expect(result.longestWait < Self.patience)
        let (restored, reused) = try ManyNodes.betrayals(nodes.nodes[0])
        #expect(restored > 0)
        #expect(reused == 0)
    }

    /// What a refresh at that node says of the setting.
    private static func refreshAfter(_ nodes: ManyNodes, at node: CrashServer) throws -> Int64 {
        let body = JSONValue.object(["device": .object(["id": .string("probe")])])
        let stay = try ManyNodes.Stay(
            ManyNodes.patiently { node.admin(.post, "/users/username:user-0/sessions", body) })
        let answer = ManyNodes.patiently { node.refresh(stay.refresh) }
        let issued = try #require(answer?.json["issued_at"]?.integer)
        return try #require(answer?.json["refresh_after"]?.integer) - issued
    }
}
