import Testing

@testable import Configuration

@Suite struct SyntaxPositionTests {
    private func problem(in text: String) -> String { SyntaxPosition.problem(in: Array(text.utf8)) }

    @Test(
        "an error has the line and the column where the text stops being JSON5",
        arguments: [
            ("a missing comma", "{\n  server: {\n    a: \"x\"\n    b: 1,\n  }\n}", 4, 5),
            ("a missing comma on one line", "{a: true, b: 1 c: 2}", 1, 16),
            ("a missing comma after a list", "{a: [1, 2]\n b: 3}", 2, 2),
            ("two commas", "{a: 1,, b: 2}", 1, 7),
            ("a missing colon", "{\n a 1}", 2, 4),
            ("a missing value", "{a: }", 1, 5),
            ("a missing quotation mark", "{\n a: \"x,\n b: \"y\"\n}", 3, 2),
            ("a missing first quotation mark", "{\n a: x\",\n b: 1}", 2, 5),
            ("a missing bracket", "{a: 1, // c\n b: [1, 2\n}", 3, 1),
            ("a missing brace in front of a section", "{a: {b: 1,\nc: 2}\nd: 3}}", 3, 1),
            ("a brace too many", "{a: {b: 1}}\n}", 2, 1),
            ("text behind the object", "{a: 1}\nx", 2, 1),
            ("a wrong word", "{a: 1,\n b: tru}", 2, 5),
            ("letters of several bytes before it", "{a: \"äöü\\u00e4\\\"\" b: 1}", 1, 19),
            ("marks inside of texts and comments", "{a: '\"{', /* } */ b: \"//\" c: 1}", 1, 27),
        ])
    func place(_ name: String, _ text: String, _ line: Int, _ column: Int) {
        #expect(problem(in: text).hasPrefix("line \(line), column \(column): is not JSON5"), "\(problem(in: text))")
    }

    @Test(
        "a text that ends too early says what has no end",
        arguments: [
            ("{a: {b: 1}\n", "line 2, column 1: the text ends, and nothing closes the { of line 1, column 1"),
            ("{a: [", "line 1, column 6: the text ends, and nothing closes the [ of line 1, column 5"),
            ("{a: 'x}", "line 1, column 8: the text ends inside of quotation marks"),
            ("{a: 1 /* b }", "line 1, column 13: the text ends inside of a comment"),
            ("// nothing\n", "line 2, column 1: the text ends, and holds no object"),
        ])
    func end(_ text: String, _ sentence: String) {
        #expect(problem(in: text) == sentence)
    }

    @Test("each beginning of the documented file ends too early, and is nowhere wrong", arguments: [200, 4000, 9000])
    func beginnings(_ length: Int) throws {
        let file = try ConfigurationKeyTests.documentedFile()
        let problem = SyntaxPosition.problem(in: Array(file.prefix(length)))
        #expect(problem.contains("the text ends"), "\(problem)")
    }

    @Test("a sign too many in the documented file is found where it stands", arguments: [30, 150, 300])
    func sign(_ line: Int) throws {
        let lines = String(decoding: try ConfigurationKeyTests.documentedFile(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let at = try #require(
            lines.indices.dropFirst(line).first { lines[$0].contains(": ") && !lines[$0].contains("//") })
        var wrong = lines
        wrong[at] += "}}}"
        let problem = problem(in: wrong.joined(separator: "\n"))
        #expect(problem.hasPrefix("line \(at + 1), column "), "\(problem)")
    }
}
