import Testing

/// Comments are plain: the subject of a sentence is the technical noun.
struct CommentTests {
    @Test("few comment lines have a pronoun for persons as their subject") func subjectsAreNouns() throws {
        let words = #/\b(?:who|whom|whose|whoever|nobody|somebody|anybody)\b/#.ignoresCase()
        let comments = try SourceFile.all(in: "Sources").flatMap(\.comments)
        let count = comments.count { $0.text.replacing(#/`[^`]*`/#, with: "").contains(words) }
        #expect(comments.count > 3000)
        #expect(count * 1000 <= comments.count * Remaining.pronounsPerThousand, "\(count) of \(comments.count)")
    }

    @Test(#"no docstring begins with "The same""#) func docstringsStandAlone() throws {
        var found: [String] = []
        for file in try SourceFile.all(in: "Sources") + SourceFile.all(in: "Tests") {
            for comment in file.comments where comment.text.hasPrefix("/// The same") {
                let before = comment.line > 1 ? file.lines[comment.line - 2].drop { $0 == " " } : ""
                if !before.hasPrefix("///") { found.append("\(file.path):\(comment.line)") }
            }
        }
        #expect(found.count <= Remaining.sameDocstrings, "\(found)")
    }
}
