import PostgresFixture
import PostgresStore
import Repository
import Sessions
import StoreConformance
import Testing

/// Random operations of users, admins, clients and time, against the rules written down a second time.
struct PostgresRandomHistoryTests {
    @Test(arguments: SeededGenerator.seeds(Lane.isFull ? 10 : 2))
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await withStore({ $0.clock = clock.wallClock }) { store in
            var history = try await RandomHistory(seed: seed, store: store, clock: clock)
            try await history.play(Lane.rounds(push: 1_000, full: 10_000))
        }
    }

    @Test(arguments: SeededGenerator.seeds(Lane.isFull ? 10 : 2))
    func bonds_showNoDifferenceFromTheModel(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await withStore({ $0.clock = clock.wallClock }) { store in
            var history = try await BondHistory(seed: seed, store: store, clock: clock)
            try await history.play(Lane.rounds(push: 100, full: 10_000))
        }
    }

    @Test("histories of single logins with a phone", arguments: SeededGenerator.seeds(Lane.isFull ? 10 : 2))
    func logins(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await withStore({ $0.clock = clock.wallClock }) { store in
            var history = try await PhoneLoginHistory(seed: seed, store: store, clock: clock)
            try await history.play(Lane.rounds(push: 100, full: 10_000))
            if Lane.isFull { #expect(history.phases == Set(PhoneLogin.Phase.allCases)) }
        }
    }
}
