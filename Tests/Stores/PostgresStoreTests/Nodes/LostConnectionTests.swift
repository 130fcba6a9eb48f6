import Cryptography
import Dispatch
import PostgresFixture
import Sessions
import Synchronization
import Testing

@testable import PostgresStore

/// A broken connection costs no call its answer while nothing can have been committed on it, and never makes two changes of one.
@Suite(.timeLimit(.minutes(3))) struct LostConnectionTests {
    /// Uses every connection of the store.
    private func useAll(_ store: PostgresStore, _ session: Session, _ round: Int) async throws {
        let child = try await store.updateSession(session.id) { change -> UInt64 in
            change.session.child += 1
            return change.session.child
        }
        #expect(child == session.child + UInt64(round) + 1)
        #expect(try await store.session(session.id)?.session.child == child)
        for _ in 0..<2 { _ = try await givenSession(store, "user-\(Identifier<User>(random: .system))") }
        #expect(try await store.user(.id(session.userID)) != nil)
        #expect(try await store.users(matching: "anna", after: nil, limit: 10).items.count == 1)
        try await store.ping()
    }

    @Test(arguments: ["fast", "immediate"])
    func aRestartWithoutCallsIsNotNoticed(mode: String) async throws {
        let server = try PostgresServer()
        let store = try openStore(try server.newDatabase()) { $0.decisionDeadline = .seconds(60) }
        let session = try await givenSession(store)
        for round in 0..<4 {
            try await useAll(store, session, round)
            try server.control("restart", "-m", mode)
        }
        try await useAll(store, session, 4)
        await store.close()
    }

    /// Ends the connection that waits for a lock with such a statement, as soon as there is one.
    private func endWaitingConnection(of server: PostgresServer, _ pattern: String) async throws {
        let ending = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND application_name = 'sojourn' AND query LIKE '\(pattern)'
            """
        // The call that has to wait for the lock needs a thread. On two cores there is none unless this test gives its own away.
        while try server.run(ending) != "1\n" { await Task.yield() }
    }

    @Test func aReadThatBreaksOffIsRepeated() async throws {
        let server = try PostgresServer()
        let url = try server.newDatabase()
        let store = try openStore(url) { $0.decisionDeadline = .seconds(60) }
        let session = try await givenSession(store)
        _ = try await store.updateSession(session.id) { $0.session.child += 1 }
        let (child, user) = try await withThrowingTaskGroup(of: Void.self) { group in
            let results = Results()
            try await holding(Statement("LOCK TABLE sessions, users IN ACCESS EXCLUSIVE MODE"), on: url) {
                group.addTask {
                    let child = try await store.updateSession(session.id) { change -> UInt64 in
                        change.session.child += 1
                        return change.session.child
                    }
                    results.child.store(child ?? 0, ordering: .releasing)
                }
                try await endWaitingConnection(of: server, "%= ANY%")
                group.addTask {
                    let update = try await store.updateUser(.id(session.userID)) { $0.user.passwordHash = "x" }
                    if case .done = update { results.updated.store(true, ordering: .releasing) }
                }
                try await endWaitingConnection(of: server, "%FOR NO KEY UPDATE%")
            }
            try await group.waitForAll()
            return (results.child.load(ordering: .acquiring), results.updated.load(ordering: .acquiring))
        }
        #expect(child == session.child + 2)
        #expect(user)
        await store.close()
    }

    private final class Results: Sendable {
        let child = Atomic<UInt64>(0)
        let updated = Atomic<Bool>(false)
    }

    @Test func aCommitThatBreaksOffIsRefused_andNotTriedAgain() async throws {
        let server = try PostgresServer()
        let url = try server.newDatabase()
        let store = try openStore(url) { $0.decisionDeadline = .seconds(30) }
        let session = try await givenSession(store)
        // The connection is one that was kept.
        _ = try await store.updateSession(session.id) { $0.session.child += 1 }
        let runs = Results()
        try await holding(TransactionLock.accounts.alone, on: url) {
            async let change: Void? = store.updateSession(session.id) { change in
                runs.child.wrappingAdd(1, ordering: .relaxed)
                change.session.child += 1
            }
            try await endWaitingConnection(of: server, "%lock_shared%")
            do {
                _ = try await change
                Issue.record("a change whose fate is unknown was acknowledged")
            } catch StoreError.unavailable {}
        }
        #expect(runs.child.load(ordering: .relaxed) == 1)
        #expect(try await store.session(session.id)?.session.child == session.child + 1)
        await store.close()
    }

    @Test func aReadThatWaitsTooLongLeavesNoStatementWaitingAtTheServer() async throws {
        let server = try PostgresServer()
        let url = try server.newDatabase()
        let session = try await givenSession(try openStore(url))
        // The second one has not read settings yet.
        let stores = try (0..<2).map { _ in try openStore(url) { $0.decisionDeadline = .seconds(2) } }
        _ = try await stores[0].settings()
        let reads: [@Sendable () async throws -> Void] = [
            { _ = try await stores[0].session(session.id) },
            { _ = try await stores[0].updateSession(session.id) { $0.session.child += 1 } },
            { _ = try await stores[0].user(.id(session.userID)) },
            { _ = try await stores[0].users(matching: nil, after: nil, limit: 9) },
            { _ = try await stores[1].settings() },
        ]
        try await holding(Statement("LOCK TABLE sessions, users, settings IN ACCESS EXCLUSIVE MODE"), on: url) {
            await withTaskGroup(of: Void.self) { group in
                for read in reads { group.addTask { await #expect(throws: StoreError.self) { try await read() } } }
            }
            let counting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            // The server hears of it by a clock of its own.
            let end = ContinuousClock.now + .seconds(10)
            while try server.run(counting) != "0\n", ContinuousClock.now < end {}
            #expect(try server.run(counting) == "0\n")
        }
        for store in stores { await store.close() }
    }
}
