import CSQLite
import FoundationEssentials
import Locks
import Sessions
import Testing

@testable import SQLiteStore

/// The file of the database fails while the log beside it does not: what is in the log is acknowledged and stays, the
/// log is copied when the file works again.
@Suite struct CheckpointFaultTests {
    typealias Fault = SQLiteFaultTests.Fault

    static let fullFile = [
        Fault(testDescription: "no space", disk: FaultyDisk.Fault(writing: SQLITE_FULL)),
        Fault(
            testDescription: "no space in the middle of a page",
            disk: FaultyDisk.Fault(writing: SQLITE_FULL, bytesWritten: 1000)),
    ]

    // SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC and SQLITE_IOERR_READ, because Swift does not see their macros.
    static let failingFile =
        fullFile + [
            Fault(
                testDescription: "failing in the middle of a page",
                disk: FaultyDisk.Fault(writing: SQLITE_IOERR | 3 << 8, bytesWritten: 1000)),
            Fault(testDescription: "failing fsync", disk: SQLiteFaultTests.failingSync),
        ]

    @Test(arguments: fullFile) func aFullFileLeavesTheLogToHoldWhatIsAcknowledged(_ fault: Fault) async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await SQLiteFaultTests.store(in: folder, user, session) { $0.checkpointFrames = 1 }
            try await store.ping()
            try await FaultyDisk.failing(folder.database, fault.disk) {
                for serial in 2...9 as ClosedRange<UInt64> {
                    try await store.updateSession(session.id) { $0.session.child = serial }
                }
            }
            // The process dies now.
            let copy = TemporaryFolder(path: folder.path + "/copy")
            try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.database + ending, toPath: copy.database + ending)
            }
            let revived = try copy.open()
            #expect(try await revived.session(session.id)?.session.child == 9)
            #expect(try await revived.diagnostics().problems.isEmpty)
            await revived.close()
            // Or it goes on.
            try await store.updateSession(session.id) { $0.session.child = 10 }
            try await store.ping()
            #expect(try await store.session(session.id)?.session.child == 10)
            await store.close()
            #expect(DatabaseFile.size(folder.database + "-wal") == 0)
        }
    }

    /// A reader keeps a copy from being whole, so SQLite neither waits for the disk nor copies those pages again, and what
    /// the disk says later is of them too.
    @Test func pagesThatTheDiskMayHaveLostAreCopiedAnewByTheNextStart() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let said = Locked<[String]>([])
            let store = try await SQLiteFaultTests.store(in: folder, user, session) {
                $0.checkpointFrames = 1
                $0.observer = Observer(failed: { text in said.withLock { $0.append(text) } })
            }
            let reader = try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 100)
            try reader.run("BEGIN")
            try reader.run("SELECT id FROM settings")
            try await store.updateSession(session.id) { $0.session.child = 5 }
            try await store.ping()
            // A change that writes nothing waits until the checkpoint behind those before it has ended.
            _ = try await store.updateSession(session.id) { $0.session.child }
            try reader.run("COMMIT")
            try await FaultyDisk.failing(folder.database, SQLiteFaultTests.failingSync) {
                try await store.updateSession(session.id) { $0.session.child = 6 }
                await Self.expectUnavailable { () async throws(StoreError) in try await store.ping() }
            }
            // The disk works again, and yet.
            await Self.expectUnavailable { () async throws(StoreError) in try await store.ping() }
            await Self.expectUnavailable { () async throws(StoreError) in _ = try await store.session(session.id) }
            #expect(said.withLock { $0 }.contains { $0.hasSuffix("restart the server, which copies them anew") })
            await store.close()
            #expect(DatabaseFile.size(folder.database + "-wal") > 0)
            let next = try folder.open()
            #expect(try await next.session(session.id)?.session.child == 6)
            #expect(try await next.diagnostics().problems.isEmpty)
            await next.close()
        }
    }

    @Test(arguments: failingFile) func aStopThatCannotCopyTheLogLeavesItToTheNextStart(_ fault: Fault) async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await SQLiteFaultTests.store(in: folder, user, session)
            try await store.updateSession(session.id) { $0.session.child = 5 }
            try await FaultyDisk.failing(folder.database, fault.disk) {
                await store.close()
                // Nothing may build on a log that cannot be copied.
                #expect(throws: OpenError.self) { try folder.open() }
            }
            let next = try folder.open()
            #expect(try await next.session(session.id)?.session.child == 5)
            #expect(try await next.diagnostics().problems.isEmpty)
            await next.close()
        }
    }

    @Test func aFileThatCannotBeReadIsNoEmptyOne() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            await (try await SQLiteFaultTests.store(in: folder, user, session)).close()
            let store = try folder.open()
            try await FaultyDisk.failing(folder.database, FaultyDisk.Fault(reading: SQLITE_IOERR | 1 << 8)) {
                await Self.expectUnavailable { () async throws(StoreError) in _ = try await store.session(session.id) }
                await Self.expectUnavailable { () async throws(StoreError) in
                    _ = try await store.updateSession(session.id) { $0.session.child = 7 }
                }
                await Self.expectUnavailable { () async throws(StoreError) in try await store.ping() }
            }
            #expect(try await store.session(session.id)?.session.child == 1)
            try await store.updateSession(session.id) { $0.session.child = 8 }
            #expect(try await store.session(session.id)?.session.child == 8)
            await store.close()
        }
    }

    /// The log is cut to nothing before anything else is written after a fault.
    @Test func aLogThatCannotBeCutKeepsChangesAway() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await SQLiteFaultTests.store(in: folder, user, session)
            try await FaultyDisk.failing(folder.database + "-wal", SQLiteFaultTests.failingSync) {
                await Self.expectUnavailable { () async throws(StoreError) in try await store.ping() }
            }
            try await FaultyDisk.failing(
                folder.database + "-wal", FaultyDisk.Fault(truncating: SQLITE_IOERR | 6 << 8)
            ) {
                await Self.expectUnavailable { () async throws(StoreError) in try await store.ping() }
            }
            try await store.ping()
            #expect(try await store.session(session.id)?.session.child == 1)
            await store.close()
        }
    }

    private static func expectUnavailable(
        _ location: SourceLocation = #_sourceLocation, _ call: () async throws(StoreError) -> Void
    ) async {
        do throws(StoreError) {
            try await call()
            Issue.record("nothing thrown", sourceLocation: location)
        } catch {
            guard case .unavailable = error else {
                Issue.record(error, sourceLocation: location)
                return
            }
        }
    }
}
