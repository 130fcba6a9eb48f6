extension Migration {
    /// What one kind of database runs for a migration.
    public struct Script: Sendable {
        /// The file, of which databases keep the digest.
        public let text: String
        /// What it does to the tables, as its first comment says.
        public let effects: [Effect]

        /// The script with that text, which must begin with its effects: a text without them is an error of the programmer.
        public init(_ text: String) {
            guard let effects = Effect.list(statedIn: text) else {
                preconditionFailure("a migration must begin with '-- effects: ': \(text.prefix(80))")
            }
            self.text = text
            self.effects = effects
        }

        /// Its statements one by one, as PostgreSQL takes them: each ends with a semicolon at the end of a line.
        public var statements: [String] {
            var statements: [String] = []
            var lines: [Substring] = []
            for line in text.split(separator: "\n") where !line.hasPrefix("--") {
                lines.append(line)
                guard line.hasSuffix(";") else { continue }
                statements.append(lines.joined(separator: "\n"))
                lines = []
            }
            return statements
        }

        /// The existing tables that it touches, each once.
        public var tables: [String] {
            effects.flatMap(\.existingTables).reduce(into: []) { tables, table in
                if !tables.contains(table) { tables.append(table) }
            }
        }

        /// Whether it takes SQLite the longer, the more rows there are.
        public var growsWithRows: Bool { effects.contains { $0.growsWithRows } }

        /// What it does, in words that go on from its name.
        public var sentence: String { effects.map(\.sentence).joined(separator: ", ") }
    }
}
