import FoundationEssentials
import Repository
import Testing

/// A Swift file of the repository, with what the rules about names and comments ask for.
struct SourceFile {
    /// A declaration of a type.
    struct Declaration {
        var line: Int
        var name: Substring
        /// Whether it stands outside every other type.
        var isTopLevel: Bool
    }

    /// The path from the top of the repository.
    let path: String
    let lines: [Substring]
    /// The declarations of types, in their order.
    let declarations: [Declaration]

    /// The target that the file belongs to: the folder below `Sources`, `Sources/Foundations`, `Tests/Unit` and so on.
    var target: Substring {
        let parts = path.split(separator: "/")
        return switch parts[0] {
        case "Sources": ["Foundations", "Libraries"].contains(parts[1]) ? parts[2] : parts[1]
        case "Tests": parts[2]
        default: "Migrations"
        }
    }

    /// Comment lines, without white space around them.
    var comments: [(line: Int, text: Substring)] {
        lines.enumerated().compactMap { index, line in
            let text = line.drop { $0 == " " }
            return text.hasPrefix("//") ? (index + 1, text) : nil
        }
    }

    private static func declarations(_ lines: [Substring]) -> [Declaration] {
        let attributes = #/(?:@\w+(?:\(.*?\))? +)*/#
        let modifiers = #/(?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated) +)*/#
        let type = #/(struct|class|enum|actor|protocol|typealias) +(\w+)/#
        let keywords = ["struct ", "class ", "enum ", "actor ", "protocol ", "typealias "]
        return lines.enumerated().compactMap { index, line in
            var text = line.drop { $0 == " " }
            guard !text.hasPrefix("/"), keywords.contains(where: { text.contains($0) }) else { return nil }
            for prefix in [attributes, modifiers] { text.trimPrefix(prefix) }
            guard let match = text.prefixMatch(of: type) else { return nil }
            return Declaration(line: index + 1, name: match.2, isTopLevel: line.first != " ")
        }
    }

    /// The Swift files below a folder, read once.
    static func all(in folder: String) throws -> [SourceFile] {
        switch folder {
        case "Sources": try sources.get()
        case "Tests": try tests.get()
        default: try read(folder)
        }
    }

    private static let sources = Result { try read("Sources") }
    private static let tests = Result { try read("Tests") }

    private static func read(_ folder: String) throws -> [SourceFile] {
        try FileManager.default.subpathsOfDirectory(atPath: Repository.path(folder)).filter { $0.hasSuffix(".swift") }
            .sorted().map { name in
                let path = "\(folder)/\(name)"
                let bytes = try #require(FileManager.default.contents(atPath: Repository.path(path)))
                let text = String(decoding: bytes, as: UTF8.self)
                let lines = Array(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(1))
                return SourceFile(path: path, lines: lines, declarations: declarations(lines))
            }
    }
}
