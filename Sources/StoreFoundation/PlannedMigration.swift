/// A migration that a database has not had: what it does, on how much, and what waits meanwhile.
public struct PlannedMigration: Hashable, Sendable {
    /// A table that it touches.
    public struct Table: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// How many rows it has.
        public var rows: Int64

        /// A table with so many rows.
        public init(name: String, rows: Int64) {
            self.name = name
            self.rows = rows
        }
    }

    /// Its number.
    public var version: Int
    /// Its name.
    public var name: String
    /// What it does, in words that go on from its name.
    public var effect: String
    /// The tables with rows that it touches.
    public var tables: [Table]
    /// Whether it takes the longer, the more rows there are.
    public var growsWithRows: Bool
    /// What it locks, and who waits for it.
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
