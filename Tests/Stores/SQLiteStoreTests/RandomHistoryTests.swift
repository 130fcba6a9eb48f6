import SQLiteStore
import StoreConformance
import Testing

/// 100 000 random operations of users, admins, clients and time, against the rules written down a second time.
struct RandomHistoryTests {
    @Test(arguments: SeededGenerator.seeds(10))
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            let clock = MovableClock(RandomHistory.start)
            let store = try folder.open { $0.clock = clock.wallClock }
            var history = try await RandomHistory(seed: seed, store: store, clock: clock)
            try await history.play(10_000)
            await store.close()
        }
    }
}
