import Dispatch
import PostgresFixture
import PostgresStore
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Server
@testable import sojourn

/// The delay of readers of the trail, as operators see it.
@Suite("The lag of the feed", .timeLimit(.minutes(1)))
struct FeedLagTests {
    private static let now = Instant(secondsSinceEpoch: 1_800_000_000)

    private let folder = StartingFolder()

    @Test("the metric is the age of the oldest event that waits for another node's commit")
    func shown() async throws {
        let url = try PostgresServer.shared.newDatabase()
        var options = PostgresStore.Options(clock: WallClock { Self.now })
        options.decisionDeadline = .seconds(60)
        let store = try PostgresStore(url: url, options: options)
        let other = try PostgresStore(url: url, options: options)
        let metrics = MetricsRegistry()
        let lag = try #require(FeedLag(.postgres(store), metrics, .silent))
        func shown() async -> Bool {
            await lag.look()
            return metrics.render().contains("sojourn_feed_lag_seconds 42")
        }
        try await other.whileUncommitted(AuditEvent(.backupStarted, at: Self.now, by: .system)) {
            #expect(await !shown())
            try await store.append([AuditEvent(.backupStarted, at: Self.now + .seconds(-42), by: .system)])
            #expect(await shown())
        }
        #expect(await !shown())
        for store in [store, other] { await store.close() }
    }

    @Test("a database file has none")
    func file() async throws {
        let application = try await Application.open(folder.configuration, StartingClock().environment())
        #expect(FeedLag(application.database, application.metrics, .silent) == nil)
        await application.close()
    }
}

extension PostgresStore {
    /// Runs `body` while a transaction of this store has written `event` and is not committed.
    func whileUncommitted(_ event: AuditEvent, _ body: () async throws -> Void) async throws {
        let (hasWritten, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let written: Void = write(.nothing) { (transaction) throws(TransactionError) -> Void in
            transaction.append([RevokingEvent(event: event, revocation: nil)])
            _ = try transaction.lastEvent().value()
            hasWritten.signal()
            mayEnd.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "waiting").async {
                hasWritten.wait()
                continuation.resume()
            }
        }
        defer { mayEnd.signal() }
        try await body()
        mayEnd.signal()
        try await written
    }
}
