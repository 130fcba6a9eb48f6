import Cryptography
import Dispatch
import PostgresFixture
import PostgresStore
import Sessions
import Synchronization
import Testing

/// What happens when the server goes, hangs, or is the wrong one.
@Suite(.timeLimit(.minutes(5))) struct PostgresFaultTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    @Test func everyChangeOfARestartedServerIsAnsweredOrRefused_andNothingAcknowledgedIsLost() async throws {
        let server = try PostgresServer()
        let load = Load()
        let store = try openStore(try server.newDatabase()) { options in
            options.decisionDeadline = .seconds(10)
        }
        let session = try await givenSession(store)
        let start = "SELECT pg_postmaster_start_time()"
        let started = try server.run(start)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while !load.isOver.load(ordering: .relaxed) {
                        do throws(StoreError) {
                            let child = try await store.updateSession(session.id) { change -> UInt64 in
                                change.session.child += 1
                                return change.session.child
                            }
                            load.acknowledged.max(child ?? 0, ordering: .relaxed)
                        } catch {
                            guard case .unavailable = error else { throw error }
                            await Task.yield()
                        }
                    }
                }
            }
            group.addTask { @concurrent in
                for _ in 0..<3 {
                    let before = load.acknowledged.load(ordering: .relaxed)
                    while load.acknowledged.load(ordering: .relaxed) < before + 50 { await Task.yield() }
                    try server.control("restart", "-m", "immediate")
                }
                let before = load.acknowledged.load(ordering: .relaxed)
                while load.acknowledged.load(ordering: .relaxed) < before + 50 { await Task.yield() }
                load.isOver.store(true, ordering: .relaxed)
            }
            try await group.waitForAll()
        }
        let child = try #require(try await store.session(session.id)).session.child
        #expect(child >= load.acknowledged.load(ordering: .relaxed))
        // Each restart ended all connections, and changes were acknowledged after it. Whether one was cut off is chance, because
        // the store notices the end of an idle connection.
        #expect(try server.run(start) != started)
        await store.close()
    }

    private final class Load: Sendable {
        let acknowledged = Atomic<UInt64>(0)
        let isOver = Atomic<Bool>(false)
    }

    /// A change of a user that keeps its locks until the gate opens.
    private func hold(_ userID: Identifier<User>, _ gate: Gate, in store: PostgresStore) async throws {
        _ = try await store.updateUser(.id(userID)) { _ in
            gate.hasBegun.store(true, ordering: .releasing)
            gate.mayEnd.wait()
        }
    }

    @Test("a change that waits for a lock is refused at its deadline, and not decided later")
    func aChangeWaitsForALock() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let other = try openStore(url)
        let session = try await givenSession(other)
        let store = try openStore(url) { $0.decisionDeadline = .milliseconds(700) }
        let gate = Gate()
        async let holder: Void = hold(session.userID, gate, in: other)
        while !gate.hasBegun.load(ordering: .acquiring) { await Task.yield() }
        await #expect(throws: StoreError.self) {
            try await store.updateSession(session.id) { $0.session.child += 1 }
        }
        gate.mayEnd.signal()
        try await holder
        #expect(try await other.session(session.id)?.session.child == session.child)
        await store.close()
        await other.close()
    }

    @Test func aLockTimeoutOfTheServerIsNoDamage_andTheChangeIsTriedAgain() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let failures = Counter()
        let store = try openStore(url.replacing("options=", with: "options=-clock_timeout%3D100ms%20")) { options in
            options.decisionDeadline = .seconds(30)
            options.observer.failed = { text in
                if text.contains("55P03") { failures.count.wrappingAdd(1, ordering: .releasing) }
            }
        }
        let session = try await givenSession(store)
        let other = try openStore(url)
        let gate = Gate()
        async let holder: Void = hold(session.userID, gate, in: other)
        while !gate.hasBegun.load(ordering: .acquiring) { await Task.yield() }
        async let change: Void? = store.updateSession(session.id) { $0.session.child += 1 }
        while failures.count.load(ordering: .acquiring) < 1 { await Task.yield() }
        gate.mayEnd.signal()
        #expect(try await change != nil)
        try await holder
        #expect(try await other.session(session.id)?.session.child == session.child + 1)
        await store.close()
        await other.close()
    }

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    private final class Gate: Sendable {
        let hasBegun = Atomic<Bool>(false)
        let mayEnd = DispatchSemaphore(value: 0)
    }

    @Test func aServerThatCannotBeReachedIsSaidInASentenceWithoutThePassword() throws {
        let error = #expect(throws: PostgresStore.OpenError.self) {
            try openStore("postgres://anna:secret@/none?host=/nowhere&connect_timeout=2")
        }
        #expect(error?.description.contains("cannot be reached") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func aServerThatAcknowledgesTooEarlyIsRefused() throws {
        let url = try PostgresServer.shared.newDatabase()
        let early = url.replacing("options=", with: "options=-csynchronous_commit%3Doff%20")
        #expect(throws: PostgresStore.OpenError.notDurable(setting: "synchronous_commit")) { try openStore(early) }
    }

    @Test func aServerThatHidesWhatOthersCommitIsRefused() throws {
        let server = try PostgresServer()
        let url = try server.newDatabase()
        try server.run("ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'")
        let error = #expect(throws: PostgresStore.OpenError.notReadCommitted(isolation: "repeatable read")) {
            try openStore(url)
        }
        #expect(error?.description.contains("ALTER DATABASE") == true)
    }

    @Test(arguments: ["synchronous_commit = off", "default_transaction_isolation = 'repeatable read'"])
    func aServerThatBecomesWorseLaterIsNotUsed(setting: String) async throws {
        let server = try PostgresServer()
        let store = try openStore(try server.newDatabase()) { $0.decisionDeadline = .seconds(10) }
        let session = try await givenSession(store)
        _ = try await store.updateSession(session.id) { $0.session.child += 1 }
        try server.run("ALTER DATABASE postgres SET \(setting)")
        let ending = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'sojourn'"
        try server.run(ending)
        let error = await #expect(throws: StoreError.self) {
            try await store.updateSession(session.id) { $0.session.child += 1 }
        }
        guard case .unavailable(let reason) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(reason.contains("ALTER DATABASE"), "\(reason)")
        try server.run("ALTER DATABASE postgres RESET ALL")
        // After a pause, in which callers are refused.
        var child: UInt64?
        while child == nil {
            child = try? await store.updateSession(session.id) { change -> UInt64 in
                change.session.child += 1
                return change.session.child
            }
        }
        #expect(child == session.child + 2)
        await store.close()
    }

    @Test func aForeignSchemaIsLeftAlone() throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        try PostgresServer.shared.run("CREATE TABLE cats (name text)", schema: schema)
        #expect(throws: PostgresStore.OpenError.notADatabase) { try openStore(url) }
        let tables = try PostgresServer.shared.run(
            "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = current_schema()", schema: schema)
        #expect(tables == "cats\n")
    }

    @Test func aNewerOrChangedDatabaseIsRefused() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        await store.close()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        try PostgresServer.shared.run(
            "INSERT INTO schema_migrations VALUES (99, 'of the future', '\\x00', 1, 99, 99)", schema: schema)
        #expect(throws: PostgresStore.OpenError.self) { try openStore(url) }
        try PostgresServer.shared.run(
            "DELETE FROM schema_migrations WHERE version = 99; UPDATE schema_migrations SET digest = '\\x00'",
            schema: schema)
        #expect(throws: PostgresStore.OpenError.changedMigration(version: 1)) { try openStore(url) }
    }

    @Test func aTextWithNULIsRefusedAndNothingIsWritten() async throws {
        try await withStore { store in
            let user = User(id: Identifier(random: .system), username: "an\0na", createdAt: Self.start)
            await #expect(throws: StoreError.self) { try await store.insertUser(user, from: .admin, events: []) }
            let users = try await store.users(matching: nil, after: nil, limit: 10).items
            #expect(users.isEmpty)
        }
    }
}
