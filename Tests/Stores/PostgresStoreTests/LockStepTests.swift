import Cryptography
import FoundationEssentials
import PostgresStore
import Repository
import SQLiteStore
import Sessions
import StoreConformance
import Testing

/// Random histories, played to SQLite and to PostgreSQL in lock-step: every call goes to both, and what comes back must
/// be the same, and what the model says.
@Suite struct LockStepTests {
    @Test(arguments: Lane.cases(push: [101, 102], full: Array(101...105)) as [UInt64])
    func bothStoresAnswerEveryCallAlike(seed: UInt64) async throws {
        let clock = MovableClock(RandomHistory.start)
        try await Self.withTwins(clock) { sqlite, postgres in
            var history = try await RandomHistory(seed: seed, store: TwinStore(sqlite, postgres), clock: clock)
            try await history.play(Lane.rounds(push: 1_000, full: 1_500))
        }
    }

    @Test func aDifferenceIsNoticed() async throws {
        try await Self.withTwins { sqlite, postgres in
            let user = User(id: Identifier(random: .system), username: "a", profile: .init(), createdAt: Self.start)
            let isNew = try await postgres.insertUser(user, from: .admin, events: [])
            #expect(isNew)
            await #expect(throws: StoreError.self) {
                try await TwinStore(sqlite, postgres).user(.id(user.id))
            }
            await #expect(throws: StoreError.self) {
                try await TwinStore(sqlite, postgres).updateUser(.id(user.id)) { $0.user.profile.email = "a@b.example" }
            }
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: "web", device: Device(id: "phone"),
                startedAt: Self.start, epoch: 0)
            #expect(try await sqlite.insertUser(user, from: .admin, events: []))
            for store in [sqlite, postgres] as [any Store] {
                try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") {
                    $0.session = session
                }
            }
            try await postgres.updateSession(session.id) { $0.session.child += 1 }
            await #expect(throws: StoreError.self) {
                let twins = TwinStore(sqlite, postgres)
                return try await twins.changeSession(session.id, { $0.session.parent = 1 }, preparing: {})
            }
        }
    }

    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    private static func withTwins(
        _ clock: MovableClock = MovableClock(start), _ body: (SQLiteStore, PostgresStore) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/lock-step-\(UUID().uuidString).sqlite"
        defer {
            for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        try await withStore({ $0.clock = clock.wallClock }) { postgres in
            var options = SQLiteStore.Options(clock: clock.wallClock)
            options.decisionDeadline = .seconds(3600)
            let sqlite = try SQLiteStore(path: path, options: options)
            try await body(sqlite, postgres)
            await sqlite.close()
        }
    }
}
