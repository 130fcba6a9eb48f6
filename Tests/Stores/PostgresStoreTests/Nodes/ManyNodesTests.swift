import PostgresFixture
import PostgresStore
import Sessions
import StoreConformance
import Testing

/// Three nodes on one database, and each call goes to another.
@Suite struct ManyNodesTests {
    private func withNodes(
        _ clock: MovableClock = MovableClock(RandomHistory.start), _ body: (ManyStores) async throws -> Void
    ) async throws {
        let url = try PostgresServer.shared.newDatabase()
        // At once, as nodes start that a deployment has made: one of them makes the tables.
        let stores = try await withThrowingTaskGroup(of: PostgresStore.self) { group in
            for _ in 0..<3 { group.addTask { @concurrent in try openStore(url) { $0.clock = clock.wallClock } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await body(ManyStores(stores))
        for store in stores { await store.close() }
    }

    @Test(arguments: storeRules) func threeNodesKeep(_ rule: StoreRule) async throws {
        try await withNodes { try await rule.check($0) }
    }

    @Test(arguments: 11...13 as ClosedRange<UInt64>)
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await withNodes(clock) { nodes in
            var history = try await RandomHistory(seed: seed, store: nodes, clock: clock)
            try await history.play(1_000)
        }
    }
}
