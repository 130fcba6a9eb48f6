extension Migration {
    /// What a migration does to the tables of a database, and to the rows that exist when it runs.
    ///
    /// A script states its effects in its first comment, separated by semicolons. The comment may take several lines and
    /// ends before the first line that is not a comment:
    ///
    ///     -- effects: adds tables notes, lines; adds columns to sessions; adds indexes on users
    ///
    /// A line `-- readable by: 3` among them says which step a program must know to work on the schema from this step on.
    public struct Effect: Hashable, Sendable {
        /// The kind of effect. The raw value is its spelling in a script.
        public enum Kind: String, CaseIterable, Sendable {
            /// Creates tables, with their indexes. No existing row is read.
            case addsTables = "adds tables"
            /// Adds columns that are null or have a constant default. No row is rewritten. The table is locked for a moment.
            case addsColumns = "adds columns to"
            /// Indexes tables that have rows. Each row is read, and rows cannot be written before the end.
            case addsIndexes = "adds indexes on"
            /// Indexes tables while nodes write their rows. On PostgreSQL such a step has no other effect and no transaction.
            case addsIndexesConcurrently = "adds indexes concurrently on"
            /// Changes nothing. A program that knows this step can do without the parts that a later step drops.
            case retires = "retires parts of"
            /// Drops columns that the program no longer reads or writes. SQLite rewrites each row.
            case dropsColumns = "drops columns of"
            /// Drops indexes that no query needs any more, alone or with their table or column.
            case dropsIndexes = "drops indexes of"
            /// Drops tables that the program no longer reads or writes, with their indexes.
            case dropsTables = "drops tables"
        }

        /// The sides of a change that existing rows must follow.
        public enum Side: Hashable, Sendable {
            /// Programs that do not know the step can work on the schema all the same.
            case expand
            /// Programs that use the dropped parts cannot work on the schema.
            case contract
        }

        /// The kind of effect.
        public let kind: Kind
        /// The affected tables.
        public let tables: [String]

        /// An effect on those tables.
        public init(_ kind: Kind, _ tables: [String]) {
            self.kind = kind
            self.tables = tables
        }

        /// The side of the effect.
        public var side: Side {
            switch kind {
            case .addsTables, .addsColumns, .addsIndexes, .addsIndexesConcurrently, .retires: .expand
            case .dropsColumns, .dropsIndexes, .dropsTables: .contract
            }
        }

        /// The tables that exist before and that the effect changes.
        public var existingTables: [String] { kind == .addsTables || kind == .retires ? [] : tables }

        /// Whether the duration in SQLite grows with the number of rows.
        public var growsWithRows: Bool {
            switch kind {
            case .addsTables, .addsColumns, .retires: false
            case .addsIndexes, .addsIndexesConcurrently, .dropsColumns, .dropsIndexes, .dropsTables: true
            }
        }

        /// The effect, as a phrase that continues the migration's name.
        var sentence: String {
            let list = tables.joined(separator: ", ")
            return switch kind {
            case .addsTables: "makes \(list) (no row that exists is touched)"
            case .addsColumns: "adds columns to \(list) (no row is rewritten)"
            case .addsIndexes: "indexes \(list) (reads every row)"
            case .addsIndexesConcurrently: "indexes \(list) while rows are written (reads every row twice)"
            case .retires: "changes nothing; from here on a program can do without parts of \(list)"
            case .dropsColumns: "drops columns of \(list)"
            case .dropsIndexes: "drops indexes of \(list) (frees their pages)"
            case .dropsTables: "drops \(list) (frees their pages)"
            }
        }
    }
}

extension Migration.Effect {
    /// The effects that a script states in its first comment; nil if it states none, or an unknown one.
    public static func list(statedIn script: String) -> [Self]? {
        let mark = "effects:"
        let lines = firstComment(of: script).filter { !$0.hasPrefix(readableMark) }
        let words = lines.flatMap { $0.dropFirst(2).split(separator: " ") }
        guard words.first == mark[...] else { return nil }
        var effects: [Self] = []
        for statement in words.dropFirst().joined(separator: " ").split(
            separator: ";", omittingEmptySubsequences: false)
        {
            guard let effect = Self(statement: statement.drop { $0 == " " }) else { return nil }
            effects.append(effect)
        }
        return effects
    }

    /// The step that a script names as `readable by`; nil if it names none. It names the step once, as a number above zero.
    static func readableBy(statedIn script: String) -> Int?? {
        let stated = firstComment(of: script).filter { $0.hasPrefix(readableMark) }
        guard let line = stated.first else { return .some(nil) }
        guard stated.count == 1, let version = Int(line.dropFirst(readableMark.count).drop { $0 == " " }), version > 0
        else { return nil }
        return version
    }

    private static let readableMark = "-- readable by:"

    private static func firstComment(of script: String) -> [Substring] {
        Array(script.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("--") })
    }

    /// Parses one statement, such as `adds columns to sessions, users`.
    private init?(statement: Substring) {
        guard let kind = Kind.allCases.first(where: { statement.hasPrefix($0.rawValue + " ") }) else { return nil }
        let list = statement.dropFirst(kind.rawValue.count)
        let tables = list.split(separator: ",", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }
        let isName: (Substring) -> Bool = { name in
            !name.isEmpty && name.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "_") }
        }
        guard tables.allSatisfy(isName) else { return nil }
        self.init(kind, tables.map(String.init))
    }
}
