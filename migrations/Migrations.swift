/// The database schema as a row of numbered steps, embedded into the binary.
///
/// This module owns the texts and their order. It does not know how they are run: each backend has its runner, which
/// applies what is missing at the start, forward only, each step in one transaction. A step that was released never
/// changes again, because databases remember the digest of what they were built with; the next change of the schema is
/// a new file for each backend, `NNN_what_it_does.sqlite.sql` and `….postgres.sql`, and a new row in `all`.
///
/// **Expand, fill, contract.** Nothing is backfilled at a start, because a start must take milliseconds whatever the
/// database holds, and because nodes of the previous version go on working on the same tables meanwhile. A change that
/// existing rows must follow is made of three releases. The first *expands*: it adds tables, and columns that may be
/// null or have a constant default, which no row is rewritten for; the program writes old and new, and reads the new
/// where it is there. Rows are then *filled* in small steps by the running server's upkeep, like clean-up. A later release
/// *contracts*: it stops to write the old, and the one after that drops it. Every migration says in `effect` which of
/// these it is; `sojourn migrate --plan` prints it with the number of rows, and what waits meanwhile.
public struct Migration: Sendable {
    /// 1, 2, 3 …
    public let version: Int
    /// The file's name without number and ending.
    public let name: String
    /// What it does to what is there already.
    public let effect: Effect
    /// The statements for SQLite.
    public let sqlite: String
    /// The statements for PostgreSQL; each ends with a semicolon at the end of a line.
    public let postgres: String

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
        /// Drops tables that no program reads or writes any more.
        case dropsTables([String])

        /// The existing tables that it touches.
        public var tables: [String] {
            switch self {
            case .addsTables: []
            case .addsColumns(let tables), .addsIndexes(let tables), .dropsColumns(let tables),
                .dropsTables(let tables):
                tables
            }
        }

        /// What it does, in words that go on from its name.
        public var sentence: String {
            switch self {
            case .addsTables(let tables): "makes \(Self.list(tables)); no row that exists is touched"
            case .addsColumns(let tables): "adds columns to \(Self.list(tables)); no row is rewritten"
            case .addsIndexes(let tables): "indexes \(Self.list(tables)); reads every row"
            case .dropsColumns(let tables): "drops columns of \(Self.list(tables))"
            case .dropsTables(let tables): "drops \(Self.list(tables)); frees their pages"
            }
        }

        private static func list(_ tables: [String]) -> String { tables.joined(separator: ", ") }

