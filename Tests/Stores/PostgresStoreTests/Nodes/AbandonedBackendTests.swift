import Dispatch
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// What remains at the server of a request after its caller has left.
@Suite("PostgreSQL: requests after their deadline", .timeLimit(.minutes(2)))
struct AbandonedBackendTests {
    /// Every way in which the store asks the server: on each kind of connection, with and without a transaction.
    private static let accesses: [@Sendable (PostgresStore, Identifier<Session>) async throws -> Void] = [
        { store, id in _ = try await store.updateSession(id) { $0.session.child += 1 } },
        { store, id in _ = try await store.session(id) },
        { store, _ in try await store.ping() },
        { store, _ in _ = try await store.catalogue() },
        { store, _ in
            _ = try await store.read(.page) { (reader) throws(TransactionError) in try reader.catalogue().value() }
        },
    ]

    @Test("behind a lock no process of the server waits for a caller that has left")
    func behindALock() async throws {
        let server = try PostgresServer()
        let url = try server.newDatabase()
        let other = try openStore(url)
        let id = try await givenSession(other).id
        let store = try openStore(url) { $0.decisionDeadline = .seconds(1) }
        for access in Self.accesses { while (try? await access(store, id)) == nil { await Task.yield() } }
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let tables = try server.run(
            "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = current_schema()", schema: schema)
        let (hasLock, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let holder: Void = other.change { (transaction) throws(DatabaseError) -> Void in
            _ = try transaction.run(Statement("LOCK TABLE \(tables) IN ACCESS EXCLUSIVE MODE"))
            hasLock.signal()
            mayEnd.wait()
        }
        try await onThread { hasLock.wait() }

        await withTaskGroup { group in
            for access in Self.accesses {
                group.addTask { await #expect(throws: StoreError.self) { try await access(store, id) } }
            }
        }

        // The lock is held until the end of the test: only the server itself can have ended what waited.
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while try server.run(waiting) != "0\n" { await Task.yield() }
        mayEnd.signal()
        try await holder
        await store.close()
        await other.close()
    }
}
