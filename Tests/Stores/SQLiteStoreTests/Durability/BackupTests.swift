import CSQLite
import Dispatch
import FoundationEssentials
import Glibc
import Locks
import Migrations
import Sessions
import StoreConformance
import StoreFoundation
import Testing

@testable import SQLiteStore

@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    private static let clock = WallClock { Example.start }

    /// A copy that goes on page by page, and calls `body` after each.
    private static func stepwise(_ body: @escaping @Sendable () -> Void) -> CopyOptions {
        var options = CopyOptions { _ in body() }
        options.pagesPerStep = 1
        return options
    }

    /// What lies in the folder beside the database's own files.
    private static func others(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix("test.sqlite") }
            .sorted()
    }

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func aBackupIsOneMomentAndChangesGoOnMeanwhile() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let user = Example.user()
            _ = try await store.insertUser(user, from: .admin, events: [])
            let sessions = ["a", "b"].map { Example.session(of: user.id, device: $0) }
            for session in sessions {
                _ = try await store.openSession(userID: user.id, clientID: "web", deviceID: session.device.id) {
                    $0.session = session
                }
            }
            // First a, then b: at no moment is b ahead of a, or a two ahead of b.
            let advance = { @Sendable () async throws in
                for session in sessions { _ = try await store.updateSession(session.id) { $0.session.child += 1 } }
            }
            for _ in 0..<5 { try await advance() }
            // Every step of the copy waits until another round was acknowledged.
            let (step, round) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            let writing = Task { () async throws -> Int in
                var rounds = 0
                for await _ in step.stream {
                    try await advance()
                    rounds += 1
                    round.signal()
                }
                return rounds
            }
            let file = folder.path + "/backup"
            let backup = try await store.backUp(
                to: file, by: .system,
                Self.stepwise {
                    step.continuation.yield()
                    round.wait()
                })
            step.continuation.finish()
            let rounds = try await writing.value
            #expect(rounds > 10)
            #expect(backup.bytes == DatabaseFile.size(file))
            #expect(Self.mode(file) == 0o600)
            #expect(try Self.others(folder) == ["backup"])
            #expect(try await store.session(sessions[0].id)?.session.child == UInt64(6 + rounds))

            let copy = try SQLiteStore(path: file, options: SQLiteStore.Options(clock: Self.clock))
            for session in sessions { #expect(try await copy.session(session.id)?.session.child == 6) }
            let newest = try await copy.events(after: 0, limit: 99, userID: nil, sessionID: nil).last
            #expect(newest?.event.kind == .backupStarted)
            #expect(newest?.event.reason == backup.path)
            await copy.close()
            await store.close()
        }
    }

    @Test func nothingButABackupIsEverReplaced() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let file = folder.path + "/backup"
            _ = try await store.backUp(to: file, by: .system)
            await #expect(throws: BackupError.exists(path: file)) { try await store.backUp(to: file, by: .system) }
            _ = try await store.backUp(to: file, replacing: true, by: .system)
            let text = Data("My diary".utf8)
            let diary = folder.path + "/diary"
            try text.write(to: URL(filePath: diary))
            await #expect(throws: BackupError.notOurs(path: diary)) {
                try await store.backUp(to: diary, replacing: true, by: .system)
            }
            #expect(try Data(contentsOf: URL(filePath: diary)) == text)
            let link = folder.path + "/link"
            try FileManager.default.linkItem(atPath: folder.database, toPath: link)
            // What has the name of the draft would go.
            try FileManager.default.linkItem(atPath: folder.database, toPath: link + "2.partial")
            for path in [folder.database, folder.database + "-wal", folder.database + ".lock", link, link + "2"] {
                await #expect(throws: BackupError.isTheDatabase(path: path)) {
                    try await store.backUp(to: path, replacing: true, by: .system)
                }
            }
            await #expect(throws: BackupError.open(.directoryMissing(path: folder.path + "/no/file"))) {
                try await store.backUp(to: folder.path + "/no/file", by: .system)
            }
            try await store.ping()
            await store.close()
        }
    }

    @Test func oneBackupAtATimeAndTheStoresEndEndsIt() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let reached = AsyncStream<Void>.makeStream()
            let options = Self.stepwise {
                reached.continuation.finish()
                while !store.turn.isCancelled {}
            }
            let first = Task { () async -> BackupError? in
                do throws(BackupError) {
                    _ = try await store.backUp(to: folder.path + "/first", by: .system, options)
                    return nil
                } catch { return error }
            }
            for await _ in reached.stream {}
            await #expect(throws: BackupError.busy) { try await store.backUp(to: folder.path + "/2nd", by: .system) }
            await store.close()
            #expect(await first.value == .cancelled)
            #expect(try Self.others(folder).isEmpty)
            await #expect(throws: BackupError.cancelled) {
                try await store.backUp(to: folder.path + "/3rd", by: .system)
            }
            // The file is free: nothing of the backup holds the log.
            let next = try folder.open()
            try await next.ping()
            await next.close()
        }
    }

    @Test(arguments: [FaultyDisk.Fault(writing: SQLITE_FULL), FaultyDisk.Fault(writing: SQLITE_IOERR | 3 << 8)])
    func aDiskThatRefusesTheCopyLeavesTheStoreAlone(_ fault: FaultyDisk.Fault) async throws {
        FaultyDisk.install()
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let file = folder.path + "/backup"
            try await FaultyDisk.failing(file + ".partial", fault) {
                await #expect(throws: BackupError.self) { try await store.backUp(to: file, by: .system) }
            }
            #expect(try Self.others(folder).isEmpty)
            try await store.ping()
            _ = try await store.backUp(to: file, by: .system)
            #expect(try Self.others(folder) == ["backup"])
            await store.close()
        }
    }

    @Test func aClosedDatabaseIsCopiedAsItIs() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let file = folder.path + "/backup"
            func backUp() throws -> Backup {
                try SQLiteStore.backUp(
                    closed: folder.database, to: file, by: .system, clock: Self.clock, migrations: NextVersion.all)
            }
            #expect(throws: BackupError.open(.alreadyOpen(path: folder.database))) { try backUp() }
            await store.close()
            // The next version of the program makes the backup: what is missing stays missing.
            _ = try backUp()
            for path in [folder.database, file] {
                let closed = try ClosedDatabase(path: path, migrations: NextVersion.all)
                #expect(try closed.plan().map(\.version) == NextVersion.migrations.map(\.version))
                #expect(try closed.missingCount() == NextVersion.migrations.count)
                closed.close()
            }
            #expect(throws: BackupError.missing(path: folder.path + "/none")) {
                try SQLiteStore.backUp(
                    closed: folder.path + "/none", to: folder.path + "/x", by: .system, clock: Self.clock)
            }
        }
    }

    /// A page in the middle of a table that has many, zeroed.
    @Test func aDamagedDatabaseGivesNoBackup() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let event = AuditEvent(
                .loginFailed, at: Example.start, by: .system, reason: String(repeating: "x", count: 500))
            for _ in 0..<20 { try await store.append([AuditEvent](repeating: event, count: 50)) }
            await store.close()
            try BadDisk.write(
                [UInt8](repeating: 0, count: 4096), at: DatabaseFile.size(folder.database) / 2 / 4096 * 4096,
                folder.database)
            let error = #expect(throws: BackupError.self) {
                try SQLiteStore.backUp(
                    closed: folder.database, to: folder.path + "/backup", by: .system, clock: Self.clock)
            }
            if case .databaseDamaged? = error {} else { Issue.record("\(String(describing: error))") }
            #expect(try Self.others(folder).isEmpty)
        }
    }
}

/// What a bad disk does to a file.
enum BadDisk {
    static func write(_ bytes: [UInt8], at offset: Int64, _ path: String) throws {
        let descriptor = open(path, O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(pwrite(descriptor, bytes, bytes.count, Int(offset)) == bytes.count)
    }
}
