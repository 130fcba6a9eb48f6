import Migrations
import Sessions

@testable import SQLiteStore

/// A database as an earlier version of the program left it.
enum EarlierDatabase {
    /// Every version of the schema but today's.
    static let versions = Migration.all.dropLast().map(\.version)

    /// Makes the database at `path`, which has had the first `version` migrations and no others, with the rows of the closed
    /// one at `source`, as far as it has columns for them.
    static func make(_ version: Int, at path: String, from source: String, _ clock: WallClock) throws {
        let path = try DatabaseFile.create(path)
        let connection = try SQLiteStore.openWriter(path: path, SQLiteStore.Options(clock: clock))
        let migrations = Array(Migration.all.prefix(version))
        try MigrationRunner(migrations: migrations, clock: clock).run(on: connection, path: path)
        try connection.run("ATTACH '\(source)' AS today")
        let tables = Query(
            """
            SELECT name FROM main.sqlite_schema
            WHERE type = 'table' AND name <> 'schema_migrations' AND name NOT LIKE 'sqlite_%'
            """)
        for table in try connection.all(tables, read: { row in row.text() }) {
            let columns = try connection.all(
                Query("SELECT name FROM pragma_table_info('\(table)', 'main')"), read: { row in row.text() }
            ).joined(separator: ", ")
            try connection.run("DELETE FROM main.\(table)")
            try connection.run("INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM today.\(table)")
        }
        try connection.run("DETACH today")
        try Writer.copyWholeLog(connection)
    }
}
