import PostgresFixture
import Sessions

@testable import PostgresStore

/// Another program, which has the table of sessions locked in a transaction. It has no snapshot, because builds of indexes in all
/// schemas of the database would wait for it, and so tests for each other.
struct TableHolder {
    private let connection: Connection

    /// Returns once it has the lock.
    init(_ mode: String, schema: String) async throws {
        let options = PostgresStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 1_800_000_000) })
        connection = try Connection(url: PostgresServer.shared.url(schema: schema), options)
        _ = try connection.run(
            [Statement("BEGIN"), Statement("LOCK TABLE sessions IN \(mode) MODE")], commits: false,
            until: ContinuousClock.now + .seconds(60))
    }

    /// Ends it, and with it the lock.
    func end() async throws {
        _ = try connection.run(
            [Statement("ROLLBACK")], commits: false, until: ContinuousClock.now + .seconds(60))
    }
}
