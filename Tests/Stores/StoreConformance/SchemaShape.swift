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
        for table in before.columns.keys where columns[table] == nil { effects.insert(.init(.dropsTables, [table])) }
        for (table, columns) in columns {
            guard let columnsBefore = before.columns[table] else {
                effects.insert(.init(.addsTables, [table]))
                continue
            }
            let (indexesBefore, indexes) = (before.indexes[table, default: []], indexes[table, default: []])
            if !columns.isSubset(of: columnsBefore) { effects.insert(.init(.addsColumns, [table])) }
            if !columnsBefore.isSubset(of: columns) { effects.insert(.init(.dropsColumns, [table])) }
            if !indexes.isSubset(of: indexesBefore) { effects.insert(.init(.addsIndexes, [table])) }
            if !indexesBefore.isSubset(of: indexes) { effects.insert(.init(.dropsIndexes, [table])) }
        }
        return effects
    }
}

extension Migration.Script {
    /// What it says of its changes, table by table. An index is an index, however it was built.
    public var effectsByTable: Set<Migration.Effect> {
        Set(
            effects.filter { $0.kind != .retires }.flatMap { effect in
                let kind = effect.kind == .addsIndexesConcurrently ? .addsIndexes : effect.kind
                return effect.tables.map { Migration.Effect(kind, [$0]) }
            })
    }
}
