public import Migrations

/// What a schema has: of each table its columns and its indexes, each with all that it is.
public struct SchemaShape {
    private var columns: [String: Set<String>] = [:]
    private var indexes: [String: Set<String>] = [:]

    /// From rows of a table's name and a column, and of a table's name and an index.
    public init(columns: [(table: String, column: String)], indexes: [(table: String, index: String)]) {
        for (table, column) in columns { self.columns[table, default: []].insert(column) }
        for (table, index) in indexes { self.indexes[table, default: []].insert(index) }
    }

    /// What a migration says of itself that made this of `before`, table by table.
    public func effects(since before: SchemaShape) -> Set<Migration.Effect> {
        var effects: Set<Migration.Effect> = []
        for table in before.columns.keys where columns[table] == nil { effects.insert(.dropsTables([table])) }
        for (table, columns) in columns {
            guard let columnsBefore = before.columns[table] else {
                effects.insert(.addsTables([table]))
                continue
            }
            let (indexesBefore, indexes) = (before.indexes[table, default: []], indexes[table, default: []])
            if !columns.isSubset(of: columnsBefore) { effects.insert(.addsColumns(to: [table])) }
            if !columnsBefore.isSubset(of: columns) { effects.insert(.dropsColumns(of: [table])) }
            if !indexes.isSubset(of: indexesBefore) { effects.insert(.addsIndexes(on: [table])) }
            if !indexesBefore.isSubset(of: indexes) { effects.insert(.dropsIndexes(of: [table])) }
        }
        return effects
    }
}

extension Migration {
    /// What it says of itself, table by table.
    public var effectsByTable: Set<Effect> { Set(effects.flatMap(\.byTable)) }
}

extension Migration.Effect {
    fileprivate var byTable: [Self] {
        switch self {
        case .addsTables(let tables): tables.map { .addsTables([$0]) }
        case .addsColumns(let tables): tables.map { .addsColumns(to: [$0]) }
        case .addsIndexes(let tables): tables.map { .addsIndexes(on: [$0]) }
        case .dropsColumns(let tables): tables.map { .dropsColumns(of: [$0]) }
        case .dropsIndexes(let tables): tables.map { .dropsIndexes(of: [$0]) }
        case .dropsTables(let tables): tables.map { .dropsTables([$0]) }
        }
    }
}
