/// The database schema as a list of numbered steps, embedded into the binary.
///
/// Reading order: this file · `Script` and `Effect` (what a file says of itself) · `Standing` (what a program and a database know of
/// each other, and what is next).
///
/// This module owns the texts and their order. It must not know a database: each backend has a runner, which applies the
/// missing steps at the start, forward only, each in one transaction. A released step never changes again, because databases
/// store the digests of the steps that they have applied.
///
/// **A new migration** is two files in `sql/`, `NNN_what_it_does.sqlite.sql` and `….postgres.sql`, and one row in `all`.
/// SwiftPM embeds every file of that folder. Each file begins with a comment that states its effects on the tables that exist
/// when it runs (see `Effect`), and `sojourn migrate --plan` prints them with the number of rows and the locks.
///
/// **Expand, fill, contract.** No start fills rows, because a start must take milliseconds whatever the database holds, and
/// because nodes of the previous version continue to work on the same tables meanwhile. A change that existing rows must follow
/// takes three releases. The first *expands*: it adds tables, and columns that may be null or have a constant default, so that
/// no row is rewritten. The program writes old and new, and reads the new where it is present. The running server then *fills*
/// rows in small steps, as clean-up does. A later release *contracts*: it no longer writes the old, and the release after that
/// drops it.
///
/// **Both directions.** Programs of a release and of the one before it work on one schema side by side, whichever of them
/// starts. A step that drops something states the step that a program must know to do without it (`-- readable by: 3`). That
/// step says `retires parts of` the table and changes nothing else, so that programs are told apart by it. `faults(in:)` checks
/// this.
public struct Migration: Sendable {
    /// The number: 1, 2, 3 …
    public let version: Int
    /// The file's name without number and extension.
    public let name: String
    /// The script for SQLite.
    public let sqlite: Script
    /// The script for PostgreSQL. Each statement ends with a semicolon at the end of a line.
    public let postgres: Script

    /// A migration.
    public init(version: Int, name: String, sqlite: Script, postgres: Script) {
        self.version = version
        self.name = name
        self.sqlite = sqlite
        self.postgres = postgres
    }

    /// A migration of embedded files.
    private init(_ version: Int, _ name: String, sqlite: [UInt8], postgres: [UInt8]) {
        self.init(
            version: version, name: name, sqlite: Script(String(decoding: sqlite, as: UTF8.self)),
            postgres: Script(String(decoding: postgres, as: UTF8.self)))
    }

    /// Every migration, in the order in which they are applied.
    public static let all: [Migration] = [
        Migration(
            1, "schema", sqlite: PackageResources._01_schema_sqlite_sql,
            postgres: PackageResources._01_schema_postgres_sql)
    ]
}
