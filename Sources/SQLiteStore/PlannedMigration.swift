/// A migration that a database has not had: what it does, on how much, and what waits meanwhile.
public struct PlannedMigration: Hashable, Sendable {
    /// A table that it touches.
    public struct Table: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// How many rows it has.
        public var rows: Int64
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

    /// Whether anything waits for it: one process alone has an SQLite file, so that nobody can wait but the start.
    public var lock: String {
        growsWithRows
            ? "locks the database, which no server has open meanwhile; the start waits for every row"
            : "locks the database, which no server has open meanwhile, for milliseconds whatever it holds"
    }
}
