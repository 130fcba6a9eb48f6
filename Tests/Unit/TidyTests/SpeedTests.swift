import Testing

/// Speed shapes code only where the file says so, with what it brings.
struct SpeedTests {
    @Test("what the compiler is forbidden or not asked is explained in the first lines, with a figure")
    func escapesAreExplained() throws {
        let figure = #/[0-9] ?(?:%|ns|µs|ms|s\b|B\b|bytes|KiB|MiB|instructions|allocations|times)/#
        var found: [String] = []
        for file in try SourceFile.all(in: "Sources") {
            let escapes = file.lines.contains { line in
                ["@inline(never)", "@unchecked Sendable"].contains { line.contains($0) }
                    && !line.drop { $0 == " " }.hasPrefix("//")
            }
            guard escapes else { continue }
            let isExplained = file.comments.contains { $0.line <= 15 && $0.text.contains(figure) }
            if !isExplained { found.append(file.path) }
        }
        #expect(found.count <= Remaining.unexplainedSpeed, "\(found)")
    }
}
