import PostgresFixture
import Sessions
import StoreConformance
import Testing

@testable import PostgresStore

@Suite("PostgreSQL: the table of PINs", .timeLimit(.minutes(1)))
struct PostgresPINTableTests {
    @Test("No statement of a refresh names it: without the table sessions go on, and end by a refresh")
    func refreshes() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let session = try await givenSession(store)
        let options = PostgresStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 1_800_000_000) })
        let connection = try Connection(
            url: url, patience: .seconds(5), names: StatementNames(areUsed: false), now: options.now)
        _ = try connection.run([Statement("DROP TABLE pins")], commits: true, until: options.now() + .seconds(30))

        #expect(try await store.refreshToTheEnd(session.id))
        await #expect(throws: StoreError.self) { _ = try await store.pin(of: session.id) }
        await store.close()
    }
}
