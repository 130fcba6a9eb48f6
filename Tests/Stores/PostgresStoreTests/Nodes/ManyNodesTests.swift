import PostgresFixture
import PostgresStore
import Repository
import Sessions
import StoreConformance
import Testing

/// Three nodes on one database, and each call goes to another.
@Suite struct ManyNodesTests {
    private func withNodes(
        _ clock: MovableClock, _ body: (ManyStores) async throws -> Void
    ) async throws {
        let url = try PostgresServer.shared.newDatabase()
        // At once, as nodes start that a deployment has made: one of them makes the tables.
        try await Self.withNodes(clock, on: url, body)
    }

    private static func withNodes(
        _ clock: MovableClock, on url: String, _ body: (ManyStores) async throws -> Void
    ) async throws {
        let stores = try await withThrowingTaskGroup(of: PostgresStore.self) { group in
            for _ in 0..<3 { group.addTask { @concurrent in try openStore(url) { $0.clock = clock.wallClock } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await body(ManyStores(stores))
        for store in stores { await store.close() }
    }

    @Test(arguments: storeRules) func threeNodesKeep(_ rule: StoreRule) async throws {
        try await withPreparedDatabase { url in
            try await Self.withNodes(MovableClock(RandomHistory.start), on: url) { try await rule.check($0) }
        }
    }

    @Test(arguments: Lane.cases(push: [11], full: [11, 12, 13]) as [UInt64])
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await withNodes(clock) { nodes in
            var history = try await RandomHistory(seed: seed, store: nodes, clock: clock)
            try await history.play(1_000)
        }
    }
}
