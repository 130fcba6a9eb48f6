import JSON
import Configuration
import Glibc
import HTTP
import Migrations
import PostgresFixture
import Server
import Sessions
import StoreConformance
import TLSFixture
import Testing

@testable import Doctor
@testable import PostgresStore
@testable import sojourn

/// The command line on PostgreSQL, and the program of this version beside that of the next.
@Suite("Command line: PostgreSQL", .timeLimit(.minutes(5)))
struct PostgresCommandTests {
    private let base = CommandLineTests()

    private func expect(
        _ words: String, exits status: Int32, output: String = "", errors: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await base.expect(words, exits: status, output: output, errors: errors, location)
    }

    /// Every table of the schema with its rows.
    private static func contents(_ schema: String) throws -> String {
        let tables = try PostgresServer.shared.run(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1", schema: schema)
        return try tables.split(separator: "\n").map { table in
            try "\(table): " + PostgresServer.shared.run("SELECT * FROM \(table)", schema: schema)
        }.joined()
    }

    @Test("plan and doctor of an empty schema and of one that is up to date change nothing")
    func planAndDoctor() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        try await expect(
            "migrate --plan --database \(url)", exits: 0,
            output: "1 schema\n  makes schema_migrations, catalogue_revision"
        )
        try await expect("migrate --plan --database \(url)", exits: 0, output: "nodes go on meanwhile")
        try await expect("migrate --plan --json --database \(url)", exits: 0, output: "\"grows_with_rows\" : false")
        try await expect("doctor --database \(url)", exits: 0, output: "the schema is empty: the first start makes")
        #expect(try Self.contents(schema) == "")

        try await expect("migrate --database \(url)", exits: 0, output: "is up to date")
        let before = try Self.contents(schema)
        try await expect("migrate --plan --database \(url)", exits: 0, output: "nothing would run")
        try await expect("doctor --database \(url)", exits: 0, output: "applied, none is missing")
        try await expect("migrate --database \(url)", exits: 0, output: "is up to date")
        #expect(try Self.contents(schema) == before)
    }

    @Test("plan and doctor of a database of an earlier version change nothing")
    func planAndDoctorOfAnEarlierVersion() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        var configuration = base.folder.configuration
        configuration.database.location = .postgres(url: url)
        let check = PostgresCheck(
            contents: ContentsCheck(configuration: configuration, environment: [:], now: 1_800_000_000), url: url)
        let options = PostgresStore.Options(clock: .system)
        func report() throws -> PostgresStore.DatabaseReport {
            try PostgresStore.DatabaseReport(url: url, options: options, migrations: NextVersion.all)
        }
        try await expect("migrate --database \(url)", exits: 0, output: "is up to date")
        let before = try Self.contents(schema)
        let plan = MigrateCommand.Plan(missing: try report().missing, newerNames: try report().newerNames)
        let text = MigrateCommand.text(plan, url)
        #expect(text.contains("\(NextVersion.known + 2) add_notes\n  makes notes (no row"), "\(text)")
        #expect(text.contains("nodes go on meanwhile"), "\(text)")
        let json = String(decoding: MigrateCommand.json(plan).text(pretty: true), as: UTF8.self)
        #expect(json.contains("\"grows_with_rows\" : false"), "\(json)")
        let finding = try #require(check.findings(in: try report()).first { $0.check == "migrations" })
        #expect(finding.result == .warn)
        #expect(finding.detail.hasPrefix("missing: \(NextVersion.known + 1) index_users, "), "\(finding)")
        #expect(try Self.contents(schema) == before)

