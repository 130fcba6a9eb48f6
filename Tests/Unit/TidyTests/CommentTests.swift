import Testing

/// Comments, titles and names are plain: the subject of a sentence is the technical noun.
struct CommentTests {
    /// The question whether a text has a pronoun for persons.
    private static func makeQuestion() -> (_ text: Substring) -> Bool {
        let words =
            #/\b(?:who|whom|whose|whoever|nobody|somebody|anybody|everybody|someone|anyone|everyone)\b/#.ignoresCase()
        let code = #/`[^`]*`/#
        return { text in text.replacing(code, with: "").contains(words) }
    }

    @Test(
        "few comment lines have a pronoun for persons as their subject",
        arguments: [("Sources", Remaining.pronounsPerThousand), ("Tests", Remaining.pronounsPerThousandInTests)])
    func subjectsAreNouns(folder: String, bound: Int) throws {
        let comments = try SourceFile.all(in: folder).flatMap { file in file.comments.map { (file.path, $0) } }
        let hasPronoun = Self.makeQuestion()
        let found = comments.filter { hasPronoun($0.1.text) }.map { "\($0):\($1.line)" }
        #expect(comments.count > 3000)
        #expect(found.count * 1000 <= comments.count * bound, "\(found.count) of \(comments.count): \(found)")
    }

    @Test("the title of a test begins with its subject, and has no pronoun for persons") func titlesAreSentences()
        throws
    {
        let files = try SourceFile.all(in: "Tests")
        #expect(files.reduce(0) { $0 + $1.titles.count } > 1000)
        let hasPronoun = Self.makeQuestion()
        for file in files {
            for title in file.titles {
                let first = title.text.prefix(while: \.isLetter).lowercased()
                let isClause = ["what", "whatever", "which", "whichever"].contains(first)
                #expect(!isClause && !hasPronoun(title.text), "\(file.path):\(title.line): \(title.text)")
            }
        }
    }

    @Test("the name of a test has no pronoun for persons") func namesAreNouns() throws {
        let hasPronoun = Self.makeQuestion()
        for file in try SourceFile.all(in: "Tests") {
            for (index, line) in file.lines.enumerated() where line.contains("func ") {
                guard let name = line.firstMatch(of: #/\bfunc (\w+)/#)?.1 else { continue }
                let words = name.reduce(into: "") { $0 += $1.isUppercase ? " \($1)" : $1 == "_" ? " " : "\($1)" }
                #expect(!hasPronoun(words[...]), "\(file.path):\(index + 1): \(name)")
            }
        }
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

extension SourceFile {
    /// The titles of tests and suites.
    fileprivate var titles: [(line: Int, text: Substring)] {
        lines.indices.compactMap { index in
            let line = lines[index].drop { $0 == " " }
            guard line.hasPrefix("@Test(") || line.hasPrefix("@Suite(") else { return nil }
            let argument = line.drop { $0 != "(" }.dropFirst()
            let text = argument.isEmpty ? lines[index + 1].drop { $0 == " " } : argument
            return text.prefixMatch(of: #/[#]*"(.+?)"/#).map { (index + 1, $0.1) }
        }
    }
}
