import FoundationEssentials
import Migrations
import Repository
import Testing

/// The files of the migrations, and what they say of themselves.
@Suite struct MigrationFilesTests {
    private static let folder = "migrations/sql"

    @Test("every file of the folder has its row, and every row its two files, with their texts")
    func filesAndRows() throws {
        var expected: [String: String] = [:]
        for migration in Migration.all {
            let digits = String(migration.version)
            let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
            expected["\(number)_\(migration.name).sqlite.sql"] = migration.sqlite.text
            expected["\(number)_\(migration.name).postgres.sql"] = migration.postgres.text
        }
        let folder = Repository.root.appending(path: Self.folder)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.sorted() == expected.keys.sorted())
        for file in files {
            let bytes = try #require(FileManager.default.contents(atPath: folder.appending(path: file).path))
            #expect(expected[file] == String(decoding: bytes, as: UTF8.self), "\(file)")
        }
    }

    @Test("migrations are numbered from one without gaps")
    func numbers() {
        #expect(Migration.all.map(\.version) == Array(1...Migration.all.count))
    }

    @Test("every script says its effects, and both databases have the same but for what many nodes need")
    func effects() {
        for migration in Migration.all {
            let (sqlite, postgres) = (migration.sqlite.effects, migration.postgres.effects)
            #expect(!sqlite.isEmpty && !postgres.isEmpty, "\(migration.name)")
            let common = postgres.map { effect in
                Migration.Effect(
                    effect.kind == .addsIndexesConcurrently ? .addsIndexes : effect.kind,
                    effect.tables.filter { !["catalogue_revision", "nodes"].contains($0) })
            }
            #expect(common == sqlite, "\(migration.name)")
        }
    }

    @Test("a statement of PostgreSQL ends with a semicolon at the end of a line, and no comment does")
    func statements() {
        for migration in Migration.all {
            let lines = migration.postgres.text.split(separator: "\n").filter { !$0.hasPrefix("--") }
            #expect(migration.postgres.statements.joined(separator: "\n") == lines.joined(separator: "\n"))
            for line in lines where line.contains("--") { #expect(!line.hasSuffix(";"), "\(line)") }
            for statement in migration.postgres.statements {
                let code = statement.split(separator: "\n").map { $0.prefix { $0 != "-" } }.joined(separator: "\n")
                #expect(code.split(separator: ";").count == 1, "\(statement)")
            }
        }
    }

    @Test("effects are read from the first comment, in one line or several")
    func stated() {
        #expect(
            Migration.Effect.list(statedIn: "-- effects: adds tables notes\nCREATE TABLE notes (id bigint);")
                == [.init(.addsTables, ["notes"])])
        let text = """
            -- effects: adds tables a_b, c;
            --   adds columns to d,
            -- e; adds indexes on f; drops columns of g; drops indexes of h; drops tables i;
            -- adds indexes concurrently on j; retires parts of k

            -- Another comment.
            """
        #expect(
            Migration.Effect.list(statedIn: text) == [
                .init(.addsTables, ["a_b", "c"]), .init(.addsColumns, ["d", "e"]), .init(.addsIndexes, ["f"]),
                .init(.dropsColumns, ["g"]), .init(.dropsIndexes, ["h"]), .init(.dropsTables, ["i"]),
                .init(.addsIndexesConcurrently, ["j"]), .init(.retires, ["k"]),
            ])
    }

    @Test(
        "a first comment that does not say the effects is refused",
        arguments: [
            "", "CREATE TABLE notes (id bigint);", "-- Adds notes.\n-- effects: adds tables notes", "-- effects:",
            "-- effects: none", "-- effects: adds tables", "-- effects: adds tables notes;",
            "-- effects: adds table notes",
            "-- effects: adds tables notes,", "-- effects: adds tables notes lines", "-- effects: adds tables Notes.",
            "-- effects: adds columns sessions", "\n-- effects: adds tables notes", "-- effects adds tables notes",
        ])
    func refused(_ text: String) {
        #expect(Migration.Effect.list(statedIn: text) == nil)
    }
}
