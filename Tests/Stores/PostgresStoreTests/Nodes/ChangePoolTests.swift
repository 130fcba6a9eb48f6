import Dispatch
import Glibc
import Locks
import PostgresFixture
import Testing

@testable import PostgresStore

/// The connections for changes: as many as work needs, and as few as are kept.
@Suite("PostgreSQL: connections for changes", .timeLimit(.minutes(1)))
struct ChangePoolTests {
    /// Changes that begin, and wait for the test before they end.
    private struct Held: Sendable {
        let store: PostgresStore
        let begun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)

        func change(by key: UInt8) async throws {
            try await ChangePoolTests.change(store, by: key) {
                begun.signal()
                _ = mayEnd.wait(timeout: .now() + 50)
            }
        }

        /// Runs one change for each key, the first `count` of which begin before any ends.
        func changes(by keys: [UInt8], beginning count: Int, _ meanwhile: @escaping @Sendable () throws -> Void)
            async throws
        {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in keys { group.addTask { try await change(by: key) } }
                group.addTask {
                    try await onThread {
                        for _ in 0..<count { begun.wait() }
                        try meanwhile()
                        for _ in keys { mayEnd.signal() }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Makes a change that reads something and then runs `body`.
    private static func change(_ store: PostgresStore, by key: UInt8, _ body: @escaping @Sendable () -> Void)
        async throws
    {
        try await store.change(by: key) { (transaction) throws(DatabaseError) -> Void in
            _ = try transaction.run(Statement("SELECT 1"))
            body()
        }
    }

    private static func connections(_ name: String) throws -> Int {
        let text = try PostgresServer.shared.run(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'")
        return Int(text.prefix { $0.isNumber }) ?? -1
    }

    @Test("more are made while changes wait, and closed when they are idle")
    func onDemand() async throws {
        let name = "changes_on_demand"
        let url = try PostgresServer.shared.newDatabase() + "&application_name=" + name
        let store = try openStore(url) { options in
            (options.changeConnections, options.changeConnectionsMax) = (2, 5)
            options.changeIdleTime = .milliseconds(1)
        }
        let held = Held(store: store)
        // One after the other needs one.
        for key in 0..<9 as Range<UInt8> { try await held.changes(by: [key], beginning: 1) {} }
        #expect(try Self.connections(name) == 1)
        try await held.changes(by: Array(0..<9), beginning: 5) {
            let count = try Self.connections(name)
            #expect(count == 5)
        }
        while try Self.connections(name) > 2 { await Task.yield() }
        // And again after that.
        try await held.changes(by: Array(0..<5), beginning: 5) {}
        await store.close()
        while try Self.connections(name) > 0 { await Task.yield() }
    }

    @Test("changes with one key run one after the other, whatever connections are free")
    func oneKey() async throws {
        let store = try openStore(try PostgresServer.shared.newDatabase())
        let running = Locked((now: 0, most: 0, all: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await Self.change(store, by: 7) {
                        running.withLock { state in
                            state.now += 1
                            state.most = max(state.most, state.now)
                        }
                        sched_yield()
                        running.withLock { state in (state.now, state.all) = (state.now - 1, state.all + 1) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(running.withLock { $0.most } == 1)
        #expect(running.withLock { $0.all } == 40)
        await store.close()
    }

    @Test("a server without room for more does the work on those that are kept")
    func noRoom() async throws {
        let server = try PostgresServer.shared
        let url = try server.newDatabase()
        let schema = url.split(separator: "%3D").last.map(String.init) ?? ""
        try server.run("CREATE ROLE few LOGIN CONNECTION LIMIT 3; ALTER SCHEMA \(schema) OWNER TO few")
        let failures = Locked<[String]>([])
        let store = try openStore(url.replacing("//sojourn@", with: "//few@")) { options in
            (options.changeConnections, options.changeConnectionsMax) = (2, 6)
            options.observer.failed = { text in failures.withLock { $0.append(text) } }
        }
        try await Held(store: store).changes(by: Array(0..<9), beginning: 2) {}
        #expect(failures.withLock { $0 } == [])
        await store.close()
    }
}
