import Configuration
import FoundationEssentials
import Glibc
import HTTP
import Server
import Sessions
import StoreConformance
import Testing

@testable import Doctor
@testable import SQLiteStore
@testable import sojourn

@Suite("Command line: backup, restore, migrate --plan", .timeLimit(.minutes(10)))
struct BackupCommandTests {
    private let base = CommandLineTests()
    private var folder: StartingFolder { base.folder }

    private func expect(
        _ words: String, exits status: Int32, output: String = "", errors: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await base.expect(words, exits: status, output: output, errors: errors, location)
    }

    @Test("a backup of a running server is a database that serves, and restores")
    func backupAndRestore() async throws {
        let (process, url) = try await base.startServer()
        try await expect("user create ada --no-password", exits: 0)
        try await expect("backup a.sqlite", exits: 0, output: "checked")
        #expect(folder.mode("a.sqlite") == 0o600)
        try await expect("backup a.sqlite", exits: 4, errors: "is there already")
        try await expect("backup a.sqlite --force --json", exits: 0, output: "\"bytes\" : ")
        try await expect("backup sojourn.sqlite --force", exits: 4, errors: "is the database itself")
        try await expect("backup no/such/folder", exits: 4, errors: "does not exist")
        try await expect("user disable ada", exits: 0)
        try await expect("restore a.sqlite", exits: 4, errors: "stop it, then restore")
        try await expect("migrate --plan", exits: 4, errors: "plan on a backup")
        try await expect("migrate --plan --database sqlite:a.sqlite", exits: 0, output: "nothing would run")
        #expect(try ask(.get, url + "/readyz").status == 200)
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)

