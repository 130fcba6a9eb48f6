import FoundationEssentials
import Migrations
import Sessions
import StoreConformance
import StoreFoundation
import Testing

@testable import SQLiteStore

@Suite struct PlanTests {
    @Test func aPlanCountsTheRowsOfEachStepAndChangesNothing() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            for name in ["a", "b", "c"] { _ = try await store.insertUser(Example.user(name), from: .admin, events: []) }
            await store.close()
            let before = try Data(contentsOf: URL(filePath: folder.database))
            let closed = try ClosedDatabase(path: folder.database, migrations: NextVersion.all)
            let plan = try closed.plan()
            #expect(plan.map(\.name) == NextVersion.migrations.map(\.name))
            #expect(
                plan.map { $0.tables.map(\.name) }
                    == [
                        ["users"], [], ["sessions", "settings", "notes"], ["sessions"], [],
                        ["notes", "users", "lines"],
                    ])
            #expect(plan.map { $0.tables.map(\.rows) } == [[3], [], [0, 1, 0], [0], [], [0, 3, 0]])
            #expect(plan.map(\.growsWithRows) == [true, false, false, true, false, true])
            #expect(plan[0].lock.contains("every row"))
            #expect(
                plan[2].effect
                    == "makes lines (no row that exists is touched), adds columns to sessions, settings, notes "
                    + "(no row is rewritten)")
            #expect(
                plan[5].effect == "drops columns of notes, drops indexes of users (frees their pages), drops lines "
                    + "(frees their pages)")
            #expect(throws: OpenError.alreadyOpen(path: folder.database)) { try folder.open() }
            closed.close()
            #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.sorted() == ["test.sqlite", "test.sqlite.lock"])
            await (try folder.open()).close()
        }
    }

    /// A log that a crash left belongs to what is planned on, and stays.
    @Test func aLogIsReadAndStays() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            _ = try await store.insertUser(Example.user("a"), from: .admin, events: [])
            let crashed = folder.path + "/crashed"
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.database + ending, toPath: crashed + ending)
            }
            await store.close()
            let log = try Data(contentsOf: URL(filePath: crashed + "-wal"))
            let closed = try ClosedDatabase(path: crashed, migrations: NextVersion.all)
            #expect(try closed.plan().first?.tables.map(\.rows) == [1])
            #expect(try closed.contents().settings == Settings())
            #expect(try closed.diagnostics().problems.isEmpty)
            closed.close()
            #expect(try Data(contentsOf: URL(filePath: crashed + "-wal")) == log)
        }
    }

    /// What a migration says of itself is what it does: no table, column or index more or less, and no row.
    @Test func everyMigrationDoesWhatItSays() async throws {
        try await TemporaryFolder.with { folder in
            let path = try DatabaseFile.create(folder.database)
            let connection = try Connection(path: path, access: .readWrite, cacheKibibytes: 100)
            var before = SchemaShape(columns: [], indexes: [])
            for migration in NextVersion.all {
                let migrations = NextVersion.all(upTo: migration.version)
                try MigrationRunner(migrations: migrations, clock: WallClock { Example.start })
                    .run(on: connection, path: path)
                let after = try shape(connection)
                #expect(after.effects(since: before) == migration.sqlite.effectsByTable, "\(migration.name)")
                #expect(!migration.sqlite.text.contains("UPDATE "), "\(migration.name) fills rows at a start")
                before = after
            }
        }
    }

    /// A later one that drops an index has to say so, and one that makes it anew with another order both.
    @Test func anIndexThatIsDroppedIsSeen() async throws {
        try await TemporaryFolder.with { folder in
            let path = try DatabaseFile.create(folder.database)
            let connection = try Connection(path: path, access: .readWrite, cacheKibibytes: 100)
            let dropping = Migration(
                OpeningTests.newest + 1, "drop_index",
                "-- effects: drops indexes of users\nDROP INDEX users_mailbox;")
            var before = SchemaShape(columns: [], indexes: [])
            for migrations in [Migration.all, Migration.all + [dropping]] {
                before = try shape(connection)
                try MigrationRunner(migrations: migrations, clock: WallClock { Example.start })
                    .run(on: connection, path: path)
            }
            let script = dropping.sqlite
            #expect(try shape(connection).effects(since: before) == [.init(.dropsIndexes, ["users"])])
            #expect(script.effectsByTable == [.init(.dropsIndexes, ["users"])])
            #expect(script.sentence == "drops indexes of users (frees their pages)" && script.growsWithRows)
            #expect(script.tables == ["users"])
            before = try shape(connection)
            try connection.run("DROP INDEX sessions_ended; CREATE INDEX sessions_ended ON sessions (user_id)")
            let effects = try shape(connection).effects(since: before)
            #expect(effects == [.init(.dropsIndexes, ["sessions"]), .init(.addsIndexes, ["sessions"])])
        }
    }

    private func shape(_ connection: Connection) throws -> SchemaShape {
        let columns = Query(
            """
            SELECT t.name, c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '')
            FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
            """)
        let indexes = Query("SELECT tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        return SchemaShape(
            columns: try connection.all(columns) { row in (row.text(), row.text()) },
            indexes: try connection.all(indexes) { row in (row.text(), row.text()) })
    }
}

extension OpeningTests {
    /// The newest version that this program knows.
    static let newest = Migration.all.count
}
