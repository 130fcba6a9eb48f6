import FoundationEssentials
import Migrations
import Sessions
import StoreFoundation
import Testing

@testable import SQLiteStore

@Suite struct PlanTests {
    private static let later: [Migration] = [
        Migration(
            version: OpeningTests.newest + 1, name: "index_users", effect: .addsIndexes(on: ["users"]),
            sqlite: "CREATE INDEX users_country ON users (country);"),
        Migration(
            version: OpeningTests.newest + 2, name: "add_notes", effect: .addsTables(["notes"]),
            sqlite: "CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT;"),
        Migration(
            version: OpeningTests.newest + 3, name: "add_columns", effect: .addsColumns(to: ["clients", "notes"]),
            sqlite: "ALTER TABLE notes ADD COLUMN text TEXT;"),
    ]

    @Test func aPlanCountsTheRowsOfEachStepAndChangesNothing() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            for name in ["a", "b", "c"] { _ = try await store.insertUser(Example.user(name), events: []) }
            await store.close()
            let before = try Data(contentsOf: URL(filePath: folder.database))
            let closed = try ClosedDatabase(path: folder.database, migrations: Migration.all + Self.later)
            let plan = try closed.plan()
            #expect(plan.map(\.name) == ["index_users", "add_notes", "add_columns"])
            #expect(plan.map { $0.tables.map(\.name) } == [["users"], [], ["clients", "notes"]])
            #expect(plan.map { $0.tables.map(\.rows) } == [[3], [], [0, 0]])
            #expect(plan.map(\.growsWithRows) == [true, false, false])
            #expect(plan[0].lock.contains("every row"))
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
            _ = try await store.insertUser(Example.user("a"), events: [])
            let crashed = folder.path + "/crashed"
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.database + ending, toPath: crashed + ending)
            }
            await store.close()
            let log = try Data(contentsOf: URL(filePath: crashed + "-wal"))
            let closed = try ClosedDatabase(path: crashed, migrations: Migration.all + Self.later)
            #expect(try closed.plan().first?.tables.map(\.rows) == [1])
            #expect(try closed.contents().settings == Settings())
            #expect(try closed.diagnostics().problems.isEmpty)
            closed.close()
            #expect(try Data(contentsOf: URL(filePath: crashed + "-wal")) == log)
        }
    }

    /// What a migration says of itself must be true: it touches no table with rows but those that it names.
    @Test func everyMigrationNamesTablesThatItsTextHas() {
        for migration in Migration.all {
            var named: [String]
            switch migration.effect {
            case .addsTables(let tables), .addsColumns(let tables), .addsIndexes(let tables), .dropsColumns(let tables),
                .dropsTables(let tables):
                named = tables
            }
            for table in named { #expect(migration.sqlite.contains(table), "\(migration.name) \(table)") }
            #expect(!migration.sqlite.contains("UPDATE "), "\(migration.name) fills rows at a start")
        }
    }
}

extension OpeningTests {
    /// The newest version that this program knows.
    static let newest = Migration.all.count
}
