import CSQLite
import FoundationEssentials
import Sessions
import Synchronization
import Testing

@testable import SQLiteStore

/// A disk that is full, or fails: nothing is acknowledged, nothing acknowledged is lost, and the store goes on when the
/// disk does.
@Suite struct SQLiteFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let disk: FaultyDisk.Fault
    }

    // SQLITE_IOERR_WRITE and SQLITE_IOERR_FSYNC, because Swift does not see their macros.
    static let faults = [
        Fault(testDescription: "full disk", disk: FaultyDisk.Fault(writing: SQLITE_FULL)),
        Fault(testDescription: "short write", disk: FaultyDisk.Fault(writing: SQLITE_FULL, bytesWritten: 1000)),
        Fault(testDescription: "failing write", disk: FaultyDisk.Fault(writing: SQLITE_IOERR | 3 << 8)),
        Fault(testDescription: "failing fsync", disk: failingSync),
    ]

    static let failingSync = FaultyDisk.Fault(syncing: SQLITE_IOERR | 4 << 8)

    @Test(arguments: faults) func aCommitThatFailsRefusesEveryChangeOfItsBatch(_ fault: Fault) async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let held = try await HeldStore(try await Self.store(in: folder, user, session))
            let store = held.store
            let changes: [Task<Void, any Error>] =
                (0..<20).map { _ in
                    Task { try await store.updateSession(session.id) { $0.session.child += 1 } }
                } + [
                    Task { try await store.updateSettings { $0.settings.epoch = 99 } },
                    Task {
                        try await store.updateClient("web") {
                            $0.client = Client(id: "web", createdAt: Example.start, epoch: 2)
                        }
                    },
                ]
            await held.waiting(22)
            try await FaultyDisk.failing(folder.database + "-wal", fault.disk) {
                try await held.release()
                for change in changes {
                    let error = await #expect(throws: StoreError.self) { try await change.value }
                    guard case .unavailable? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
                }
                // Reads go on, and see what was acknowledged.
                #expect(try await store.session(session.id)?.session.child == 1)
                #expect(try await store.settings() == Settings())
                #expect(try await store.client("web") == nil)
                let error = await #expect(throws: StoreError.self) { try await store.ping() }
                guard case .unavailable? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
            }
            let child = try await store.updateSession(session.id) { change -> UInt64 in
                change.session.child += 1
                return change.session.child
            }
            #expect(child == 2)
            #expect(try await store.settings() == Settings())
            await store.close()

            let reopened = try folder.open()
            #expect(try await reopened.session(session.id)?.session.child == 2)
            #expect(try await reopened.settings() == Settings())
            #expect(try await reopened.diagnostics().problems.isEmpty)
            await reopened.close()
        }
    }

    /// The refused frames are in the log's file, whole, and a connection that recovered the log would believe them.
    @Test func aChangeWithAFailedSyncDoesNotComeBackInACrash() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await Self.store(in: folder, user, session)
            try await FaultyDisk.failing(folder.database + "-wal", Self.failingSync) {
                await #expect(throws: StoreError.self) {
                    try await store.updateSession(session.id) { $0.session.child = 77 }
                }
            }
            // The next change repairs first, and is the only one that a crash leaves.
            try await store.ping()
            let copy = TemporaryFolder(path: folder.path + "/copy")
            try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.database + ending, toPath: copy.database + ending)
            }
            let revived = try copy.open()
            #expect(try await revived.session(session.id)?.session.child == 1)
            await revived.close()
            await store.close()
        }
    }

    @Test func aCheckpointThatFailsStopsChangesUntilItSucceeds() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try await Self.store(in: folder, user, session) { $0.checkpointFrames = 1 }
            // A change that writes nothing waits until the checkpoint behind those before it has ended.
            _ = try await store.updateSession(session.id) { $0.session.child }
            try await FaultyDisk.failing(folder.database, Self.failingSync) {
                // Durable in the log, so acknowledged; the checkpoint behind it fails.
                try await store.updateSession(session.id) { $0.session.child = 5 }
                await #expect(throws: StoreError.self) {
                    try await store.updateSession(session.id) { $0.session.child = 6 }
                }
                #expect(try await store.session(session.id)?.session.child == 5)
            }
            let child = try await store.updateSession(session.id) { $0.session.child }
            #expect(child == 5)
            await store.close()
        }
    }

    @Test func aFullDatabaseRefusesAndRecovers() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let pages = try await store.write { (transaction) throws(DatabaseError) -> Int64 in
                try transaction.connection.first(Self.pageCount) { row in row.integer() } ?? 0
            }
            try await Self.limit(store, toPages: pages + 3)
            var users: [User] = []
            var refused: StoreError?
            while refused == nil, users.count < 1000 {
                var user = Example.user("user\(users.count)")
                user.passwordHash = String(repeating: "x", count: 2000)
                do throws(StoreError) {
                    _ = try await store.insertUser(user, from: .admin, events: [])
                    users.append(user)
                } catch {
                    refused = error
                }
            }
            guard case .unavailable? = refused else { throw refused ?? StoreError.corrupted("the disk never filled") }
            #expect(try await store.users(matching: nil, after: nil, limit: 1000).items.count == users.count)
            try await Self.limit(store, toPages: 10_000)
            #expect(try await store.insertUser(Example.user("later"), from: .admin, events: []))
            #expect(try await store.diagnostics().problems.isEmpty)
            await store.close()
        }
    }

    @Test func aChangeThatContradictsTheDatabaseFailsAlone() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let held = try await HeldStore(try await Self.store(in: folder, user, session))
            let store = held.store
            let before = Task { try await store.updateSession(session.id) { $0.session.child += 1 } }
            await held.waiting(1)
            // It would end the session as replaced, and then cannot add one of the same id.
            let impossible = Task {
                try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") {
                    $0.session = session
                }
            }
            await held.waiting(2)
            let after = Task { try await store.updateSession(session.id) { $0.session.child += 1 } }
            await held.waiting(3)
            try await held.release()
            let error = await #expect(throws: StoreError.self) { try await impossible.value }
            guard case .corrupted? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
            _ = try await (before.value, after.value)
            let stored = try await store.session(session.id)?.session
            #expect(stored?.child == 3)
            #expect(stored?.ending == nil)
            await store.close()
        }
    }

    @Test func aDamagedFileStopsEveryChange() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            await (try await Self.store(in: folder, user, session)).close()
            try Self.damage(folder.database)
            let store = try folder.open()
            for _ in 0..<2 {
                let error = await #expect(throws: StoreError.self) {
                    try await store.updateSession(session.id) { $0.session.child += 1 }
                }
                guard case .corrupted? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
            }
            let error = await #expect(throws: StoreError.self) { try await store.ping() }
            guard case .corrupted? = error else { throw error ?? StoreError.corrupted("nothing thrown") }
            await store.close()
        }
    }

    private static let pageCount = Query("PRAGMA page_count")
    private static let rootPage = Query("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'")

    private static func limit(_ store: SQLiteStore, toPages count: Int64) async throws {
        try await store.write { (transaction) throws(DatabaseError) -> Void in
            try transaction.connection.run("PRAGMA max_page_count = \(count)")
        }
    }

    /// Overwrites the page where the table of sessions begins.
    private static func damage(_ path: String) throws {
        let root: Int64
        do {
            let connection = try Connection(path: path, access: .readOnly, cacheKibibytes: 100)
            root = try connection.first(rootPage) { row in row.integer() } ?? 0
        }
        var content = try Data(contentsOf: URL(filePath: path))
        let start = Int(root - 1) * 4096
        content.replaceSubrange(start..<(start + 4096), with: Data(repeating: 0xA5, count: 4096))
        try content.write(to: URL(filePath: path))
    }

    /// A store with one user and one session.
    static func store(
        in folder: TemporaryFolder, _ user: User, _ session: Session,
        _ edit: (inout SQLiteStore.Options) -> Void = { _ in }
    ) async throws -> SQLiteStore {
        FaultyDisk.install()
        let store = try folder.open(edit)
        _ = try await store.insertUser(user, from: .admin, events: [])
        try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") { $0.session = session }
        return store
    }
}
