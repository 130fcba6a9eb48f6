import FoundationEssentials
import Repository
import Testing

/// The manual quotes snippets that other tests run or compile: what a reader copies is what was tested.
struct QuoteTests {
    private static let snippets = [
        "Tests/System/ServerTests/Snippets", "Tests/System/SDKTests/Snippets", "Tests/System/SDKTests/Programs/shop",
        "Tests/System/SDKTests/Programs/http", "Tests/System/SDKTests/Programs/bridge",
        "Tests/System/SDKTests/Programs/python", "Tests/Unit/SojournClientTests/Snippets",
        "Tests/Unit/SojournEventsTests/Snippets",
    ]
    private static let manual = "Sources/sojourn/Sojourn.docc"

    private static func text(_ path: String) throws -> String {
        let bytes = try #require(
            FileManager.default.contents(atPath: Repository.root.appending(path: path).path), "\(path)")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The contents of the fenced blocks of code in `article`.
    private static func blocks(_ article: String) -> [String] {
        var blocks: [String] = []
        var open: [Substring]?
        for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let lines = open { blocks.append(lines.map { $0 + "\n" }.joined()) }
                open = open == nil ? [] : nil
            } else {
                open?.append(line)
            }
        }
        return blocks
    }

    @Test("each snippet is quoted as it stands, in an article of the manual")
    func snippets_areQuoted() throws {
        let articles = try FileManager.default.subpathsOfDirectory(
            atPath: Repository.root.appending(path: Self.manual).path
        )
        .filter { $0.hasSuffix(".md") }
        let blocks = Set(try articles.flatMap { Self.blocks(try Self.text("\(Self.manual)/\($0)")) })
        let paths = try Self.snippets.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: folder).path)
                .map { "\(folder)/\($0)" }
        }
        #expect(paths.count >= 19)
        for path in paths { #expect(blocks.contains(try Self.text(path)), "\(path) is quoted in no article") }
    }

    @Test("the Swift of the README is a part of a snippet that is compiled")
    func swiftOfTheReadme_isQuoted() throws {
        let snippet = try Self.text("Tests/Unit/SojournClientTests/Snippets/TenLines.swift")
        let parts = Self.blocks(try Self.text("README.md")).filter { $0.contains("Sojourn(SojournConfiguration") }
        #expect(parts.count == 1)
        for part in parts { #expect(snippet.contains(part)) }
    }
}
