import FoundationEssentials
import Repository
import Testing

/// What apps can call, and what it may use.
struct ClientAPITests {
    private static let modules = ["SojournClient", "SojournEvents", "SojournTestKit"]

    /// Names that are newer than iOS 16 and macOS 13, or that no Apple platform has. The compiler here does not know when a name
    /// came, so this list is what there is.
    private static let newer: [(pattern: String, since: String)] = [
        (#"\bMutex\b"#, "iOS 18"), (#"\bimport Synchronization\b"#, "iOS 18"), (#"\bAtomic<"#, "iOS 18"),
        (#"\b(?:Mutable|Raw|MutableRaw|Output)?Span\b"#, "iOS 26 for most of it"), (#"\.span\b"#, "iOS 26"),
        (#"\bInlineArray\b"#, "iOS 26"), (#"\b(?:some|any) Async(?:Sequence|IteratorProtocol)<"#, "iOS 18"),
        (#"\bnext\(isolation:"#, "iOS 18"), (#"@Observable\b"#, "iOS 17"), (#"\bU?Int128\b"#, "iOS 18"),
        (#"\bTask\.immediate\b"#, "iOS 26"), (#"\bTask\(name:"#, "iOS 26"),
        (#"\bwithTaskGroup\(of: .*, isolation:"#, "iOS 18"),
        (#"\bDiscardingTaskGroup\b|\bwithDiscardingTaskGroup\b"#, "iOS 17"), (#"\bTaskExecutor\b"#, "iOS 18"),
        (#"\bimport FoundationEssentials\b"#, "no Apple platform"), (#"\bimport Observation\b"#, "iOS 17"),
        (#"\bString\(validating:"#, "iOS 18"), (#"\b#Predicate\b"#, "iOS 17"), (#"\bUUID\.version7\b"#, "later"),
    ]

    @Test("the code for devices uses nothing newer than iOS 16 and macOS 13", arguments: newer.indices)
    func nothingNewer(index: Int) throws {
        let (pattern, since) = Self.newer[index]
        let name = try Regex(pattern)
        let prefixes = Self.modules.map { "Sources/\($0)/" }
        let files = try SourceFile.all(in: "Sources").filter { file in prefixes.contains { file.path.hasPrefix($0) } }
        #expect(files.count > 40)
        for file in files {
            for (number, line) in file.lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                let isNewer = line.contains(name)
                #expect(!isNewer, "\(file.path):\(number + 1): \(since)")
            }
        }
    }

    @Test("the public API is the one that is written down", arguments: modules)
    func api(module: String) throws {
        let files = try SourceFile.all(in: "Sources").filter { $0.path.hasPrefix("Sources/\(module)/") }
        let declared = files.flatMap { PublicDeclarations.all(in: $0.lines) }.sorted()
        #expect(declared.count > 30)
        let path = Repository.path("Tests/Unit/TidyTests/PublicAPI/\(module).txt")
        let text = declared.map { $0 + "\n" }.joined()
        // To take a change over: SOJOURN_WRITE_API=yes swift test --filter ClientAPITests
        if ProcessInfo.processInfo.environment["SOJOURN_WRITE_API"] == "yes" {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let written = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        let lines = Set(written.split(separator: "\n").map(String.init))
        for line in Set(declared).subtracting(lines).sorted() { Issue.record("new: \(line)") }
        for line in lines.subtracting(declared).sorted() { Issue.record("gone: \(line)") }
        #expect(text == written)
    }
}

/// The public declarations of a file, each in one line behind the type that it belongs to.
private enum PublicDeclarations {
    static func all(in lines: [Substring]) -> [String] {
        let container =
            #/^(?<public>public )?(?:final |indirect )*(?<kind>extension|struct|class|actor|enum|protocol) (?<name>[\w.]+)/#
        var found: [String] = []
        var open: [(indent: Int, name: String, allows: (Substring) -> Bool)] = []
        var index = 0
        while index < lines.count {
            let line = lines[index]
            index += 1
            let indent = line.prefix { $0 == " " }.count
            let text = line.dropFirst(indent)
            guard !text.isEmpty, !text.hasPrefix("//"), !text.hasPrefix("#"), !text.contains(#/^\w+ import /#) else {
                continue
            }
            while let last = open.last, indent <= last.indent, text.hasPrefix("}") || indent < last.indent {
                open.removeLast()
            }
            let isPublic = text.hasPrefix("public ") || text.contains(#/^@\w+(?:\(.*?\))? public /#)
            if isPublic || open.last?.allows(text) == true {
                // swift-format breaks a declaration after its parenthesis, and continues it with more spaces.
                var declaration = String(text)
                while !isClosed(declaration), index < lines.count {
                    declaration += " " + lines[index].drop { $0 == " " }
                    index += 1
                }
                found.append((open.map(\.name) + [signature(declaration)]).joined(separator: " · "))
            }
            guard text.hasSuffix("{") || text.hasSuffix(",") || text.hasSuffix(":"),
                let match = text.prefixMatch(of: container)
            else { continue }
            let allows: (Substring) -> Bool =
                switch (match.output.kind, match.output.public != nil) {
                case ("enum", true): { $0.hasPrefix("case ") }
                case ("protocol", true): { $0.contains(#/^(?:func|var|init|subscript|associatedtype|static) ?/#) }
                default: { _ in false }
                }
            open.append((indent, String(match.output.name), allows))
        }
        return found
    }

    /// Whether parentheses and brackets are balanced.
    private static func isClosed(_ text: String) -> Bool {
        var depth = 0
        for character in text {
            if "([".contains(character) { depth += 1 } else if ")]".contains(character) { depth -= 1 }
        }
        return depth <= 0 && !text.hasSuffix("=")
    }

    /// The declaration without its body and without its value.
    private static func signature(_ text: String) -> String {
        var depth = 0
        var end = text.endIndex
        for index in text.indices {
            let character = text[index]
            if "([".contains(character) { depth += 1 } else if ")]".contains(character) { depth -= 1 }
            let isAccessor = text[index...].hasPrefix("{ get")
            if depth == 0, character == "{", !isAccessor {
                end = index
                break
            }
        }
        return String(text[..<end]).split(separator: " ").joined(separator: " ")
            .replacing("( ", with: "(").replacing(" )", with: ")")
    }
}
