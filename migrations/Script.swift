extension Migration {
    /// The script of a migration for one kind of database.
    public struct Script: Sendable {
        /// The text of the file. Databases store its digest.
        public let text: String
        /// The effects on the tables, as its first comment states them.
        public let effects: [Effect]

        /// The script with that text. It must begin with its effects; a text without them stops the program, because that is a
        /// programming error.
        public init(_ text: String) {
            guard let effects = Effect.list(statedIn: text) else {
                preconditionFailure("a migration must begin with '-- effects: ': \(text.prefix(80))")
            }
            self.text = text
            self.effects = effects
        }

        /// The statements one by one, for PostgreSQL. Each ends with a semicolon at the end of a line.
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

        /// The existing tables that the script affects, each once.
        public var tables: [String] {
            effects.flatMap(\.existingTables).reduce(into: []) { tables, table in
                if !tables.contains(table) { tables.append(table) }
            }
        }

        /// Whether the duration in SQLite grows with the number of rows.
        public var growsWithRows: Bool { effects.contains { $0.growsWithRows } }

        /// The effects, as a phrase that continues the migration's name.
        public var sentence: String { effects.map(\.sentence).joined(separator: ", ") }
    }
}
