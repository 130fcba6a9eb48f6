extension Migration {
    /// The script of a migration for one kind of database.
    public struct Script: Sendable {
        /// The text of the file. Databases store its digest.
        public let text: String
        /// The effects on the tables, as its first comment states them.
        public let effects: [Effect]
        /// The step that a program must know to work on the schema from this step on; nil: as the step before.
        public let readableBy: Int?

        /// The script with that text. It must begin with its effects; a text without them stops the program, because that is a
        /// programming error.
        public init(_ text: String) {
            guard let effects = Effect.list(statedIn: text) else {
                preconditionFailure("a migration must begin with '-- effects: ': \(text.prefix(80))")
            }
            guard let readableBy = Effect.readableBy(statedIn: text) else {
                preconditionFailure("a migration says '-- readable by: ' once, with a number: \(text.prefix(80))")
            }
            self.text = text
            self.effects = effects
            self.readableBy = readableBy
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

        /// Whether the script drops parts that earlier programs use.
        public var contracts: Bool { effects.contains { $0.side == .contract } }

        /// Whether the script builds indexes while rows are written.
        public var isConcurrent: Bool { effects.contains { $0.kind == .addsIndexesConcurrently } }

        /// The indexes that a concurrent script builds, for PostgreSQL; nil if a statement is not of the form
        /// `CREATE INDEX CONCURRENTLY IF NOT EXISTS name ON table …`. A unique index is none, because a program may not rely on
        /// an index that is built after its start.
        public var indexes: [Index]? {
            var indexes: [Index] = []
            for statement in statements {
                let words = statement.split { $0 == " " || $0.isNewline }.map(String.init)
                let beginning = "CREATE INDEX CONCURRENTLY IF NOT EXISTS".split(separator: " ").map(String.init)
                guard words.starts(with: beginning), words.count > 9, words[7] == "ON" else { return nil }
                indexes.append(Index(name: words[6], table: words[8], statement: statement))
            }
            return indexes
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

extension Migration {
    /// An index that PostgreSQL builds while rows are written.
    public struct Index: Hashable, Sendable {
        /// The name.
        public let name: String
        /// Its table.
        public let table: String
        /// The statement that builds it.
        public let statement: String
    }
}
