import Cryptography
import Sessions
import Testing

@testable import SQLiteStore

/// What is done with a closed database before an upgrade, and on the way back from one, by the program of after it.
@Suite("Backup and restore of a database that an earlier version made", .timeLimit(.minutes(5)))
struct EarlierDatabaseTests {
    let folder = StartingFolder()
    let clock = StartingClock()

    /// The domain on the database `db`.
    private func open(_ rootKeys: RootKeys) async throws -> TransferFixture {
        let store = try SQLiteStore(path: folder.file("db"), options: SQLiteStore.Options(clock: clock.wall))
        return try await TransferFixture(store, clock, rootKeys)
    }

    /// Closes `db` with a session in it, and makes `earlier` of it; gives the session's refresh token.
    private func makeEarlier(_ version: Int, _ rootKeys: RootKeys) async throws -> String {
        let stage = try await open(rootKeys)
        _ = try await stage.createUser("ada")
        let token = try await stage.logIn("ada", device: "phone")
        await (stage.store as? SQLiteStore)?.close()
        try EarlierDatabase.make(version, at: folder.file("earlier"), from: folder.file("db"), clock.wall)
        return token
    }

    /// The migrations that the database at `file` has had.
    private func applied(_ file: String) throws -> [Int] {
        let closed = try ClosedDatabase(path: folder.file(file))
        defer { closed.close() }
        return try closed.diagnostics().applied.map(\.version)
    }

    /// Opens `db`, which brings it up to date, refreshes `token` there, and gives the newest event of before.
    private func refresh(_ token: String, _ rootKeys: RootKeys) async throws -> RecordedEvent {
        let stage = try await open(rootKeys)
        let event = try #require(try await stage.store.events(after: 0, limit: 99, userID: nil, sessionID: nil).last)
        clock.advance(.seconds(4000))
        let next = try await #require(stage.refresh(token).get().refreshToken)
        clock.advance(.seconds(4000))
        _ = try await stage.refresh(next).get()
        await (stage.store as? SQLiteStore)?.close()
        return event
    }

    private func restore(_ file: String) throws -> Restoration {
        try SQLiteStore.restore(folder.file(file), over: folder.file("db"), by: .system, clock: clock.wall)
    }

    @Test(
        "its backup takes the place of today's, is brought up to date by the next start, and nobody is logged out",
        arguments: EarlierDatabase.versions)
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

    @Test("it is copied as it is, says so in its trail, and the copy restores", arguments: EarlierDatabase.versions)
    func isBackedUp(_ version: Int) async throws {
        let rootKeys = try #require(RootKeys([.random()]))
        let token = try await makeEarlier(version, rootKeys)
        let backup = try SQLiteStore.backUp(
            closed: folder.file("earlier"), to: folder.file("backup"), by: .system, clock: clock.wall)
        for file in ["earlier", "backup"] { #expect(try applied(file) == Array(1...version)) }
        let restored = try restore("backup")
        #expect(restored.takenAt == clock.wall.now)
        let store = try SQLiteStore(path: folder.file("earlier"), options: SQLiteStore.Options(clock: clock.wall))
        let event = try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil).last
        #expect(event?.event == AuditEvent(.backupStarted, at: clock.wall.now, by: .system, reason: backup.path))
        await store.close()
        _ = try await refresh(token, rootKeys)
    }
}