        try await expect("restore none.sqlite", exits: 3, errors: "There is no file")
        try await expect("restore sojourn.sqlite", exits: 4, errors: "is the database itself")
        folder.write("diary", "My diary")
        try await expect("restore diary", exits: 4, errors: "is not a database of this program")
        let restored = try await base.program.run(["restore", "a.sqlite"])
        #expect(restored.status == 0, "\(restored)")
        for text in [
            "sojourn.sqlite is now the backup", "is kept as", "No user is logged out",
            "1 × the logins of a user switched off",
            "sojourn session revoke-all --yes", "sojourn user disable USER --revoke",
        ] {
            #expect(restored.output.contains(text), "\(restored.output)")
        }
        try await expect("doctor", exits: 0, output: "ok    database")
        try await expect("user show ada", exits: 0, output: "logins               on")
        try await expect("restore a.sqlite --json", exits: 0, output: "\"undone\" : {")
        unlink(folder.file("ready.json"))
        let (again, _) = try await base.startServer()
        try await expect("user show ada", exits: 0, output: "logins               on")
        again.signal(SIGTERM)
        #expect(await again.result().status == 0)
    }

    @Test("without a server, a backup is a copy as it is, and no new database is made")
    func withoutServer() async throws {
        try await expect("backup a.sqlite", exits: 3, errors: "There is no file sojourn.sqlite")
        try await expect("migrate --plan", exits: 3, errors: "there is no database")
        #expect(!folder.exists("sojourn.sqlite"))
        try await expect("migrate", exits: 0)
        try await expect("backup a.sqlite", exits: 0, output: "checked")
        let serving = folder.file("a.sqlite")
        try await expect(
            "user list --database sqlite:\(serving) --config none", exits: 1, errors: "none cannot be read")
        try await expect("migrate --plan --database sqlite:\(serving)", exits: 0, output: "nothing would run")
    }

    /// Runs a statement on the closed database, as another version could.
    private func execute(_ statement: String) {
        rename(folder.file("sojourn.sqlite"), folder.file("db"))
        #expect(folder.execute(statement), "\(statement)")
        rename(folder.file("db"), folder.file("sojourn.sqlite"))
    }

    @Test("a newer database is refused with a sentence by every command, and left as it is")
    func newerDatabase() async throws {
        try await expect("migrate", exits: 0)
        execute("INSERT INTO schema_migrations VALUES (99, 'future', x'00', 1, 99, 99)")
        let before = FileManager.default.contents(atPath: folder.file("sojourn.sqlite"))
        let sentence =
            "is at version 99 of its schema, which programs from version 99 on can work on, and this program knows only up to"
        try await expect("serve --public 127.0.0.1:0 --admin 127.0.0.1:0", exits: 1, errors: sentence)
        try await expect("migrate", exits: 1, errors: sentence)
        try await expect("migrate --plan", exits: 1, errors: sentence)
        try await expect("user list", exits: 1, errors: sentence)
        try await expect("backup a.sqlite", exits: 4, errors: sentence)
        try await expect("doctor", exits: 1, output: sentence)
        #expect(!folder.exists("a.sqlite"))
        #expect(FileManager.default.contents(atPath: folder.file("sojourn.sqlite")) == before)
    }

    /// The database as the next version of the program examines it.
    private func closed(_ path: String) throws(OpenError) -> ClosedDatabase {
        try ClosedDatabase(path: path, migrations: NextVersion.all)
    }

    @Test("a command that brings a database up to date says so, and no other does")
    func upgradeNotice() async throws {
        var configuration = folder.configuration
        configuration.database.path = folder.file("sojourn.sqlite")
        func notice() -> String? {
            AdminConnection.upgradeNotice(configuration.database) { (path) throws(OpenError) in try closed(path) }
        }
        #expect(notice() == nil)
        try await expect("migrate", exits: 0)
        try await expect("user list", exits: 0)
        let export = try await base.program.run(["export", "--output", "all.jsonl"])
        #expect(export.status == 0 && !export.errors.contains("brought up to date"), "\(export)")
        #expect(AdminConnection.upgradeNotice(configuration.database) == nil)
        let word = "sojourn.sqlite was brought up to date by \(NextVersion.migrations.count) migrations"
        #expect(notice()?.contains(word) == true)
        let options = SQLiteStore.Options(clock: .system)
        await (try SQLiteStore(path: configuration.database.path, options: options, migrations: NextVersion.all))
            .close()
        #expect(notice() == nil)
        #expect(AdminConnection.upgradeNotice(configuration.database) == nil, "it is refused, and not opened")
    }

    @Test("a database of an earlier version is planned for and diagnosed without being changed")
    func plan() async throws {
        try await expect("migrate", exits: 0)
        let path = folder.file("sojourn.sqlite")
        var configuration = folder.configuration
        configuration.database.path = path
        let before = FileManager.default.contents(atPath: path)
        let check = ClosedDatabaseCheck(
            contents: ContentsCheck(configuration: configuration, environment: [:], now: 1_800_000_000))
        var database = try closed(path)
        let missing = try database.plan()
        let planned = MigrateCommand.Plan(missing: missing, newerNames: [])
        let text = MigrateCommand.text(planned, path)
        #expect(text.contains("\(NextVersion.known + 2) add_notes\n  makes notes (no row"), "\(text)")
        #expect(text.contains("locks the database, which no server has open meanwhile"), "\(text)")
        let json = String(decoding: MigrateCommand.json(planned).text(pretty: true), as: UTF8.self)
        #expect(json.contains("\"grows_with_rows\" : false"), "\(json)")
        let finding = try #require(try check.findings(in: database).first { $0.check == "migrations" })
        #expect(finding.result == .warn)
        #expect(finding.detail.hasPrefix("missing: \(NextVersion.known + 1) index_users, "), "\(finding)")
        database.close()
        #expect(FileManager.default.contents(atPath: path) == before)

        let options = SQLiteStore.Options(clock: .system)
        await (try SQLiteStore(path: path, options: options, migrations: NextVersion.all)).close()
        database = try closed(path)
        #expect(
            MigrateCommand.text(.init(missing: try database.plan(), newerNames: []), path).contains("nothing would run")
        )
        #expect(
            try check.findings(in: database).first { $0.check == "migrations" }?.detail
                == "\(NextVersion.newest) applied, none is missing")
        database.close()
    }

    @Test("plan and doctor of a database of today say that nothing is missing")
    func upToDate() async throws {
        try await expect("migrate", exits: 0, output: "is up to date")
        try await expect("migrate --plan", exits: 0, output: "nothing would run")
        try await expect("migrate --plan --json", exits: 0, output: "\"items\" : [")
        try await expect("doctor", exits: 0, output: "applied, none is missing")
    }

    @Test("doctor finds the wrong root key in a database that no server has")
    func wrongRootKey() async throws {
        try await expect("migrate", exits: 0)
        folder.write("sojourn.sqlite.root-key", String(repeating: "ab", count: 32))
        try await expect("doctor", exits: 1, output: "fail  root key         it is not the one")
    }
}