        await (try PostgresStore(url: url, options: options, migrations: NextVersion.all)).close()
        #expect(
            MigrateCommand.text(.init(missing: try report().missing, newerNames: []), url).contains("nothing would run")
        )
        #expect(
            check.findings(in: try report()).first { $0.check == "migrations" }?.detail
                == "\(NextVersion.newest) applied, none is missing")
    }

    @Test("doctor finds a root key that is lost or wrong, also while nodes run")
    func rootKey() async throws {
        let url = try PostgresServer.shared.newDatabase()
        try await expect("migrate --database \(url)", exits: 0)
        let process = try base.program.start(CommandLineTests.serve + ["--database", url])
        #expect(await process.waitForFile("ready.json"))
        try await expect("doctor --database \(url)", exits: 0, output: "ok    server           runs and can commit")
        try await expect("doctor --database \(url)", exits: 0, output: "applied, none is missing")
        try await expect("migrate --plan --database \(url)", exits: 0, output: "nothing would run")
        base.folder.write("sojourn.root-key", String(repeating: "ab", count: 32))
        try await expect("doctor --database \(url)", exits: 1, output: "fail  root key         it is not the one")
        unlink(base.folder.file("sojourn.root-key"))
        try await expect("doctor --database \(url)", exits: 1, output: "fail  root key")
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    @Test("doctor names a way out of damage that leads somewhere for PostgreSQL")
    func damage() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let process = try base.program.start(CommandLineTests.serve + ["--database", url])
        #expect(await process.waitForFile("ready.json"))
        try PostgresServer.shared.run("DROP TABLE heartbeat", schema: schema)
        let result = try await base.program.run(["doctor", "--database", url])
        #expect(result.status == 1)
        #expect(result.output.contains("runs, but answers 503"), "\(result.output)")
        #expect(result.output.contains("pg_amcheck"), "\(result.output)")
        #expect(!result.output.contains("sqlite3"), "\(result.output)")
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    @Test("start and doctor say what is wrong with the way to the database")
    func transport() async throws {
        let certificates = Certificates.shared
        let server = try PostgresServer(certificate: (certificates.path("p256.crt"), certificates.path("p256.key")))
        let wrong = "sslmode=verify-full&sslrootcert=\(certificates.path("other-ca.crt"))"
        let refused = server.url(schema: "public", host: "localhost", wrong)
        let sentence = "sslrootcert must name the authority that signed the server's certificate."
        try await expect("doctor --database \(refused)", exits: 1, output: sentence)
        try await expect("migrate --database \(refused)", exits: 1, errors: sentence)
        let start = try await base.program.run(CommandLineTests.serve + ["--database", refused])
        #expect(start.status == 1)
        #expect(start.errors.contains(sentence), "\(start)")
        let right = "sslmode=verify-full&sslrootcert=\(certificates.path("ca.crt"))"
        try await expect(
            "doctor --database \(server.url(schema: "public", host: "localhost", right))", exits: 0,
            output: "at localhost answers, encrypted")
        try await expect(
            "doctor --database \(server.url(schema: "public", host: "db.example", "sslmode=disable"))", exits: 0,
            output: "warn  database         PostgreSQL ")
    }

    @Test(
        "nodes of this version go on while the next version migrates, and beside it, and start again until it contracts"
    )
    func nextVersion() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let nodes = try await ManyNodes(2, on: url, first: CommandLineProgram.path)
        try nodes.set(["rotation_interval": .integer(0)], at: nodes.nodes[0])
        let stays = try (0..<8).flatMap { try nodes.createUser("user-\($0)", devices: 1, at: nodes.nodes[$0 % 2]) }
        let load = ManyNodesLoad(stays, at: nodes.nodes)
        await load.awaitRefreshes(100)
        let newer = try await Task { @concurrent in
            try PostgresStore(url: url, options: .init(clock: .system), migrations: NextVersion.expanded)
        }.value
        await load.awaitRefreshes(200)

        // A login at this version is seen by the next one, and what that one revokes is over here.
        let stay = try nodes.createUser("eve", devices: 1, at: nodes.nodes[0])[0]
        let eve = try #require(try await newer.user(.username("eve")))
        let listed = try await newer.sessions(of: eve.id, after: nil, limit: 9).items
        #expect(listed.map { $0.session.id.description } == [stay.sessionID])
        _ = try await newer.updateUser(.id(eve.id)) { change in
            change.ending = UserChange.EndingSessions(.revokedByAdmin, at: WallClock.system.now)
        }
        for node in nodes.nodes { #expect(node.refresh(stay.refresh)?.status == 401) }
        // And the other way round.
        let other = try nodes.logIn("eve", device: "d9", at: nodes.nodes[1])
        #expect(nodes.nodes[1].admin(.delete, "/sessions/\(other.sessionID)")?.status == 204)
        let id = try #require(Identifier<Session>(Substring(other.sessionID)))
        #expect(try await newer.session(id)?.session.ending?.reason == .revokedByAdmin)

        await load.awaitRefreshes(100)
        _ = await nodes.nodes[1].stop()
        let late = try await nodes.restart(1)
        load.replace(1, by: late)
        #expect(try nodes.logIn("eve", device: "d8", at: late).refresh.isEmpty == false)
        base.folder.write("sojourn.root-key", nodes.rootKey)
        let notes = "steps of a newer program, beside which this one works: \(NextVersion.known + 1) index_users, "
        try await expect("doctor --database \(url)", exits: 0, output: notes)
        try await expect("migrate --plan --database \(url)", exits: 0, output: notes)
        try await expect("migrate --database \(url)", exits: 0, output: notes)
        await load.awaitRefreshes(100)
        let result = await load.end()
        #expect(result.failures == [])
        #expect(result.refused == 0)
        #expect(try ManyNodes.betrayals(nodes.nodes[0]) == (0, 0))
        await newer.close()
        await (try PostgresStore(url: url, options: .init(clock: .system), migrations: NextVersion.all)).close()
        let refused = try await base.program.run(CommandLineTests.serve + ["--database", url])
        #expect(refused.status == 1)
        let sentence =
            "programs from version \(NextVersion.newest - 1) on can work on, and this program knows only up to "
        #expect(refused.errors.contains(sentence + "\(Migration.all.count). Run the newer program"), "\(refused)")
        for node in [nodes.nodes[0], late] { #expect(node.refresh(stays[0].refresh)?.status == 503) }
    }
}
