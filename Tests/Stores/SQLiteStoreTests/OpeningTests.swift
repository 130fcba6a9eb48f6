import FoundationEssentials
import Locks
import Migrations
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

@Suite struct OpeningTests {
    private static let options = SQLiteStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 1_800_000_000) })

    private static let next = Migration(
        newest + 1, "add_table", "-- effects: adds tables added\nCREATE TABLE added (id INTEGER PRIMARY KEY) STRICT;")

    @Test func aSecondStoreOnTheSameFileIsRefusedUntilTheFirstIsClosed() async throws {
        try await TemporaryFolder.with { folder in
            let first = try folder.open()
            let link = folder.path + "/link.sqlite"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.database)
            for path in [folder.database, folder.path + "/../" + Self.name(folder) + "/test.sqlite", link] {
                #expect(throws: OpenError.alreadyOpen(path: folder.database)) {
                    try SQLiteStore(path: path, options: Self.options)
                }
            }
            await first.close()
            let next = try folder.open()
            try await next.ping()
            await next.close()
        }
    }

    private static func name(_ folder: TemporaryFolder) -> String {
        String(folder.path.split(separator: "/").last ?? "")
    }

    @Test func aFolderThatIsMissingIsSaid() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/missing/test.sqlite"
            #expect(throws: OpenError.directoryMissing(path: path)) {
                try SQLiteStore(path: path, options: Self.options)
            }
        }
    }

    @Test func aFileOfSomethingElseIsRefusedAndLeftAsItIs() async throws {
        try await TemporaryFolder.with { folder in
            let text = Data("My diary, which is longer than a database's header of one hundred bytes. ".utf8)
            try (text + text).write(to: URL(filePath: folder.database))
            #expect(throws: OpenError.notADatabase(path: folder.database)) { try folder.open() }
            #expect(try Data(contentsOf: URL(filePath: folder.database)) == text + text)
        }
    }

    @Test func aDatabaseOfSomethingElseIsRefused() async throws {
        try await TemporaryFolder.with { folder in
            _ = try DatabaseFile.create(folder.database)
            let connection = try Connection(path: folder.database, access: .readWrite, cacheKibibytes: 100)
            try connection.run("CREATE TABLE recipes (title TEXT)")
            #expect(throws: OpenError.notADatabase(path: folder.database)) { try folder.open() }
        }
    }

    @Test func missingMigrationsAreAppliedOnceAndRecorded() async throws {
        try await TemporaryFolder.with { folder in
            let old = try folder.open()
            let user = Example.user()
            _ = try await old.insertUser(user, from: .admin, events: [])
            await old.close()
            for _ in 0..<2 {
                let new = try SQLiteStore(
                    path: folder.database, options: Self.options, migrations: Migration.all + [Self.next])
                #expect(try await new.user(.id(user.id)) == user)
                let applied = try await new.diagnostics().applied
                #expect(applied.map(\.name) == Migration.all.map(\.name) + ["add_table"])
                #expect(applied.map(\.appliedAt) == [Instant](repeating: Example.start, count: Self.newest + 1))
                await new.close()
            }
        }
    }

    @Test func aDatabaseOfANewerProgramIsServed_untilAStepDropsSomething() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            for migrations in [NextVersion.expanded, Migration.all, NextVersion.expanded, NextVersion.all] {
                let notes = Locked<[String]>([])
                var options = Self.options
                options.observer.noted = { note in notes.withLock { $0.append(note) } }
                let store = try SQLiteStore(path: folder.database, options: options, migrations: migrations)
                _ = try await store.insertUser(user, from: .admin, events: [])
                #expect(try await store.user(.id(user.id)) == user)
                await store.close()
                let isOld = migrations.count == Self.newest
                #expect(
                    notes.withLock { $0.map { $0.contains("\(Self.newest + 1) index_users, ") } }
                        == (isOld ? [true] : []))
            }
            let expected = OpenError.newerDatabase(
                path: folder.database, version: NextVersion.newest, readableBy: NextVersion.newest - 1,
                newestKnown: Self.newest)
            #expect(throws: expected) { try folder.open() }
            #expect(expected.description.contains("Run the newer program"))
            // What knows the step that retired the dropped parts goes on.
            await (try SQLiteStore(path: folder.database, options: Self.options, migrations: NextVersion.expanded))
                .close()
        }
    }

    /// A column that the next version has added, in rows that today's program changes.
    @Test func whatAnEarlierProgramDoesNotKnow_staysAsItIs() async throws {
        try await TemporaryFolder.with { folder in
            let new = try SQLiteStore(
                path: folder.database, options: Self.options, migrations: NextVersion.expanded)
            try await new.updateClient("web") { $0.client = Client(id: "web", createdAt: Example.start, epoch: 1) }
            await new.close()
            let connection = try Connection(path: folder.database, access: .readWrite, cacheKibibytes: 100)
            for table in ["settings", "clients"] {
                if table == "clients" { try connection.run("ALTER TABLE \(table) ADD COLUMN colour TEXT") }
                try connection.run("UPDATE \(table) SET colour = 'blue'")
            }
            let old = try folder.open()
            try await old.updateSettings { $0.settings.sessions.refreshAfter = .seconds(99) }
            try await old.updateClient("web") { $0.client?.name = "other" }
            await old.close()
            for table in ["settings", "clients"] {
                let colours = try connection.all(Query("SELECT coalesce(colour, 'none') FROM \(table)")) { row in
                    row.text()
                }
                #expect(!colours.isEmpty && colours.allSatisfy { $0 == "blue" }, "\(table): \(colours)")
            }
            #expect(try connection.integer("SELECT refresh_after_seconds FROM settings") == 99)
        }
    }

    @Test func aReleasedMigrationThatWasEditedIsRefused() async throws {
        try await TemporaryFolder.with { folder in
            await (try folder.open()).close()
            let edited = Migration.all.map {
                Migration($0.version, $0.name, $0.sqlite.text + "\n-- better")
            }
            #expect(throws: OpenError.changedMigration(path: folder.database, version: 1)) {
                try SQLiteStore(path: folder.database, options: Self.options, migrations: edited)
            }
        }
    }

    @Test func aMigrationThatFailsHalfWayLeavesNothing() async throws {
        try await TemporaryFolder.with { folder in
            await (try folder.open()).close()
            let broken = Migration(
                Self.newest + 1, "broken",
                "-- effects: adds tables half\nCREATE TABLE half (id INTEGER); INSERT INTO nowhere VALUES (1);")
            #expect(throws: OpenError.self) {
                try SQLiteStore(path: folder.database, options: Self.options, migrations: Migration.all + [broken])
            }
            let repaired = Migration(
                Self.newest + 1, "whole", "-- effects: adds tables half\nCREATE TABLE half (id INTEGER) STRICT;")
            let store = try SQLiteStore(
                path: folder.database, options: Self.options, migrations: Migration.all + [repaired])
            #expect(
                try await store.diagnostics().applied.map(\.name) == Migration.all.map(\.name) + ["whole"])
            await store.close()
        }
    }

    @Test func diagnosticsDescribeASoundDatabase() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            try await store.ping()
            let diagnostics = try await store.diagnostics()
            #expect(diagnostics.problems.isEmpty)
            #expect(diagnostics.pending.isEmpty)
            #expect(diagnostics.journalMode == "wal")
            #expect(diagnostics.fileBytes > 0)
            #expect(diagnostics.logBytes > 0)
            #expect(diagnostics.sqliteVersion.hasPrefix("3."))
            await store.close()
        }
    }

    /// A read can be accepted, and come to its turn only after the queue's end was scheduled.
    @Test func aReadThatComesAfterTheEndIsRefused() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let reader = Reader(
                connection: try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 64),
                published: store.published, damage: Damage(), options: store.options)
            reader.finish()
            let refusal = await withCheckedContinuation { caller in
                reader.process([PendingRead(waitingSince: store.options.now(), run: { _ in }, caller: caller)])
            }
            #expect(refusal == .unavailable("the database is closed"))
            await store.close()
        }
    }
}
