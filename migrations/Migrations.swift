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
/// *contracts*: it stops to write the old, and the one after that drops it. Every migration says in `effects` which of
/// these it is; `sojourn migrate --plan` prints it with the number of rows, and what waits meanwhile.
public struct Migration: Sendable {
    /// 1, 2, 3 …
    public let version: Int
    /// The file's name without number and ending.
    public let name: String
    /// What it does to what is there already, all of it.
    public let effects: [Effect]
    /// The statements for SQLite.
    public let sqlite: String
    /// The statements for PostgreSQL; each ends with a semicolon at the end of a line.
    public let postgres: String

    /// A migration.
    public init(version: Int, name: String, effects: [Effect], sqlite: String, postgres: String = "") {
        self.version = version
        self.name = name
        self.effects = effects
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
            effects: [
                .addsTables([
                    "schema_migrations", "settings", "clients", "users", "sessions", "audit_events", "signing_keys",
                    "admin_keys", "heartbeat",
                ])
            ],
            sqlite: String(decoding: PackageResources._01_create_tables_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._01_create_tables_postgres_sql, as: UTF8.self)),
        Migration(
            version: 2, name: "add_foreign_tokens", effects: [.addsTables(["foreign_tokens"])],
            sqlite: String(decoding: PackageResources._02_add_foreign_tokens_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._02_add_foreign_tokens_postgres_sql, as: UTF8.self)),
        Migration(
            version: 3, name: "add_client_dpop", effects: [.addsColumns(to: ["clients"])],
            sqlite: String(decoding: PackageResources._03_add_client_dpop_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._03_add_client_dpop_postgres_sql, as: UTF8.self)),
        Migration(
            version: 4, name: "guard_logins", effects: [.addsColumns(to: ["admin_keys", "users"])],
            sqlite: String(decoding: PackageResources._04_guard_logins_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._04_guard_logins_postgres_sql, as: UTF8.self)),
        Migration(
            version: 5, name: "add_device_key", effects: [.addsColumns(to: ["sessions"])],
            sqlite: String(decoding: PackageResources._05_add_device_key_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._05_add_device_key_postgres_sql, as: UTF8.self)),
        Migration(
            version: 6, name: "add_client_keys", effects: [.addsColumns(to: ["clients"])],
            sqlite: String(decoding: PackageResources._06_add_client_keys_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._06_add_client_keys_postgres_sql, as: UTF8.self)),
        Migration(
            version: 7, name: "add_revocations",
            effects: [.addsTables(["revocations"]), .addsColumns(to: ["settings"])],
            sqlite: String(decoding: PackageResources._07_add_revocations_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._07_add_revocations_postgres_sql, as: UTF8.self)),
        Migration(
            version: 8, name: "add_identities",
            effects: [.addsTables(["identities"]), .addsColumns(to: ["users"])],
            sqlite: String(decoding: PackageResources._08_add_identities_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._08_add_identities_postgres_sql, as: UTF8.self)),
        Migration(
            version: 9, name: "add_webhook", effects: [.addsTables(["webhook"])],
            sqlite: String(decoding: PackageResources._09_add_webhook_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._09_add_webhook_postgres_sql, as: UTF8.self)),
        Migration(
            version: 10, name: "add_presence", effects: [.addsColumns(to: ["clients", "sessions"])],
            sqlite: String(decoding: PackageResources._10_add_presence_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._10_add_presence_postgres_sql, as: UTF8.self)),
        Migration(
            version: 11, name: "add_resources", effects: [.addsColumns(to: ["clients"])],
            sqlite: String(decoding: PackageResources._11_add_resources_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._11_add_resources_postgres_sql, as: UTF8.self)),
        Migration(
            version: 12, name: "add_session_resources", effects: [.addsColumns(to: ["sessions"])],
            sqlite: String(decoding: PackageResources._12_add_session_resources_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._12_add_session_resources_postgres_sql, as: UTF8.self)),
        Migration(
            version: 13, name: "add_webhooks", effects: [.addsTables(["webhooks"])],
            sqlite: String(decoding: PackageResources._13_add_webhooks_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._13_add_webhooks_postgres_sql, as: UTF8.self)),
        Migration(
            version: 14, name: "add_used_tokens", effects: [.addsTables(["used_tokens"])],
            sqlite: String(decoding: PackageResources._14_add_used_tokens_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._14_add_used_tokens_postgres_sql, as: UTF8.self)),
        Migration(
            version: 15, name: "add_provider_checks",
            effects: [.addsTables(["provider_checks"]), .addsColumns(to: ["sessions"])],
            sqlite: String(decoding: PackageResources._15_add_provider_checks_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._15_add_provider_checks_postgres_sql, as: UTF8.self)),
        Migration(
            version: 16, name: "add_verified_emails", effects: [.addsColumns(to: ["users"])],
            sqlite: String(decoding: PackageResources._16_add_verified_emails_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._16_add_verified_emails_postgres_sql, as: UTF8.self)),
        Migration(
            version: 17, name: "index_verified_emails", effects: [.addsIndexes(on: ["users"])],
            sqlite: String(decoding: PackageResources._17_index_verified_emails_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._17_index_verified_emails_postgres_sql, as: UTF8.self)),
        Migration(
            version: 18, name: "tell_revocations", effects: [.addsColumns(to: ["audit_events"])],
            sqlite: String(decoding: PackageResources._18_tell_revocations_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._18_tell_revocations_postgres_sql, as: UTF8.self)),
        Migration(
            version: 19, name: "keep_served_maximum", effects: [.addsColumns(to: ["settings"])],
            sqlite: String(decoding: PackageResources._19_keep_served_maximum_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._19_keep_served_maximum_postgres_sql, as: UTF8.self)),
        Migration(
            version: 20, name: "share_guesses", effects: [.addsTables(["failed_attempts"])],
            sqlite: String(decoding: PackageResources._20_share_guesses_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._20_share_guesses_postgres_sql, as: UTF8.self)),
        Migration(
            version: 21, name: "confirm_child", effects: [.addsColumns(to: ["sessions"])],
            sqlite: String(decoding: PackageResources._21_confirm_child_sqlite_sql, as: UTF8.self),
            postgres: String(decoding: PackageResources._21_confirm_child_postgres_sql, as: UTF8.self)),
    ]
}
