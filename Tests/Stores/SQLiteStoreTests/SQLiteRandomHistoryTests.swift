import Repository
import SQLiteStore
import Sessions
import StoreConformance
import Testing

/// Random operations of users, admins, clients and time, against the rules written down a second time: 100 000 in the full
/// lane, 20 000 in the push lane.
struct SQLiteRandomHistoryTests {
    @Test(arguments: SeededGenerator.seeds(Lane.isFull ? 10 : 4))
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            let clock = MovableClock(RandomHistory.start)
            let store = try folder.open { $0.clock = clock.wallClock }
            var history = try await RandomHistory(seed: seed, store: store, clock: clock)
            try await history.play(Lane.rounds(push: 5_000, full: 10_000))
            await store.close()
        }
    }

    @Test(arguments: SeededGenerator.seeds(Lane.isFull ? 10 : 2))
    func bonds_showNoDifferenceFromTheModel(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            let clock = MovableClock(RandomHistory.start)
            let store = try folder.open { $0.clock = clock.wallClock }
            var history = try await BondHistory(seed: seed, store: store, clock: clock)
            try await history.play(Lane.rounds(push: 300, full: 10_000))
            await store.close()
        }
    }

    @Test("histories of single logins with a phone", arguments: SeededGenerator.seeds(Lane.isFull ? 10 : 2))
    func logins(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            let clock = MovableClock(RandomHistory.start)
            let store = try folder.open { $0.clock = clock.wallClock }
            var history = try await PhoneLoginHistory(seed: seed, store: store, clock: clock)
            try await history.play(Lane.rounds(push: 200, full: 10_000))
            if Lane.isFull { #expect(history.phases == Set(PhoneLogin.Phase.allCases)) }
            await store.close()
        }
    }
}
