import Testing

/// The table of OWASP ASVS 5.0.0 judges each requirement of its chapters, also those that it does not meet.
struct RequirementTests {
    /// How many requirements the sections of the chapters about pages, logins, sessions, tokens and OAuth have. Their numbers
    /// begin at 1.
    private static let sections: [(name: String, count: Int)] = [
        ("3.1", 1), ("3.2", 3), ("3.3", 5), ("3.4", 8), ("3.5", 8), ("3.6", 1), ("3.7", 5),
        ("6.1", 3), ("6.2", 12), ("6.3", 8), ("6.4", 6), ("6.5", 8), ("6.6", 4), ("6.7", 2), ("6.8", 4),
        ("7.1", 3), ("7.2", 4), ("7.3", 2), ("7.4", 5), ("7.5", 3), ("7.6", 2),
        ("9.1", 3), ("9.2", 4),
        ("10.1", 2), ("10.2", 3), ("10.3", 5), ("10.4", 16), ("10.5", 5), ("10.6", 2), ("10.7", 3),
    ]

    /// The numbers in the first cell of each row. A dash stands for those between two, a section for all of its own.
    private static func named() throws -> [String] {
        try Manual.page("Security/ASVS").tableLines.flatMap { row in
            let cell = row.text.split(separator: "|", omittingEmptySubsequences: false)[1]
            return cell.matches(of: #/(\d+\.\d+)(?:\.(\d+))?(?: – \d+\.\d+\.(\d+))?/#).flatMap { match in
                let section = String(match.1)
                let all = 1...(sections.first { $0.name == section }?.count ?? 1)
                guard let first = match.2.flatMap({ Int($0) }) else { return all.map { "\(section).\($0)" } }
                return (first...(match.3.flatMap { Int($0) } ?? first)).map { "\(section).\($0)" }
            }
        }
    }

    @Test("each requirement has one row, and each row is about requirements that exist") func everyOneHasARow() throws {
        let named = try Self.named()
        let expected = Self.sections.flatMap { section in (1...section.count).map { "\(section.name).\($0)" } }
        #expect(expected.count == 140)
        #expect(Set(expected).subtracting(named).sorted() == [])
        #expect(Set(named).subtracting(expected).sorted() == [])
        #expect(named.filter { name in named.count { $0 == name } > 1 } == [])
    }
}
