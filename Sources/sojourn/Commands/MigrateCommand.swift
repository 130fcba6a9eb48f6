import Configuration
import FoundationEssentials
import JSON
import PostgresStore
import Server
import SQLiteStore
import StoreFoundation
import Telemetry

/// `sojourn migrate`
enum MigrateCommand {
    static let migrate = Command(
        path: ["migrate"], summary: "Makes the database, or brings it up to date, and exits.",
        options: ServeCommand.settingFlags + [
            Command.Option(
                "--plan", nil, "print what would run, on how many rows, and what waits for it; change nothing"),
            Command.Option(
                "--contract", nil,
                "drop also what programs of two releases before use; no such program may run any more"),
            Command.Option.json,
        ],
        discussion: """
            'serve' also does this at its start; the command is for upgrades in steps. Migrations go forward only, each in a
            transaction of its own, under a lock. No start fills rows: the running server fills them in small steps. The
            program of the release before can work on the new schema, so that it is the way back. Indexes of large
            PostgreSQL tables are built while nodes serve: the command waits and prints the progress, and 'serve' builds
            them after its start. While a server has an SQLite file open, --plan needs a backup of it; a PostgreSQL
            database can be examined while nodes serve it.
            """,
        examples: [
            "sojourn migrate --database sqlite:/var/lib/sojourn/sojourn.sqlite",
            "sojourn backup next.sqlite && sojourn migrate --plan --database sqlite:next.sqlite",
        ]
    ) { (arguments) async throws(Failure) in
        let configuration = try Setup.configuration(arguments)
        if arguments.has("--plan") { return try plan(configuration, arguments) }
        if case .postgres(let url) = configuration.database.location {
            try migrate(url, contracting: arguments.has("--contract"))
        }
        let log = ServerConfiguration.Log(level: .warning, format: .text)
        let application: Application
        do throws(StartError) {
            application = try await Application.open(
                configuration, Environment.system(log, environment: Setup.environment))
        } catch { throw Failure(.failed, error.description) }
        await application.close()
        if let key = application.firstAdminKey { ServeCommand.tellAdminKey(key) }
        Terminal.write(
            "the database \(configuration.database.isFile ? configuration.database.path : configuration.database.url) is up to date"
        )
    }

    /// Migrates a PostgreSQL database and prints the progress of indexes.
    private static func migrate(_ url: String, contracting: Bool) throws(Failure) {
        var options = PostgresStore.Options(clock: .system)
        options.observer = PostgresStore.Observer(noted: { Terminal.write($0) })
        do throws(PostgresStore.OpenError) {
            try PostgresStore.migrate(url: url, options: options, contracting: contracting)
        } catch { throw Failure(.failed, error.description) }
    }

    /// What a start would do, and the steps of a newer program.
    struct Plan {
        var missing: [PlannedMigration]
        var newerNames: [String]
    }

    private static func plan(_ configuration: ServerConfiguration, _ arguments: Arguments) throws(Failure) {
        let plan: Plan
        switch configuration.database.location {
        case .sqlite(let path): plan = try Self.plan(file: path)
        case .postgres(let url):
            do throws(PostgresStore.OpenError) {
                let report = try PostgresStore.DatabaseReport(url: url, options: .init(clock: .system))
                plan = Plan(missing: report.missing, newerNames: report.newerNames)
            } catch { throw Failure(.failed, error.description) }
        }
        let name = configuration.database.isFile ? configuration.database.path : configuration.database.url
        Terminal.write(
            arguments.isJSON
                ? String(decoding: json(plan).text(pretty: true), as: UTF8.self) : text(plan, name))
    }

    private static func plan(file path: String) throws(Failure) -> Plan {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(.notFound, "there is no database \(path); the first start makes it, with every migration")
        }
        do throws(OpenError) {
            let database = try ClosedDatabase(path: path)
            defer { database.close() }
            return Plan(missing: try database.plan(), newerNames: try database.newerNames())
        } catch {
            if case .alreadyOpen = error {
                throw Failure(
                    .refused,
                    "a server has the database \(path) open; plan on a backup: sojourn backup FILE, then sojourn migrate "
                        + "--plan --database sqlite:FILE")
            }
            throw Failure(.failed, error.description)
        }
    }

    static func text(_ plan: Plan, _ name: String) -> String {
        guard plan.newerNames.isEmpty else {
            return "nothing would run on the database \(name): \(newerSteps(plan.newerNames))"
        }
        guard !plan.missing.isEmpty else { return "nothing would run: the database \(name) is up to date" }
        return plan.missing.map { step in
            let rows = step.tables.map { "\($0.rows) in \($0.name)" }.joined(separator: ", ")
            return """
                \(step.version) \(step.name)
                  \(step.effect)
                  rows: \(rows.isEmpty ? "none" : rows)
                  \(step.lock)
                """
        }.joined(separator: "\n")
    }

    static func json(_ plan: Plan) -> JSONValue {
        .object([
            "newer": .array(plan.newerNames.map { .string($0) }),
            "items": .array(
                plan.missing.map { step in
                    .object([
                        "version": .integer(Int64(step.version)), "name": .string(step.name),
                        "effect": .string(step.effect), "lock": .string(step.lock),
                        "rows": .object(
                            Dictionary(
                                step.tables.map { ($0.name, .integer($0.rows)) },
                                uniquingKeysWith: { first, _ in first })),
                        "grows_with_rows": .bool(step.growsWithRows),
                    ])
                }),
        ])
    }
}
