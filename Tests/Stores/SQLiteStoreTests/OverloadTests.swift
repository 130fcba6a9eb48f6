import Dispatch
import Sessions
import StoreConformance
import Locks
import Testing

@testable import SQLiteStore

@Suite struct OverloadTests {
    @Test func aChangeThatWaitedLongerThanTheDeadlineIsNotRun() async throws {
        try await TemporaryFolder.with { folder in
            let elapsed = Locked(Duration.zero)
            let origin = ContinuousClock.now
            let held = try await HeldStore(
                try folder.open { options in
                    options.decisionDeadline = .seconds(10)
                    options.now = { origin + elapsed.withLock { $0 } }
                })
            let ran = Locked(false)
            let late = Task { try await held.store.updateSettings { _ in ran.withLock { $0 = true } } }
            await held.waiting(1)
            elapsed.withLock { $0 = .seconds(11) }
            // In time: it has only just arrived.
            let punctual = Task { try await held.store.ping() }
            await held.waiting(2)
            try await held.release()
            await #expect(throws: StoreError.unavailable("waited longer than the deadline for the writer")) {
                try await late.value
            }
            try await punctual.value
            #expect(!ran.withLock { $0 })
            await held.store.close()
        }
    }

    @Test func moreChangesThanTheQueueHoldsAreRefusedAtOnce() async throws {
        try await TemporaryFolder.with { folder in
            let held = try await HeldStore(try folder.open { $0.pendingMax = 3 })
            let waiting = (0..<3).map { _ in Task { try await held.store.ping() } }
            await held.waiting(3)
            await #expect(throws: StoreError.unavailable("too many changes wait for the database")) {
                try await held.store.ping()
            }
            try await held.release()
            for task in waiting { try await task.value }
            try await held.store.ping()
            await held.store.close()
        }
    }

    @Test func whatWaitsIsCommittedTogether() async throws {
        try await TemporaryFolder.with { folder in
            let batches = Locked<[Observer.Batch]>([])
            let held = try await HeldStore(
                try folder.open { options in
                    options.batchMax = 40
                    options.observer.batchEnded = { batch in batches.withLock { $0.append(batch) } }
                })
            let waiting = (0..<100).map { _ in Task { try await held.store.ping() } }
            await held.waiting(100)
            try await held.release()
            for task in waiting { try await task.value }
            await held.store.close()
            let written = batches.withLock { $0.filter(\.wrote) }
            #expect(written.map(\.changes) == [40, 40, 20])
            #expect(written.map(\.isCommitted) == [true, true, true])
        }
    }

    @Test func aBatchThatChangesNothingWritesNothing() async throws {
        try await TemporaryFolder.with { folder in
            let batches = Locked<[Observer.Batch]>([])
            let store = try folder.open { options in
                options.observer.batchEnded = { batch in batches.withLock { $0.append(batch) } }
            }
            let user = Example.user()
            _ = try await store.insertUser(user, from: .admin, events: [])
            let session = Example.session(of: user.id)
            try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") { $0.session = session }
            let before = DatabaseFile.size(folder.database + "-wal")
            let child = try await store.updateSession(session.id) { $0.session.child }
            #expect(child == 1)
            #expect(batches.withLock { $0.map(\.wrote) } == [true, true, false])
            #expect(DatabaseFile.size(folder.database + "-wal") == before)
            await store.close()
        }
    }

    @Test("the observer hears each beginning and each end with its reason")
    func transitionsAreObserved() async throws {
        try await TemporaryFolder.with { folder in
            let seen = Locked<[SessionTransition]>([])
            let store = try folder.open { options in
                options.observer.batchEnded = { batch in seen.withLock { $0 += batch.transitions } }
            }
            try await ObservedTransitions.make(in: store)
            #expect(seen.withLock { $0 } == ObservedTransitions.all)
            await store.close()
        }
    }

    @Test func aSlowSearchDoesNotHoldUpChanges() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let gate = DispatchSemaphore(value: 0)
            let reached = AsyncStream<Void>.makeStream()
            let search = Task {
                try await store.readAtLength { (_) throws(DatabaseError) -> Void in
                    reached.continuation.finish()
                    gate.wait()
                }
            }
            for await _ in reached.stream {}
            try await store.ping()
            let unknown = try await store.user(.username("nobody"))
            #expect(unknown == nil)
            gate.signal()
            try await search.value
            await store.close()
        }
    }
}
