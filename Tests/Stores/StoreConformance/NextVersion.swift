public import Migrations

/// What later versions of the program could do to the schema: expand, index, retire, contract. Tests of upgrades run these on
/// databases that today's program has made. All but the contracting step are of the next version, and that one is of the version
/// after it.
public enum NextVersion {
    /// What today's program does not know.
    public static let migrations: [Migration] = [
        Migration(
            known + 1, "index_users",
            """
            -- effects: adds indexes on users
            CREATE INDEX users_country ON users (country);
            """),
        Migration(
            known + 2, "add_notes",
            """
            -- effects: adds tables notes
            CREATE TABLE notes (id BIGINT PRIMARY KEY);
            """,
            sqlite: """
                -- effects: adds tables notes
                CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT;
                """),
        Migration(
            known + 3, "add_columns",
            """
            -- effects: adds tables lines; adds columns to sessions, settings,
            --   notes
            CREATE TABLE lines (id INTEGER PRIMARY KEY);
            ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';
            ALTER TABLE settings ADD COLUMN colour TEXT;
            ALTER TABLE notes ADD COLUMN text TEXT;
            """),
        Migration(
            known + 4, "index_colours",
            """
            -- effects: adds indexes concurrently on sessions
            CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_colour ON sessions (colour);
            """,
            sqlite: """
                -- effects: adds indexes on sessions
                CREATE INDEX sessions_colour ON sessions (colour);
                """),
        Migration(known + 5, "retire", "-- effects: retires parts of notes, users, lines"),
        Migration(
            known + 6, "contract",
            """
            -- effects: drops columns of notes; drops indexes of users; drops tables lines
            -- readable by: \(known + 5)
            ALTER TABLE notes DROP COLUMN text;
            DROP INDEX users_country;
            DROP TABLE lines;
            """),
    ]

    /// The newest version of the schema that today's program knows.
    public static let known = Migration.all.count

    /// Everything that the next version knows.
    public static let all = Migration.all + migrations

    /// The newest version of the schema that the next version knows.
    public static let newest = all.count

    /// Everything that the version before the contracting one knows, which is the next after today's.
    public static let expanded = Array(all.dropLast())

    /// The versions of the schema that are earlier than the newest one.
    public static let earlier = 1..<newest

    /// What a program with `version` as its newest version of the schema knows.
    public static func all(upTo version: Int) -> [Migration] { Array(all.prefix(version)) }
}

extension Migration {
    /// A migration of a test. The text begins with its effects, and is the same for both databases unless `sqlite` is given.
    public init(_ version: Int, _ name: String, _ text: String, sqlite: String? = nil) {
        self.init(version: version, name: name, sqlite: Script(sqlite ?? text), postgres: Script(text))
    }
}
