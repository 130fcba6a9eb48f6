import Cryptography
import Migrations
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

@Suite("Migration of a database in use", .timeLimit(.minutes(2)))
struct MigrationTests {
    let folder = StartingFolder()
    let clock = StartingClock()

    @Test(
        "a database of an earlier version with sessions becomes one of the next version, and no session ends",
        arguments: NextVersion.earlier)
    func fromEarlier(_ version: Int) async throws {
        let rootKeys = try #require(RootKeys([.random()]))
        let options = SQLiteStore.Options(clock: clock.wall)
        var store = try SQLiteStore(
            path: folder.file("db"), options: options, migrations: NextVersion.all(upTo: version))
        var stage = try await TransferFixture(store, clock, rootKeys)
        var tokens: [String] = []
        for name in ["ada", "bob"] {
            _ = try await stage.createUser(name)
            for device in ["phone", "tablet"] { tokens.append(try await stage.logIn(name, device: device)) }
        }
        clock.advance(.seconds(1000))
        tokens[1] = try await #require(stage.refresh(tokens[1]).get().refreshToken)
        let sessions = try await store.exportSessions(after: nil, limit: 9)
        await store.close()

        store = try SQLiteStore(path: folder.file("db"), options: options, migrations: NextVersion.all)
        stage = try await TransferFixture(store, clock, rootKeys)
        #expect(try await store.diagnostics().applied.map(\.version) == NextVersion.all.map(\.version))
        #expect(try await store.exportSessions(after: nil, limit: 9) == sessions)
        clock.advance(.seconds(1000))
        for token in tokens { _ = try await stage.refresh(token).get() }
        let user = try #require(try await store.user(.username("ada")))
        let waiting = ForeignToken(
            digest: sha256(Array("old".utf8)), userID: user.id, clientID: Client.mobileID, device: Device(id: "watch"),
            startedAt: clock.wall.now, epoch: 2)
        #expect(try await store.importForeignTokens([waiting]) == [.written])
        clock.advance(.seconds(2))
        _ = try await stage.refresh("old").get()
        await store.close()
    }
}
