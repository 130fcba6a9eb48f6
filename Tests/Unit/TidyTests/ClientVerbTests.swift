import FoundationEssentials
import Repository
import Testing

/// The table of verbs in the manual, against what the three clients declare.
struct ClientVerbTests {
    private static let table = "Sources/sojourn/Sojourn.docc/Apps/Platforms/ClientVerbs.md"

    /// The rows: for each client the names in its cell.
    private static func rows() throws -> [[[String]]] {
        let lines = try text(table).split(separator: "\n").filter { $0.hasPrefix("| `") || $0.hasPrefix("| –") }
        return lines.map { line in line.split(separator: "|").prefix(3).map(names) }
    }

    private static func names(in cell: Substring) -> [String] {
        cell.matches(of: #/`([A-Za-z]+)`/#).map { String($0.1) }
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try #require(FileManager.default.contents(atPath: Repository.path(path))), as: UTF8.self)
    }

    private static func files(_ folder: String, _ ending: String) throws -> [String] {
        let root = Repository.path(folder)
        return try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(ending) }
            .map { folder + "/" + $0 }
    }

    /// The names that the rows of one column have.
    private static func column(_ number: Int) throws -> [String] { try rows().flatMap { $0[number] } }

    @Test("the table of verbs has each verb of the Swift SDK once, and no other")
    func swift() throws {
        let pattern = #/^Sojourn · .*\b(?:func|var) ([A-Za-z]+)/#
        let declared = try Self.text("Tests/Unit/TidyTests/PublicAPI/SojournClient.txt").split(separator: "\n")
            .compactMap { line in line.firstMatch(of: pattern).map { String($0.1) } }
        let listed = try Self.column(0)
        #expect(declared.count > 60)
        #expect(listed.sorted() == Set(declared).sorted())
    }

    @Test("the table of verbs has each verb of the TypeScript client once, and no other")
    func typeScript() throws {
        // A member that is neither private nor protected begins with its own name.
        let pattern = #/(?m)^    (?:async |get )?([a-z][A-Za-z]+)\([^\n]*\{$|^    async ([a-z][A-Za-z]+)\($/#
        let folders = ["core/session", "core/verbs", "core/client.ts", "web/web-sojourn.ts"]
        let sources = try Self.files("Sources/Clients/TypeScript/src", ".ts").filter { path in
            folders.contains { path.contains("/src/" + $0) } && !path.hasSuffix("second-factor.ts")
        }
        #expect(sources.count > 12)
        let declared = try sources.flatMap { path in
            try Self.text(path).matches(of: pattern).compactMap { ($0.1 ?? $0.2).map(String.init) }
        }
        let names = Set(declared).subtracting(["constructor"])
        let listed = try Self.column(1)
        #expect(listed.sorted() == names.sorted())
    }

    @Test("each Kotlin verb in the table of verbs is declared")
    func kotlin() throws {
        let pattern = #/\b(?:fun|val|var) (?:Sojourn\.)?([A-Za-z]+)/#
        let declared = try Self.files("Sources/Clients/Kotlin/core", ".kt").flatMap { path in
            try Self.text(path).matches(of: pattern).map { String($0.1) }
        }
        let listed = try Self.column(2)
        #expect(Set(listed).count == listed.count)
        #expect(Set(listed).subtracting(declared).sorted() == [])
    }
}
