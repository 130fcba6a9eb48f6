/// The database schema as a row of numbered steps, embedded into the binary.
///
/// This module owns the texts and their order. It does not know how they are run: each backend has its runner, which
/// applies what is missing at the start, forward only, each step in one transaction. A step that was released never
/// changes again, because databases remember the digest of what they were built with; the next change of the schema is
/// a new file `NNN_what_it_does.sqlite.sql` and a new row in `all`.
public struct Migration: Sendable {
    /// 1, 2, 3 …
    public let version: Int
    /// The file's name without number and ending.
    public let name: String
    /// The statements for SQLite.
    public let sqlite: String

    /// A migration.
    public init(version: Int, name: String, sqlite: String) {
        self.version = version
        self.name = name
        self.sqlite = sqlite
    }

    /// Every migration, in the order in which they are applied.
    public static let all: [Migration] = [
        Migration(
            version: 1, name: "create_tables",
            sqlite: String(decoding: PackageResources._01_create_tables_sqlite_sql, as: UTF8.self))
    ]
}
