import Cryptography
import FoundationEssentials
import Migrations
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

/// What is done with a closed database before an upgrade, and on the way back from one, by the program of after it.
@Suite("Backup and restore of a database that an earlier version made", .timeLimit(.minutes(5)))
struct EarlierDatabaseTests {
    let folder = StartingFolder()
    let clock = StartingClock()

    /// What the next version of the program opens at `file`.
    private func open(_ file: String, _ migrations: [Migration] = NextVersion.all) throws -> SQLiteStore {
        try SQLiteStore(
            path: folder.file(file), options: SQLiteStore.Options(clock: clock.wall), migrations: migrations)
    }

    /// Makes `earlier` with a session in it, at `version` of the schema, and `db`, which is the same and was brought up to date;
    /// gives the session's refresh token.
    private func makeEarlier(_ version: Int, _ rootKeys: RootKeys) async throws -> String {
        let store = try open("db", NextVersion.all(upTo: version))
        let stage = try await TransferFixture(store, clock, rootKeys)
        _ = try await stage.createUser("ada")
        let token = try await stage.logIn("ada", device: "phone")
        await store.close()
        try FileManager.default.copyItem(atPath: folder.file("db"), toPath: folder.file("earlier"))
        await (try open("db")).close()
        #expect(try applied("db") == Array(1...NextVersion.newest))
        return token
    }

    /// The migrations that the database at `file` has had.
    private func applied(_ file: String) throws -> [Int] {
        let closed = try ClosedDatabase(path: folder.file(file), migrations: NextVersion.all)
        defer { closed.close() }
        return try closed.diagnostics().applied.map(\.version)
    }

    /// Opens `db`, which brings it up to date, refreshes `token` there, and gives the newest event of before.
    private func refresh(_ token: String, _ rootKeys: RootKeys) async throws -> RecordedEvent {
        let store = try open("db")
        let stage = try await TransferFixture(store, clock, rootKeys)
        let event = try #require(try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil).last)
        clock.advance(.seconds(4000))
        let next = try await #require(stage.refresh(token).get().refreshToken)
        clock.advance(.seconds(4000))
        _ = try await stage.refresh(next).get()
        await store.close()
        return event
    }

    private func restore(_ file: String) throws -> Restoration {
        try SQLiteStore.restore(
            folder.file(file), over: folder.file("db"), by: .system, clock: clock.wall, migrations: NextVersion.all)
    }

    @Test(
        "a backup of an earlier version takes the place of today's, the next start migrates it, and no session ends",
        arguments: NextVersion.earlier)
    func isRestored(_ version: Int) async throws {
        let rootKeys = try #require(RootKeys([.random()]))
        let token = try await makeEarlier(version, rootKeys)
        let restored = try restore("earlier")
        #expect(restored.undone == [:])
        #expect(try applied("db") == Array(1...version))
        let event = try await refresh(token, rootKeys)
        #expect(
            event.event
                == AuditEvent(.databaseRestored, at: event.event.at, by: .system, reason: folder.file("earlier")))
        #expect(event.revocation == nil)
        #expect(try applied("earlier") == Array(1...version))
    }

    @Test(
        "a database of an earlier version is copied as it is, says so in its trail, and the copy restores",
        arguments: NextVersion.earlier)
    func isBackedUp(_ version: Int) async throws {
        let rootKeys = try #require(RootKeys([.random()]))
        let token = try await makeEarlier(version, rootKeys)
        let backup = try SQLiteStore.backUp(
            closed: folder.file("earlier"), to: folder.file("backup"), by: .system, clock: clock.wall,
            migrations: NextVersion.all)
        for file in ["earlier", "backup"] { #expect(try applied(file) == Array(1...version)) }
        let restored = try restore("backup")
        #expect(restored.takenAt == clock.wall.now)
        let store = try open("earlier")
        let event = try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil).last
        #expect(event?.event == AuditEvent(.backupStarted, at: clock.wall.now, by: .system, reason: backup.path))
        await store.close()
        _ = try await refresh(token, rootKeys)
    }
}
