import Locks
import Sessions
import Testing

@testable import SQLiteStore

/// An answer that is prepared while the disk works on the change it tells of.
@Suite struct PreparationTests {
    @Test func whatWasPreparedIsNotGivenOutWhenTheCommitFails() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            let prepared = Locked<[UInt64]>([])
            try await FaultyDisk.failing(folder.database + "-wal", FaultTests.failingSync) {
                let error = await #expect(throws: StoreError.self) {
                    try await store.updateSession(session.id) { change -> UInt64 in
                        change.session.child = 77
                        return 77
                    } preparing: { child in
                        prepared.withLock { $0.append(child) }
                    }
                }
                guard case .unavailable? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
            }
            // Unless the commit failed sooner.
            #expect(prepared.withLock { $0 }.allSatisfy { $0 == 77 })
            #expect(try await store.session(session.id)?.session.child == 1)
            await store.close()
        }
    }

    @Test func whatIsNotDecidedIsNotPrepared() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            await store.close()
            let error = await #expect(throws: StoreError.self) {
                try await store.updateSession(session.id) {
                    $0.session.child += 1
                } preparing: {
                    Issue.record("prepared")
                }
            }
            guard case .unavailable? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
        }
    }

    @Test func aChangeThatIsRunAgainIsPreparedOnce() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            let held = try await HeldStore(store)
            let preparations = Locked(0)
            let good = Task {
                try await store.updateSession(session.id) { change -> UInt64 in
                    change.session.child += 1
                    return change.session.child
                } preparing: { child in
                    preparations.withLock { $0 += 1 }
                    return child
                }
            }
            await held.waiting(1)
            // Ends the session as replaced, then cannot add one of the same id: the batch is run again without it.
            let impossible = Task {
                try await store.openSession(userID: session.userID, clientID: "web", deviceID: "phone") {
                    $0.session = session
                }
            }
            await held.waiting(2)
            try await held.release()
            #expect(try await good.value == 2)
            await #expect(throws: StoreError.self) { try await impossible.value }
            #expect(preparations.withLock { $0 } == 1)
            await store.close()
        }
    }

    @Test func aPreparationThatOutlastsTheCommitIsWaitedFor() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            let seen = try await store.updateSession(session.id) {
                $0.session.child = 9
            } preparing: {
                // Durable only after what was decided before it.
                try? await store.ping()
                return try? await store.session(session.id)?.session.child
            }
            #expect(seen == 9)
            await store.close()
        }
    }

    private static func store(in folder: TemporaryFolder) async throws -> (SQLiteStore, Session) {
        let user = Example.user()
        let session = Example.session(of: user.id)
        let store = try await FaultTests.store(in: folder, user, session)
        return (store, session)
    }
}
