/// The sentence for the log about applied steps of those names, which the program does not know and can work beside.
public func newerSteps(_ names: [String]) -> String {
    "the schema has steps of a newer program, beside which this one works: \(names.joined(separator: ", "))"
}

/// A migration that a database has not applied: its effect, the number of affected rows, and its locks.
public struct PlannedMigration: Hashable, Sendable {
    /// A table that the migration affects.
    public struct Table: Hashable, Sendable {
        /// The name of the table.
        public var name: String
        /// The number of its rows.
        public var rows: Int64

        /// A table with that number of rows.
        public init(name: String, rows: Int64) {
            self.name = name
            self.rows = rows
        }
    }

    /// The number of the migration.
    public var version: Int
    /// The name of the migration.
    public var name: String
    /// The effect, as a phrase that continues the name.
    public var effect: String
    /// The affected tables that have rows.
    public var tables: [Table]
    /// Whether the duration grows with the number of rows.
    public var growsWithRows: Bool
    /// The locks that the migration takes, and the work that waits for them.
    public var lock: String

    /// A step of a plan.
    public init(version: Int, name: String, effect: String, tables: [Table], growsWithRows: Bool, lock: String) {
        self.version = version
        self.name = name
        self.effect = effect
        self.tables = tables
        self.growsWithRows = growsWithRows
        self.lock = lock
    }
}
