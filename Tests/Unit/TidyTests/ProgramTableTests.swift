import FoundationEssentials
import Testing

/// The manual's table of programs that log in is that of the scripts that log in to them.
struct ProgramTableTests {
    private static let scripts = "Tests/System/ServerTests/Scripts/Programs"

    private static func text(_ path: String) throws -> String {
        String(
            decoding: try #require(FileManager.default.contents(atPath: Manual.path(path)), "\(path)"), as: UTF8.self)
    }

    /// What each row has in backticks, by the script that it names first.
    private static func rows() throws -> [String: [String]] {
        let page = try Manual.page("Apps/Platforms/Programs")
        let lines = page.codeSpans.reduce(into: [Int: [String]]()) { $0[$1.line, default: []].append($1.text) }
        let rows = Set(page.tableLines.map(\.line)).compactMap { lines[$0] }
        return try Dictionary(uniqueKeysWithValues: rows.map { (try #require($0.first), Array($0.dropFirst())) })
    }

    @Test("each script has one row, and the tests run it") func everyScriptHasARow() throws {
        let names = try Manual.names(in: Self.scripts).filter { $0.hasSuffix("_login.py") }
        #expect(names.count >= 8)
        #expect(try Self.rows().keys.sorted() == names)
        let suite = try Self.text("Tests/System/ServerTests/Clients/ProgramLoginTests.swift")
        for name in names { #expect(suite.contains("\"\(name.dropLast("_login.py".count))\""), "\(name)") }
    }

    @Test("the versions, paths and settings of a row stand in its script, or in what installs the program")
    func rowsAreTrue() throws {
        for (script, spans) in try Self.rows() {
            var text = try Self.text("\(Self.scripts)/\(script)") + Self.text("\(Self.scripts)/program.py")
            if text.contains("import dovecot") { text += try Self.text("\(Self.scripts)/dovecot.py") }
            text += try Self.text(".ci/setup")
            for span in spans { #expect(text.contains(span), "\(script)") }
        }
    }
}
