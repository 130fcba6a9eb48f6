import CSQLite
import FoundationEssentials
import Locks
import Sessions
import Testing

@testable import SQLiteStore

/// A log that is copied in pieces, which are synced beside the writer: nothing is lost, whatever fails meanwhile, and
/// readers do not make it busy.
@Suite(.timeLimit(.minutes(2))) struct PiecewiseCheckpointTests {
    /// A store with a session, and a log that is copied in pieces of at least `pages / 2` pages.
    private static func store(
        in folder: TemporaryFolder, _ session: Session, _ user: User, pages: Int,
        _ change: (inout SQLiteStore.Options) -> Void = { _ in }
    ) async throws -> SQLiteStore {
        try await SQLiteFaultTests.store(in: folder, user, session) { options in
            options.checkpointFrames = pages
            options.checkpointsInPieces = true
            change(&options)
        }
    }

    @Test func theLogBeginsAnewWhileChangesGoOn() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let failures = Locked<[String]>([])
            let store = try await Self.store(in: folder, session, user, pages: 64) {
                $0.observer = Observer(failed: { text in failures.withLock { $0.append(text) } })
            }
            // Sixteen pieces at most, so many pages in each, would be more than this if the log never began anew.
            for serial in 2...5000 as ClosedRange<UInt64> {
                try await store.updateSession(session.id) { $0.session.child = serial }
            }
            #expect(DatabaseFile.size(folder.database + "-wal") < 5000 * 4120 / 2)
            #expect(try await store.diagnostics().problems.isEmpty)
            await store.close()
            #expect(failures.withLock { $0 } == [])
            #expect(DatabaseFile.size(folder.database + "-wal") == 0)
            let next = try folder.open()
            #expect(try await next.session(session.id)?.session.child == 5000)
            await next.close()
        }
    }

    @Test func aDiskThatLosesAPieceStopsTheStoreAndTheNextStartHasAll() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let said = Locked<[String]>([])
            let store = try await Self.store(in: folder, session, user, pages: 2) {
                $0.observer = Observer(failed: { text in said.withLock { $0.append(text) } })
            }
            var acknowledged: UInt64 = 1
            try await FaultyDisk.failing(folder.database, SQLiteFaultTests.failingSync) {
                for serial in 2...50_000 as ClosedRange<UInt64> {
                    do throws(StoreError) {
                        try await store.updateSession(session.id) { $0.session.child = serial }
                        acknowledged = serial
                    } catch { break }
                }
            }
            #expect(said.withLock { $0 }.contains { $0.hasSuffix("restart the server, which copies them anew") })
            // The disk works again, and yet.
            await #expect(throws: StoreError.self) { try await store.ping() }
            await store.close()
            #expect(DatabaseFile.size(folder.database + "-wal") > 0)
            let next = try folder.open()
            let child = try await next.session(session.id)?.session.child
            #expect(child == acknowledged || child == acknowledged + 1)
            #expect(try await next.diagnostics().problems.isEmpty)
            await next.close()
        }
    }

    /// The state that is held for a piece does not keep a repair from copying everything.
    @Test func aCommitThatFailsWhileAPieceIsHeldIsRepaired() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await Self.store(in: folder, session, user, pages: 2)
            for serial in 2...40 as ClosedRange<UInt64> {
                try await FaultyDisk.failing(folder.database + "-wal", SQLiteFaultTests.failingSync) {
                    await #expect(throws: StoreError.self) {
                        try await store.updateSession(session.id) { $0.session.child = 1000 }
                    }
                }
                try await store.updateSession(session.id) { $0.session.child = serial }
                #expect(try await store.session(session.id)?.session.child == serial)
                for _ in 0..<serial % 4 { try await store.ping() }
            }
            await store.close()
        }
    }

    @Test func aReaderThatStaysMakesNoCallBusy() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let copies = Locked(0)
            let store = try await Self.store(in: folder, session, user, pages: 64) {
                $0.observer = Observer(checkpointEnded: { _ in copies.withLock { $0 += 1 } })
            }
            let reader = try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 100)
            try reader.run("BEGIN")
            try reader.run("SELECT id FROM settings")
            for _ in 0..<1000 { try await store.ping() }
            #expect(copies.withLock { $0 } <= 1000 / 16 + 1)
            try reader.run("COMMIT")
            let grown = DatabaseFile.size(folder.database + "-wal")
            // Then the log is copied, and begins anew: it has room for all that follows.
            for _ in 0..<1000 { try await store.ping() }
            #expect(DatabaseFile.size(folder.database + "-wal") <= grown + 200 * 4120)
            await store.close()
        }
    }

    @Test(arguments: CheckpointFaultTests.fullFile)
    func aFullFileLeavesTheLogToHoldWhatIsAcknowledged(_ fault: CheckpointFaultTests.Fault) async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let said = Locked(0)
            let store = try await Self.store(in: folder, session, user, pages: 8) {
                $0.observer = Observer(failed: { _ in said.withLock { $0 += 1 } })
            }
            try await FaultyDisk.failing(folder.database, fault.disk) {
                for serial in 2...200 as ClosedRange<UInt64> {
                    try await store.updateSession(session.id) { $0.session.child = serial }
                }
            }
            #expect(said.withLock { $0 } > 0)
            for _ in 0..<200 { try await store.ping() }
            let afterwards = said.withLock { $0 }
            for _ in 0..<200 { try await store.ping() }
            #expect(said.withLock { $0 } == afterwards)
            #expect(try await store.session(session.id)?.session.child == 200)
            #expect(try await store.diagnostics().problems.isEmpty)
            await store.close()
            #expect(DatabaseFile.size(folder.database + "-wal") == 0)
        }
    }

    /// The process dies at any moment: what is left of the file and its log is enough.
    @Test func aCrashBetweenPiecesLosesNothing() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await Self.store(in: folder, session, user, pages: 8)
            for serial in 2...100 as ClosedRange<UInt64> {
                try await store.updateSession(session.id) { $0.session.child = serial }
                let copy = TemporaryFolder(path: folder.path + "/copy\(serial)")
                try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
                // The log first: what the writer still copies out of it meanwhile is in it.
                for ending in ["-wal", ""] {
                    try FileManager.default.copyItem(atPath: folder.database + ending, toPath: copy.database + ending)
                }
                let revived = try copy.open()
                #expect(try await revived.session(session.id)?.session.child == serial)
                #expect(try await revived.diagnostics().problems.isEmpty)
                await revived.close()
            }
            await store.close()
        }
    }
}
