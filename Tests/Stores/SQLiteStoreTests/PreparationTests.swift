import Dispatch
import Locks
import Sessions
import Testing

@testable import SQLiteStore

/// An answer that is prepared while the disk works on the change it tells of.
@Suite struct PreparationTests {
    @Test func whatWasPreparedIsNotGivenOutWhenTheCommitFails() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            let prepared = Locked(0)
            // A commit can fail before anything is prepared.
            for _ in 0..<200 where prepared.withLock({ $0 }) == 0 {
                try await FaultyDisk.failing(folder.database + "-wal", SQLiteFaultTests.failingSync) {
                    let error = await #expect(throws: StoreError.self) {
                        _ = try await store.changeSession(session.id) { change in
                            change.session.child = 77
                        } preparing: {
                            prepared.withLock { $0 += 1 }
                        }
                    }
                    guard case .unavailable? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
                }
                #expect(try await store.session(session.id)?.session.child == 1)
                try await store.ping()
            }
            #expect(prepared.withLock { $0 } == 1)
            await store.close()
        }
    }

    @Test func whatIsNotDecidedIsNotPrepared() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            await store.close()
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.changeSession(session.id) {
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
            let (child, prepared) = (Locked<UInt64>(0), Locked<[UInt64]>([]))
            let good = Task {
                try await store.changeSession(session.id) { change in
                    change.session.child += 1
                    let serial = change.session.child
                    child.withLock { $0 = serial }
                } preparing: {
                    let serial = child.withLock { $0 }
                    prepared.withLock { $0.append(serial) }
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
            #expect(try await good.value)
            await #expect(throws: StoreError.self) { try await impossible.value }
            #expect(prepared.withLock { $0 } == [2])
            await store.close()
        }
    }

    @Test func aPreparationThatOutlastsTheCommitHoldsUpNoOtherChange() async throws {
        try await TemporaryFolder.with { folder in
            let (store, session) = try await Self.store(in: folder)
            let (begun, release) = (Locked(false), DispatchSemaphore(value: 0))
            let change = Task(executorPreference: OwnQueue()) {
                try await store.changeSession(session.id) {
                    $0.session.child = 9
                } preparing: {
                    begun.withLock { $0 = true }
                    release.wait()
                }
            }
            while !begun.withLock({ $0 }) { await Task.yield() }
            // Durable only after what was decided before it.
            try await store.ping()
            #expect(try await store.session(session.id)?.session.child == 9)
            release.signal()
            #expect(try await change.value)
            await store.close()
        }
    }

    private static func store(in folder: TemporaryFolder) async throws -> (SQLiteStore, Session) {
        let user = Example.user()
        let session = Example.session(of: user.id)
        let store = try await SQLiteFaultTests.store(in: folder, user, session)
        return (store, session)
    }
}

/// Runs what may block its thread.
private final class OwnQueue: TaskExecutor {
    private let queue = DispatchQueue(label: "preparation")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
