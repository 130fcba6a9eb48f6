import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Server
import Sessions
import Sockets
import Testing

@testable import sojourn

@Suite("Command line: the program", .timeLimit(.minutes(10)))
struct CommandLineTests {
    let folder = StartingFolder()
    var program: CommandLineProgram { CommandLineProgram(folder) }

    static let serve = [
        "serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready.json", "--log-format",
        "text",
    ]

    /// A server in the folder, and its public URL.
    func startServer() async throws -> (process: CommandLineProcess, url: String) {
        let process = try program.start(Self.serve)
        guard await process.waitForFile("ready.json") else {
            throw Failure(.failed, await process.result().errors)
        }
        let ready = try #require(JSONValue(text: Array(folder.text("ready.json", orFail: true).utf8)))
        return (process, try #require(ready["public"]?.string))
    }

    func expect(
        _ words: String, exits status: Int32, output: String = "", errors: String = "", input: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await program.run(words.split(separator: " ").map(String.init), input: input)
        #expect(result.status == status, "\(result)", sourceLocation: location)
        #expect(result.output.contains(output), "\(result)", sourceLocation: location)
        #expect(result.errors.contains(errors), "\(result)", sourceLocation: location)
        if status == 0 { #expect(result.errors.isEmpty, "\(result)", sourceLocation: location) }
    }

    @Test("help goes to standard output with 0, a wrong command line to standard error with 2")
    func helpAndUsage() async throws {
        try await expect("", exits: 0, output: "usage: sojourn COMMAND")
        try await expect("user create --help", exits: 0, output: "usage: sojourn user create USERNAME")
        try await expect("version", exits: 0, output: "sojourn \(Release.version)\n")
        try await expect("version --json", exits: 0, output: "{\"version\":\"\(Release.version)\"}")
        try await expect("serv", exits: 2, errors: "did you mean 'serve'?")
        try await expect("user create", exits: 2, errors: "USERNAME is missing")
    }

    @Test("without a server and without a database, admin commands say so, and make none")
    func nothingThere() async throws {
        let advice =
            "start 'sojourn serve', or name the server's database with --config, --database or SOJOURN_DATABASE_URL"
        try await expect("user list", exits: 5, errors: "there is no database sojourn.sqlite; \(advice)")
        try await expect("console", exits: 5, errors: "no server runs on the database sojourn.sqlite; \(advice)")
        var elsewhere = program
        elsewhere.environment["SOJOURN_DATABASE_URL"] = "postgres://sojourn@127.0.0.1:1/sojourn"
        let refused = try await elsewhere.run(["user", "list"])
        #expect(refused.errors.hasSuffix("connections?\n"), "\(refused)")
        let console = try await elsewhere.run(["console"])
        #expect(console.status == 5)
        #expect(
            console.errors.contains("no server answers on the admin socket sojourn.sock; run this on"), "\(console)")
        #expect(!folder.exists("sojourn.sqlite"))
        try await expect("health --url http://127.0.0.1:1", exits: 5, errors: "nothing answers")
        try await expect("health --url example.org", exits: 2, errors: "--url must be like")
    }

    private static func jwk(_ name: String) -> String {
        guard case .ed25519(let x) = SigningKey.generate(.eddsa).publicKey.coordinates else { return "" }
        return #"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(x))","kid":"\#(name)"}"#
    }

    /// What every admin command must do, whether a server answers or the program itself.
    func administer() async throws {
        try await administerUsers()
        try await administerClients()
        try await administerServer()
    }

    private func administerUsers() async throws {
        try await expect(
            "user create ada --email ada@example.org", exits: 0, output: "user ada was made", input: "correct horse\n")
        try await expect("user create ada", exits: 4, errors: "(username_taken)", input: "correct horse\n")
        try await expect("user create bob", exits: 4, errors: "at least 8", input: "short\n")
        try await expect("user create bob", exits: 2, errors: "no password came")
        try await expect("user create bob --no-password", exits: 0)
        try await expect("user list", exits: 0, output: "ada@example.org")
        try await expect("user list example.org --json", exits: 0, output: "\"username\" : \"ada\"")
        try await expect(
            "user show eve", exits: 3, errors: "no such user. (not_found)\nsojourn: 'sojourn user list TEXT' finds")
        try await expect("user update ada --name Ada --offline-session-max 30d", exits: 0, output: "30 days (2592000)")
        try await expect(
            "user update bob --offline-session-max inherit", exits: 0, output: "offline_session_max  inherited")
        try await expect("user update ada --email-verified true", exits: 0, output: "email_verified       yes")
        try await expect("user update ada --email-verified perhaps", exits: 2, errors: "must be true or false")
        try await expect("user update bob --email-verified true", exits: 4, errors: "needs an e-mail address")
        try await expect("user update ada", exits: 2, errors: "nothing to change")
        try await expect(#"user update ada --claims {"role":"teller"}"#, exits: 0, output: "user")
        try await expect("user show ada", exits: 0, output: #"claims               {"role":"teller"}"#)
        try await expect("user update ada --claims teller", exits: 2, errors: "--claims must be a JSON object")
        try await expect(#"user update ada --claims {"sub":"eve"}"#, exits: 4, errors: "claims")
        try await expect(#"user update ada --claims {"n":12345678901234567890}"#, exits: 2, errors: "kept exactly")
        try await expect(
            "user update ada --given-name Ada --family-name Lovelace", exits: 0, output: "family_name          Lovelace"
        )
        try await expect(
            "user show ada", exits: 0,
            output: "sources              username admin, email admin, password admin, access admin"
        )
        try await expect("user create cleo --no-password --email c@example.org --source user", exits: 0)
        try await expect("user show cleo", exits: 0, output: "username user, email user, access user")
        try await expect("user update cleo --email d@example.org", exits: 0)
        try await expect("user show cleo", exits: 0, output: "username user, email admin, access user")
        try await expect("user update cleo --source user", exits: 2, errors: "nothing to change")
        try await expect("user update cleo --country DE --source friend", exits: 4, errors: "source")
        try await expect("user disable bob --reason test", exits: 0, output: "logins of bob are off; sessions wait")
        try await expect("user disable bob --revoke", exits: 0, output: "logins of bob are off; 0 sessions ended")
        try await expect("user show bob", exits: 0, output: "off by admin")
        try await expect("user enable bob", exits: 0, output: "logins of bob are on")
        try await expect("user set-password bob", exits: 0, output: "is set", input: "battery staple\n")
        try await expect("user reset-password bob", exits: 0, output: "/reset#sjv_")
        try await expect("session list ada", exits: 0, output: "no sessions")
        try await expect("session explain --user ada", exits: 3, errors: "ada has no session")
        try await expect("session revoke-all", exits: 2, errors: "--yes")
        try await expect("session show 00", exits: 3)
    }

    private func administerClients() async throws {
        try await expect(
            "client create tv --auth client_secret_basic", exits: 0, output: "  sjc_")
        try await expect("client create tv", exits: 4, errors: "(client_exists)")
        try await expect(
            "client update tv --resources https://orders.example", exits: 0, output: "https://orders.example")
        try await expect(
            "client update tv --offline-session-idle 7d --refresh-after 8d", exits: 4,
            errors: "refresh_after must be less")
        try await expect("client update tv --offline-session-idle 7d", exits: 0, output: "7 days")
        try await expect(
            #"client update tv --scope-claims {"a":["b"]}"#, exits: 0, output: #"{"a":["b"]}"#)
        try await expect("client list", exits: 0, output: "mobile")
        try await expect("client show mobile --json", exits: 0, output: "\"dpop\" : \"optional\"")
        try await expect("client update mobile --dpop required", exits: 0)
        try await expect("client show mobile --json", exits: 0, output: "\"dpop\" : \"required\"")
        try await expect("client update mobile --dpop optional", exits: 0)
        folder.write("keys.json", #"{"keys":[\#(Self.jwk("signer-1")),\#(Self.jwk("signer-2"))]}"#)
        try await expect(
            "client create signer --auth private_key_jwt --jwks keys.json --grants client_credentials", exits: 0)
        try await expect("client show signer", exits: 0, output: "Ed25519 signer-1, Ed25519 signer-2")
    }

    private func administerServer() async throws {
        try await expect("event list --json --limit 200", exits: 0, output: "\"event\" : \"client_created\"")
        try await expect("event list --limit 1", exits: 0, output: "there is more: --cursor")
        try await expect("event list --user ada", exits: 0, output: "user_created")
        try await expect("event list --user eve", exits: 3, errors: "'sojourn user list TEXT' finds")
        try await expect("event list --session 0", exits: 4, errors: "must be the id of a session")
        try await expect("client delete tv", exits: 0)
        try await expect("settings set --offline-session-idle 21d", exits: 0, output: "21 days (1814400)")
        try await expect("settings set --offline-session-idle 9000d", exits: 4, errors: "absolute_max_lifetime")
        try await expect("settings set --offline-session-idle soon", exits: 2, errors: "like 90s, 15m, 12h or 14d")
        try await expect("settings show --json", exits: 0, output: "\"offline_session_idle\" : 1814400")
        try await expect("admin-key create ci", exits: 0, output: "sja_")
        try await expect("admin-key list", exits: 0, output: "ci")
        try await expect("admin-key delete 00000000", exits: 3)
        try await expect("key rotate", exits: 0, output: "the new key is")
        try await expect("key list", exits: 0, output: "ES256  signs next")
        try await expect("key list", exits: 0, output: "ES256  signs now")
        try await expect("user delete bob", exits: 0, output: "user bob is deleted")
        try await expect("doctor", exits: 0, output: "ok    root key")
        try await expect(
            "doctor", exits: 0, output: "ok    file             none: --config or SOJOURN_CONFIG names one\n")
        folder.write("other.json5", "{}")
        try await expect("doctor --config other.json5", exits: 0, output: "ok    file             other.json5\n")
    }

    @Test("admin commands work without a server")
    func withoutServer() async throws {
        try await expect("migrate", exits: 0, output: "admin key, shown this once: sja_")
        try await expect("migrate", exits: 0, output: "is up to date")
        try await administer()
    }

    @Test("the same commands work over the admin socket while a server runs")
    func withServer() async throws {
        let (process, url) = try await startServer()
        try await administer()
        let body = #"{"username":"ada","password":"correct horse","device":{"id":"d1","name":"Pixel 9"}}"#
        let login = try ask(.post, url + "/v1/login", body)
        #expect(login.status == 200)
        let id = try #require(login.json["session_id"]?.string)
        try await expect("session list ada", exits: 0, output: "Pixel 9  mobile")
        try await expect("session explain \(id)", exits: 0, output: "The session is active.")
        try await expect(
            "settings set --offline-session-max 1s --offline-session-idle 1s", exits: 4, errors: "refresh_after")
        try await expect("client update mobile --offline-session-max 20d", exits: 0, output: "20 days (1728000)")
        try await expect(
            "session explain \(id)", exits: 0, output: "offline_session_max of the client 'mobile': 20 days.")
        try await expect("client delete mobile", exits: 2, errors: "1 active session would end with the client mobile")
        try await expect("session end \(id)", exits: 0)
        try await expect(
            "session explain --user ada --device d1", exits: 0,
            output: "revoked_by_admin.\nAn admin ended it")
        try await expect("session explain \(id)", exits: 0, output: "session_ended")
        try await expect("session explain \(id) --json", exits: 0, output: "\"events\"")
        try await expect("health --url \(url)", exits: 0, output: "is ready")
        try await expect("health --live --url \(url)", exits: 0, output: "is alive")
        try await expect("migrate", exits: 1, errors: "Another process has the database")
        process.signal(SIGTERM)
        #expect(await process.result().status == 0)
    }

    @Test("SIGTERM and SIGINT stop in good order: exit 0, ready file and socket gone", arguments: [SIGTERM, SIGINT])
    func gracefulStop(signal: Int32) async throws {
        let (process, _) = try await startServer()
        #expect(folder.exists("sojourn.sqlite.sock"))
        process.signal(signal)
        let result = await process.result()
        #expect(result.status == 0)
        #expect(result.errors.contains("stopped"))
        #expect(result.output.contains("admin key, shown this once: sja_"))
        #expect(!result.errors.contains("sja_"))
        #expect(!folder.exists("ready.json"))
        #expect(!folder.exists("sojourn.sqlite.sock"))
        #expect(!folder.exists("sojourn.sqlite-wal"))
    }

    @Test("after kill -9 the next start finds everything that was acknowledged")
    func killAndRestart() async throws {
        let (process, _) = try await startServer()
        try await expect("user create ada --no-password", exits: 0)
        process.signal(SIGKILL)
        #expect(await process.result().status == -SIGKILL)
        #expect(folder.exists("sojourn.sqlite.sock"))
        // A dead server's socket is no server: the program opens the database itself.
        try await expect("user show ada", exits: 0, output: "ada")
        unlink(folder.file("ready.json"))
        let (again, url) = try await startServer()
        #expect(try ask(.get, url + "/readyz").status == 200)
        try await expect("user show ada", exits: 0, output: "ada")
        again.signal(SIGTERM)
        #expect(await again.result().status == 0)
    }

    @Test("an obstacle to the start is one line and exit 1")
    func obstacles() async throws {
        try await expect("migrate", exits: 0)
        func expectLine(_ words: [String], _ expected: String, _ location: SourceLocation = #_sourceLocation)
            async throws
        {
            let result = try await program.run(words)
            #expect(result.status == 1, "\(result)", sourceLocation: location)
            #expect(result.lines.count == 1, "\(result)", sourceLocation: location)
            #expect(result.errors.contains(expected), "\(result)", sourceLocation: location)
        }
        let taken = try Listener(SocketAddress("127.0.0.1:0"))
        try await expectLine(
            ["serve", "--public", "\(taken.address)", "--admin", "127.0.0.1:0"], "server.public_listen: ")
        try await expectLine(Self.serve + ["--database", "sqlite:no/such/db"], "The folder of the database")
        try await expectLine(["serve", "--config", "missing.json5"], "missing.json5 cannot be read")
        try await expectLine(["serve", "--public", "nowhere"], "--public must be an address")
        chmod(folder.file("sojourn.sqlite.root-key"), 0o644)
        try await expectLine(Self.serve, "run: chmod 600 sojourn.sqlite.root-key")
        let result = try await program.run(["doctor"])
        #expect(result.status == 1)
        #expect(result.output.contains("fail  root key"))
        folder.write("sojourn.sqlite.root-key", Hex.encode(RandomSource.system.bytes(32)))
        try await expectLine(Self.serve, "does not hold the root key")
        unlink(folder.file("sojourn.sqlite.root-key"))
        try await expectLine(Self.serve, "is missing, and the database was made with it")
    }

    @Test("every problem of a configuration is a line")
    func configurationProblems() async throws {
        folder.write("sojourn.json5", "{log: {levl: 'info'}, keys: {rotation_days: 0}}")
        var program = program
        program.environment = ["SOJOURN_DATABSE_URL": "sqlite:x"]
        let result = try await program.run(["serve"])
        #expect(result.status == 1)
        #expect(result.lines.count == 3, "\(result)")
        #expect(result.lines.allSatisfy { $0.hasPrefix("sojourn: ") })
        let doctor = try await program.run(["doctor"])
        #expect(doctor.output.split(separator: "\n").count == 3, "\(doctor)")
    }
}
