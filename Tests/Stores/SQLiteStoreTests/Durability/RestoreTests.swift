import Cryptography
import FoundationEssentials
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

@Suite(.timeLimit(.minutes(5))) struct RestoreTests {
    private static let clock = WallClock { Example.start + .seconds(86400) }

    private static func restore(_ file: String, _ folder: TemporaryFolder) throws(BackupError) -> Restoration {
        try SQLiteStore.restore(file, over: folder.database, by: Origin(actor: "admin:local"), clock: clock)
    }

    /// A folder with a backup that knows `anna` and a database, closed, that knows `berta` too.
    private static func withBackup(_ body: (TemporaryFolder, String) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            _ = try await store.insertUser(Example.user("anna"), from: .admin, events: [])
            let file = folder.path + "/backup"
            _ = try await store.backUp(to: file, by: .system)
            let event = AuditEvent(.userCreated, at: Example.start, by: .system)
            _ = try await store.insertUser(Example.user("berta"), from: .admin, events: [event, event])
            await store.close()
            try await body(folder, file)
        }
    }

    private static func names(_ path: String) async throws -> [String] {
        let store = try SQLiteStore(path: path, options: SQLiteStore.Options(clock: clock))
        let names = try await store.users(matching: nil, after: nil, limit: 9).items.map(\.username)
        await store.close()
        return names
    }

    private static func endings(_ path: String) throws -> [String] {
        let url = URL(filePath: path)
        return try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
            .filter { $0.hasPrefix(url.lastPathComponent) }.map { String($0.dropFirst(url.lastPathComponent.count)) }
            .sorted()
    }

    @Test func theBackupTakesThePlaceAndWhatWasThereIsKept() async throws {
        try await Self.withBackup { folder, file in
            let restored = try Self.restore(file, folder)
            let replaced = try #require(restored.replaced)
            #expect(replaced == folder.database + ".replaced-20270116-080000")
            #expect(restored.takenAt == Example.start)
            #expect(restored.undone == ["user_created": 2])
            #expect(try await Self.names(folder.database) == ["anna"])
            #expect(try await Self.names(replaced) == ["anna", "berta"])
            // The same again: every replaced one is kept.
            let again = try Self.restore(file, folder)
            #expect(again.replaced == replaced + "-2")
            #expect(again.undone == ["database_restored": 1])
            #expect(try await Self.names(file) == ["anna"])
        }
    }

    /// Since the backup a provider may have changed the token by which it is asked: its next no means the token, not the user.
    @Test func whatProvidersAreAskedWith_isInDoubt() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let user = Example.user("anna")
            _ = try await store.insertUser(user, from: .admin, events: [])
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID, device: Device(id: "d"),
                startedAt: Example.start, epoch: 1)
            let check = ProviderCheck(
                sessionID: session.id, provider: "acme", subject: "u1", clientID: "app", sealedToken: [1],
                dueAt: Example.start)
            let opened: Void? = try await store.openSession(
                userID: user.id, clientID: Client.mobileID, deviceID: "d"
            ) { opening in
                opening.session = session
                opening.providerCheck = check
            }
            #expect(opened != nil)
            let file = folder.path + "/backup"
            _ = try await store.backUp(to: file, by: .system)
            #expect(try await store.providerCheck(of: session.id) == check)
            await store.close()
            _ = try Self.restore(file, folder)
            let restored = try folder.open()
            #expect(try await restored.providerCheck(of: session.id)?.isInDoubt == true)
            await restored.close()
        }
    }

    @Test func theTrailGoesOnBehindThePlacesOfTheReplacedOne() async throws {
        try await Self.withBackup { folder, file in
            let before = try folder.open()
            let last = try #require(try await before.events(after: 0, limit: 99, userID: nil, sessionID: nil).last)
            await before.close()
            _ = try Self.restore(file, folder)
            let store = try folder.open()
            try await store.append([AuditEvent(.loginFailed, at: Example.start, by: .system)])
            let events = try await store.events(after: last.id, limit: 99, userID: nil, sessionID: nil)
            #expect(events.map(\.event.kind) == [.databaseRestored, .loginFailed])
            #expect(events.first?.event.actor == "admin:local")
            await store.close()
        }
    }

    /// As `kill -9` leaves it: with a log that holds what the database does not.
    @Test func aLogThatACrashLeftIsKeptWithTheReplacedOneAlone() async throws {
        try await Self.withBackup { folder, file in
            let store = try folder.open()
            _ = try await store.insertUser(Example.user("clara"), from: .admin, events: [])
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: folder.database + ending, toPath: folder.path + "/crashed" + ending)
            }
            await store.close()
            let crashed = folder.path + "/crashed"
            let restored = try SQLiteStore.restore(file, over: crashed, by: .system, clock: Self.clock)
            #expect(try Self.endings(crashed).filter { !$0.hasPrefix(".replaced") } == ["", ".lock"])
            #expect(try await Self.names(crashed) == ["anna"])
            #expect(try await Self.names(try #require(restored.replaced)) == ["anna", "berta", "clara"])
        }
    }

    @Test func aDamagedDatabaseIsReplacedAndKeptWithItsLog() async throws {
        try await Self.withBackup { folder, file in
            for (ending, text) in [("", "not a database"), ("-wal", "nor a log"), ("-shm", "nor its index")] {
                try Data(text.utf8).write(to: URL(filePath: folder.database + ending))
            }
            let restored = try Self.restore(file, folder)
            let replaced = try #require(restored.replaced)
            #expect(restored.undone == nil)
            #expect(try Data(contentsOf: URL(filePath: replaced)) == Data("not a database".utf8))
            #expect(try Data(contentsOf: URL(filePath: replaced + "-wal")) == Data("nor a log".utf8))
            #expect(try Self.endings(folder.database).filter { !$0.hasPrefix(".replaced") } == ["", ".lock"])
            #expect(try await Self.names(folder.database) == ["anna"])
        }
    }

    @Test func whereNothingWasThereIsNothingToKeep() async throws {
        try await Self.withBackup { folder, file in
            let fresh = folder.path + "/fresh"
            let restored = try SQLiteStore.restore(file, over: fresh, by: .system, clock: Self.clock)
            #expect(restored.replaced == nil)
            #expect(try Self.endings(fresh) == ["", ".lock"])
            #expect(try await Self.names(fresh) == ["anna"])
        }
    }

    @Test func whatIsNoBackupOfOursIsRefusedAndNothingChanges() async throws {
        try await Self.withBackup { folder, file in
            func expect(_ error: BackupError, _ file: String, _ location: SourceLocation = #_sourceLocation) throws {
                #expect(throws: error, sourceLocation: location) { try Self.restore(file, folder) }
            }
            let none = folder.path + "/none"
            try expect(.missing(path: none), none)
            try expect(.isTheDatabase(path: folder.database), folder.database)
            let diary = folder.path + "/diary"
            try Data(repeating: 7, count: 5000).write(to: URL(filePath: diary))
            try expect(.open(.notADatabase(path: diary)), diary)
            try Data("a log".utf8).write(to: URL(filePath: file + "-wal"))
            try expect(.hasLog(path: file), file)
            try FileManager.default.removeItem(atPath: file + "-wal")

            let store = try folder.open()
            try expect(.open(.alreadyOpen(path: folder.database)), file)
            await store.close()

            let newer = try Connection(path: file, access: .readWrite, cacheKibibytes: 64)
            try newer.run("PRAGMA journal_mode = DELETE")
            try newer.run("INSERT INTO schema_migrations VALUES (99, 'future', x'00', 1, 99, 99)")
            try expect(
                .open(.newerDatabase(path: file, version: 99, readableBy: 99, newestKnown: OpeningTests.newest)), file)
            try newer.run("DELETE FROM schema_migrations WHERE version = 99")
            try newer.run("UPDATE schema_migrations SET digest = x'00' WHERE version = 1")
            try expect(.open(.changedMigration(path: file, version: 1)), file)
            #expect(try await Self.names(folder.database) == ["anna", "berta"])
            #expect(try Self.endings(folder.database) == ["", ".lock"])
        }
    }

    /// A backup with pages that were damaged later.
    @Test func aDamagedBackupIsRefusedAndNothingChanges() async throws {
        try await Self.withBackup { folder, file in
            // The root of the schema stays; the pages of tables behind it go.
            try BadDisk.write([UInt8](repeating: 0x5A, count: 4096 * 4), at: 4096 * 8, file)
            let error = #expect(throws: BackupError.self) { try Self.restore(file, folder) }
            if case .damaged? = error {} else { Issue.record("\(String(describing: error))") }
            #expect(try await Self.names(folder.database) == ["anna", "berta"])
            #expect(try Self.endings(folder.database) == ["", ".lock"])
        }
    }

    @Test func aBackupOfTheVersionBeforeIsBroughtUpToDateByTheNextStart() async throws {
        try await Self.withBackup { folder, file in
            let migrations = NextVersion.all
            _ = try SQLiteStore.restore(
                file, over: folder.database, by: .system, clock: Self.clock, migrations: migrations)
            let store = try SQLiteStore(
                path: folder.database, options: SQLiteStore.Options(clock: Self.clock), migrations: migrations)
            #expect(try await store.diagnostics().applied.last?.version == NextVersion.newest)
            #expect(try await store.users(matching: nil, after: nil, limit: 9).items.map(\.username) == ["anna"])
            await store.close()
        }
    }
}
