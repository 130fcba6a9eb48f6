import PostgresFixture
import PostgresStore
import StoreConformance
import Testing

/// Random operations of users, admins, clients and time, against the rules written down a second time.
struct RandomHistoryTests {
    @Test(arguments: SeededGenerator.seeds(5))
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await withStore({ $0.clock = clock.wallClock }) { store in
            var history = try await RandomHistory(seed: seed, store: store, clock: clock)
            try await history.play(2_000)
        }
    }
}