        /// Whether it takes SQLite the longer, the more rows there are.
        public var growsWithRows: Bool {
            switch self {
            case .addsTables, .addsColumns: false
            case .addsIndexes, .dropsColumns, .dropsTables: true
            }
        }
    }

    /// A migration.
    public init(version: Int, name: String, effect: Effect, sqlite: String, postgres: String = "") {
        self.version = version
        self.name = name
        self.effect = effect
        self.sqlite = sqlite
        self.postgres = postgres
    }

    /// One by one, as PostgreSQL takes them.
    public var postgresStatements: [String] {
        var statements: [String] = []
        var lines: [Substring] = []
        for line in postgres.split(separator: "\n") where !line.hasPrefix("--") {
            lines.append(line)
            guard line.hasSuffix(";") else { continue }
            statements.append(lines.joined(separator: "\n"))
            lines = []
        }
        return statements
    }

    /// Every migration, in the order in which they are applied.
    public static let all: [Migration] = [
        Migration(
            version: 1, name: "create_tables",
            effect: .addsTables([
                "settings", "clients", "users", "sessions", "audit_events", "signing_keys", "admin_keys", "heartbeat",
            ]),
            sqlite: String(decoding: PackageResources._01_create_tables_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._01_create_tables_postgres_sql, as: UTF8.self)),
        Migration(
            version: 2, name: "add_foreign_tokens", effect: .addsTables(["foreign_tokens"]),
            sqlite: String(decoding: PackageResources._02_add_foreign_tokens_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._02_add_foreign_tokens_postgres_sql, as: UTF8.self)),
        Migration(
            version: 3, name: "add_client_dpop", effect: .addsColumns(to: ["clients"]),
            sqlite: String(decoding: PackageResources._03_add_client_dpop_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._03_add_client_dpop_postgres_sql, as: UTF8.self)),
        Migration(
            version: 4, name: "guard_logins", effect: .addsColumns(to: ["admin_keys", "users"]),
            sqlite: String(decoding: PackageResources._04_guard_logins_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._04_guard_logins_postgres_sql, as: UTF8.self)),
        Migration(
            version: 5, name: "add_device_key", effect: .addsColumns(to: ["sessions"]),
            sqlite: String(decoding: PackageResources._05_add_device_key_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._05_add_device_key_postgres_sql, as: UTF8.self)),
        Migration(
            version: 6, name: "add_client_keys", effect: .addsColumns(to: ["clients"]),
            sqlite: String(decoding: PackageResources._06_add_client_keys_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._06_add_client_keys_postgres_sql, as: UTF8.self)),
        Migration(
            version: 7, name: "add_revocations", effect: .addsColumns(to: ["settings"]),
            sqlite: String(decoding: PackageResources._07_add_revocations_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._07_add_revocations_postgres_sql, as: UTF8.self)),
        Migration(
            version: 8, name: "add_identities", effect: .addsColumns(to: ["users"]),
            sqlite: String(decoding: PackageResources._08_add_identities_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._08_add_identities_postgres_sql, as: UTF8.self)),
        Migration(
            version: 9, name: "add_webhook", effect: .addsTables(["webhook"]),
            sqlite: String(decoding: PackageResources._09_add_webhook_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._09_add_webhook_postgres_sql, as: UTF8.self)),
        Migration(
            version: 10, name: "add_presence", effect: .addsColumns(to: ["clients", "sessions"]),
            sqlite: String(decoding: PackageResources._10_add_presence_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._10_add_presence_postgres_sql, as: UTF8.self)),
        Migration(
            version: 11, name: "add_resources", effect: .addsColumns(to: ["clients"]),
            sqlite: String(decoding: PackageResources._11_add_resources_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._11_add_resources_postgres_sql, as: UTF8.self)),
        Migration(
            version: 12, name: "add_session_resources", effect: .addsColumns(to: ["sessions"]),
            sqlite: String(decoding: PackageResources._12_add_session_resources_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._12_add_session_resources_postgres_sql, as: UTF8.self)),
        Migration(
            version: 13, name: "add_webhooks", effect: .addsTables(["webhooks"]),
            sqlite: String(decoding: PackageResources._13_add_webhooks_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._13_add_webhooks_postgres_sql, as: UTF8.self)),
        Migration(
            version: 14, name: "add_used_tokens", effect: .addsTables(["used_tokens"]),
            sqlite: String(decoding: PackageResources._14_add_used_tokens_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._14_add_used_tokens_postgres_sql, as: UTF8.self)),
        Migration(
            version: 15, name: "add_provider_checks", effect: .addsColumns(to: ["sessions"]),
            sqlite: String(decoding: PackageResources._15_add_provider_checks_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._15_add_provider_checks_postgres_sql, as: UTF8.self)),
        Migration(
            version: 16, name: "add_verified_emails", effect: .addsColumns(to: ["users"]),
            sqlite: String(decoding: PackageResources._16_add_verified_emails_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._16_add_verified_emails_postgres_sql, as: UTF8.self)),
        Migration(
            version: 17, name: "index_verified_emails", effect: .addsIndexes(on: ["users"]),
            sqlite: String(decoding: PackageResources._17_index_verified_emails_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._17_index_verified_emails_postgres_sql, as: UTF8.self)),
        Migration(
            version: 18, name: "tell_revocations", effect: .addsColumns(to: ["audit_events"]),
            sqlite: String(decoding: PackageResources._18_tell_revocations_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._18_tell_revocations_postgres_sql, as: UTF8.self)),
        Migration(
            version: 19, name: "keep_served_maximum", effect: .addsColumns(to: ["settings"]),
            sqlite: String(decoding: PackageResources._19_keep_served_maximum_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._19_keep_served_maximum_postgres_sql, as: UTF8.self)),
    ]
}
