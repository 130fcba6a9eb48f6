import Testing

/// Speed shapes code only where the file says so, with figure and command. What the compiler does not check has its reason.
struct SpeedTests {
    /// The comment that a file begins with.
    private static func beginning(_ lines: [Substring]) -> String {
        lines.prefix { $0.hasPrefix("//") }.map { $0.dropFirst(2) }.joined()
    }

    /// The files in which a line of code contains `word`, with the numbers of those lines.
    private static func files(with word: String) throws -> [(file: SourceFile, lines: [Int])] {
        try SourceFile.all(in: "Sources").compactMap { file in
            let found = file.lines.indices.filter { index in
                file.lines[index].contains(word) && !file.lines[index].drop { $0 == " " }.hasPrefix("//")
            }
            return found.isEmpty ? nil : (file, found)
        }
    }

    @Test("a file with `@inline(never)` begins with its reason, the figure and the command, or the file that has them")
    func shapesAreMeasured() throws {
        let figure = #/[0-9] ?(?:%|ns|µs|ms|s|B|KB|MB|KiB|MiB|bytes|instructions|allocations|times)(?!\w)/#
        let command = #/`(?:swift|sojourn-bench|\.ci\/run) [^`]+`/#
        func isMeasured(_ text: String) -> Bool { text.contains(figure) && text.contains(command) }

        let all = Dictionary(uniqueKeysWithValues: try SourceFile.all(in: "Sources").map { ($0.path, $0) })
        let shaped = try Self.files(with: "@inline(never)")
        #expect(!shaped.isEmpty)
        for (file, _) in shaped {
            let text = Self.beginning(file.lines)
            #expect(text.hasPrefix(" Shaped for speed: "), "\(file.path)")
            let others = text.matches(of: #/`(\w[^` ]*\.swift)`/#).compactMap { all["Sources/\($0.1)"] }
            #expect(isMeasured(text) || others.contains { isMeasured(Self.beginning($0.lines)) }, "\(file.path)")
        }
    }

    @Test("each `@unchecked Sendable` has its reason, in a comment that begins with that word")
    func escapesAreExplained() throws {
        let escapes = try Self.files(with: "@unchecked Sendable")
        #expect(!escapes.isEmpty)
        for (file, lines) in escapes {
            for index in lines {
                let before = file.lines[..<index].reversed().prefix { $0.drop { $0 == " " }.hasPrefix("//") }
                let near = Array(before) + [file.lines.dropFirst(index + 1).first ?? ""]
                let isExplained = near.contains { $0.drop { $0 == " " }.contains(#/^\/\/ Sendable(?:, because|:) \w/#) }
                #expect(isExplained, "\(file.path):\(index + 1)")
            }
        }
    }
}
