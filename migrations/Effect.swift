extension Migration {
    /// What a migration does to the rows that exist when it runs.
    public enum Effect: Hashable, Sendable {
        /// Makes new tables, with their indexes. No existing row is read.
        case addsTables([String])
        /// Adds columns that are null or have a constant default. No row is rewritten; the table is locked for a moment.
        case addsColumns(to: [String])
        /// Indexes tables that have rows: each row is read, and none can be written before the end.
        case addsIndexes(on: [String])
        /// Drops columns that no program reads or writes any more. Where each row holds its columns, each is rewritten.
        case dropsColumns(of: [String])
        /// Drops indexes that no program's queries need any more, by themselves or with what they index.
        case dropsIndexes(of: [String])
        /// Drops tables that no program reads or writes any more, with their indexes.
        case dropsTables([String])

        /// The existing tables that it touches.
        public var tables: [String] {
            switch self {
            case .addsTables: []
            case .addsColumns(let tables), .addsIndexes(let tables), .dropsColumns(let tables),
                .dropsIndexes(let tables), .dropsTables(let tables):
                tables
            }
        }

        /// Whether it takes SQLite the longer, the more rows there are.
        public var growsWithRows: Bool {
            switch self {
            case .addsTables, .addsColumns: false
            case .addsIndexes, .dropsColumns, .dropsIndexes, .dropsTables: true
            }
        }

        fileprivate var sentence: String {
            switch self {
            case .addsTables(let tables): "makes \(Self.list(tables)) (no row that exists is touched)"
            case .addsColumns(let tables): "adds columns to \(Self.list(tables)) (no row is rewritten)"
            case .addsIndexes(let tables): "indexes \(Self.list(tables)) (reads every row)"
            case .dropsColumns(let tables): "drops columns of \(Self.list(tables))"
            case .dropsIndexes(let tables): "drops indexes of \(Self.list(tables)) (frees their pages)"
            case .dropsTables(let tables): "drops \(Self.list(tables)) (frees their pages)"
            }
        }

        private static func list(_ tables: [String]) -> String { tables.joined(separator: ", ") }
    }

    /// The existing tables that it touches, each once.
    public var tables: [String] {
        effects.flatMap(\.tables).reduce(into: []) { tables, table in
            if !tables.contains(table) { tables.append(table) }
        }
    }

    /// Whether it takes SQLite the longer, the more rows there are.
    public var growsWithRows: Bool { effects.contains { $0.growsWithRows } }

    /// What it does, in words that go on from its name.
    public var sentence: String { effects.map(\.sentence).joined(separator: ", ") }
}
