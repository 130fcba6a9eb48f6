import FoundationEssentials
import HTTP
import JSON
import Migrations
import PostgresFixture
import Testing

@testable import sojourn

/// Today's program beside the next version, which `.ci/next-version` builds: it adds a column, and an index beside the nodes.
/// With the same variable, every other suite of many nodes runs its first node from that binary.
@Suite(
    "Two versions side by side", .enabled(if: CommandLineProgram.otherPath != nil, "SOJOURN_OTHER_BIN names no binary"),
    .timeLimit(.minutes(10)))
struct TwoVersionsTests {
    private static let today = Migration.all.count

    /// The versions of the schema that are applied.
    private func applied(_ schema: String) throws -> [Int] {
        try PostgresServer.shared.run("SELECT version FROM schema_migrations ORDER BY version", schema: schema)
            .split(separator: "\n").compactMap { Int($0) }
    }

    @Test("the program is replaced node by node, and back again, and no client sees an error")
    func forthAndBack() async throws {
        let next = try #require(CommandLineProgram.otherPath)
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let nodes = try await ManyNodes(on: url, first: CommandLineProgram.path)
        try nodes.set(["rotation_interval": .integer(0)], at: nodes.nodes[0])
        #expect(try applied(schema) == Array(1...Self.today))
        let stays = try (0..<24).flatMap { index in
            try nodes.createUser("user-\(index)", devices: 1, at: nodes.nodes[index % 3])
        }
        let load = ManyNodesLoad(stays, at: nodes.nodes)
        await load.awaitRefreshes(300)
        var running = nodes.nodes
        for binary in [next, CommandLineProgram.path, next] {
            for index in running.indices {
                // As behind a proxy that takes a node out before it stops.
                load.replace(index, by: running[(index + 1) % 3])
                await load.awaitRefreshes(50)
                _ = await running[index].stop()
                running[index] = try await nodes.restart(index, binary)
                load.replace(index, by: running[index])
                await load.awaitRefreshes(200)
                // What one version writes, the other reads.
                let stay = try nodes.createUser("new-\(binary == next)-\(UUID())", devices: 1, at: running[index])[0]
                let other = running[(index + 1) % 3]
                #expect(other.refresh(stay.refresh)?.status == 200)
                #expect(other.admin(.delete, "/sessions/\(stay.sessionID)")?.status == 204)
                #expect(running[index].refresh(stay.refresh)?.status == 401)
            }
        }
        // The node of the next version builds the index while it serves.
        let newest = Self.today + 2
        while try applied(schema).last != newest || applied(schema).count != newest { await load.awaitRefreshes(20) }
        let result = await load.end()
        #expect(result.failures == [] && result.refused == 0)
        #expect(try ManyNodes.betrayals(running[0]) == (0, 0))

        // Today's program is refused once a step needs the next version, which goes on.
        try PostgresServer.shared.run(
            "UPDATE schema_migrations SET readable_by = \(newest) WHERE version = \(newest)", schema: schema)
        await #expect(throws: CrashServer.NotReady.self) { try await nodes.restart(0) }
        _ = await running[1].stop()
        running[1] = try await nodes.restart(1, next)
        _ = try nodes.logIn("user-0", device: "d9", at: running[1])
    }
}
