import Glibc
import Locks
import PostgresFixture
import PostgresStore
import Telemetry
import Testing

@testable import Server

/// `serve --wait`: a server that starts while its database is down.
@Suite("Waiting for the database", .timeLimit(.minutes(5)))
struct DatabaseWaitTests {
    private let folder = StartingFolder()

    private func serve(_ url: String, _ words: [String] = []) throws -> CommandLineProcess {
        var program = CommandLineProgram(folder)
        program.environment = ["SOJOURN_ADMIN_KEY": CrashServer.adminKey, "SOJOURN_LOG_FORMAT": "text"]
        return try program.start(
            [
                "serve", "--database", url, "--public", "unix:\(folder.file("public.sock"))", "--issuer",
                "http://a.example",
                "--admin", "127.0.0.1:0", "--ready-file", "ready.json",
            ] + words)
    }

    @Test("A server waits for a database that is down, does not listen meanwhile, and serves when it is there")
    func waits() async throws {
        let database = try PostgresServer()
        let url = try database.newDatabase()
        try database.control("stop", "-m", "immediate")

        let server = try serve(url, ["--wait", "10m"])
        #expect(await server.waitForError("waiting for the database"))
        #expect(!folder.exists("public.sock") && !folder.exists("ready.json"))
        try database.control("start")

        #expect(await server.waitForFile("ready.json"))
        #expect(folder.exists("public.sock"))
        server.signal(SIGTERM)
        let result = await server.result()
        #expect(result.status == 0)
        #expect(result.errors.contains("cannot be reached"), "\(result.errors)")
    }

    @Test("SIGTERM ends a server that waits, in good order")
    func stopped() async throws {
        let server = try serve("postgres://sojourn@/none?host=\(folder.path)", ["--wait", "10m"])
        #expect(await server.waitForError("waiting for the database"))
        server.signal(SIGTERM)
        #expect(await server.result().status == 0)
    }

    @Test(
        "Without --wait, and after it, the start fails with the reason",
        arguments: [[], ["--wait", "1s"]] as [[String]])
    func fails(_ words: [String]) async throws {
        let result = try await serve("postgres://sojourn@/none?host=\(folder.path)", words).result()
        #expect(result.status == 1)
        #expect(result.errors.contains("The PostgreSQL database cannot be reached"), "\(result.errors)")
    }

    @Test("An unknown user or database, or tables of another program, end the start at once")
    func permanent() async throws {
        let database = try PostgresServer.shared
        let foreign = try database.newDatabase()
        let schema = try #require(foreign.split(separator: "%3D").last.map(String.init))
        try database.run("CREATE TABLE cats (name text)", schema: schema)
        let refusals = [
            (foreign.replacing("sojourn@", with: "stranger@"), "refuses the connection"),
            (foreign.replacing("/postgres?", with: "/none?"), "refuses the connection"),
            (foreign, "tables that are not of this program"),
        ]
        for (url, reason) in refusals {
            let result = try await serve(url, ["--wait", "10m"]).result()
            #expect(result.status == 1)
            #expect(result.errors.contains(reason), "\(result.errors)")
            #expect(!result.errors.contains("waiting for the database"))
        }
    }

    /// A clock that moves by what is slept.
    private struct Clock: Sendable {
        private let time = Locked(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }

        func sleep(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    @Test("It tries once a second until its time is over, and says the same cause every ten seconds")
    func attempts() async {
        let clock = Clock()
        let (lines, attempts) = (Locked(0), Locked(0))
        let logger = Logger(sink: LogSink { _ in lines.withLock { $0 += 1 } }, clock: { 0 })
        let wait = DatabaseWait(limit: .seconds(60), logger: logger, now: { clock.now }, sleep: { clock.sleep($0) })

        await #expect(throws: StartError.self) {
            try await wait.run { () async throws(StartError) in
                attempts.withLock { $0 += 1 }
                throw .postgres(.unreachable(reason: "no answer"))
            }
        }

        #expect(attempts.withLock { $0 } == 61)
        #expect(lines.withLock { $0 } == 6)
    }
}
