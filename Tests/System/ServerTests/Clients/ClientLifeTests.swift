import Configuration
import Endpoints
import FoundationEssentials
import Glibc
import HTTP
import JOSE
import JSON
import PostgresFixture
import Repository
import Server
import Sessions
import Sockets
import TLSFixture
import Testing

@testable import sojourn

/// Programs of other authors lead whole lives with a server: the scripts in `Clients`, each with one library from
/// PyPI or one program from Debian, unmodified. What is missing is a failure: `.ci/setup tests` installs it.
@Suite("Clients of other authors", .timeLimit(.minutes(10)))
struct ClientLifeTests {
    @Test(
        "a client lives a whole life with the server",
        arguments: [
            "apache_relying_party", "apache_resource_server", "authlib_life", "authlib_web", "document_check",
            "joserfc_life", "jwcrypto_life",
            "oidc_agent_life", "oidc_agent_web",
            "pyjwt_life", "requests_oauth2client_ciba", "requests_oauth2client_life", "requests_oauth2client_web",
            "requests_oauthlib_life",
        ])
    func life(script: String) async throws {
        let server = try await ServerForClients()
        let result = try await server.run(script)
        #expect(result.status == 0, "\(result.text)")
        #expect(await server.stop() == "")
    }

    @Test("the codes of an authenticator app log a user in")
    func authenticator() async throws {
        let server = try await ServerForClients()
        let result = try await server.run("pyotp_life", in: "Factors")
        #expect(result.status == 0, "\(result.text)")
        #expect(await server.stop() == "")
    }

    /// Those that look at signatures, and those that do most.
    @Test(
        "a client with keys of Ed25519 lives a whole life with PostgreSQL",
        arguments: Lane.cases(
            push: ["authlib_life", "pyjwt_life"],
            full: ["authlib_life", "joserfc_life", "jwcrypto_life", "pyjwt_life", "requests_oauth2client_life"]))
    func lifeElsewhere(script: String) async throws {
        let server = try await ServerForClients(
            database: PostgresServer.shared.newDatabase(), algorithm: "EdDSA")
        let result = try await server.run(script)
        #expect(result.status == 0, "\(result.text)")
        #expect(await server.stop() == "")
    }

    /// Each listener is asked for all that its document allows and more, by schemathesis: some thousand requests. No guess is
    /// counted there, so that calls go deep; where all that can be counted is, answers are documented, too.
    @Test(
        "a client makes the calls that the API document allows, and others",
        arguments: Lane.cases(push: [["public"]], full: [["public"], ["admin"], ["public", "limits"]]))
    func attack(arguments: [String]) async throws {
        let isLimited = arguments.contains("limits")
        // A limit for a minute refuses most of the calls that it counts; one for a day would refuse all after the first.
        let limits = RateLimits.Name.allCases.map { limit in
            let isForMinutes = limit.rawValue.hasSuffix("_per_minute")
            let variable = "SOJOURN_" + limit.rawValue.uppercased().replacing(".", with: "_")
            return (variable, isLimited && isForMinutes ? "1" : "0")
        }
        let server = try await ServerForClients(
            environment: [
                "SOJOURN_LIMITS_WRONG_PASSWORDS_BEFORE_DELAY": isLimited ? "1" : "0",
                "SOJOURN_LIMITS_WRONG_PASSWORDS_BEFORE_LOCK": "3",
            ].merging(limits) { $1 })
        let result = try await server.run("document_attack", arguments)
        #expect(result.status == 0, "\(result.text)")
        #expect(await server.stop() == "")
    }
}

/// The built program as a server with TLS: its issuer is where it is reached, it asks for nonces in proofs of possession,
/// and it knows an identity provider.
struct ServerForClients {
    static let adminKey = "an-admin-key-for-clients-of-all-kinds"

    /// For each of them one session begins.
    private static let idTokenCount = 3

    private let folder = StartingFolder()
    private let provider: RecheckProvider
    private let process: CommandLineProcess
    private let variables: [String: String]

    init(
        environment: [String: String] = ["SOJOURN_DPOP_NONCE": "required"], database: String = "sqlite:db",
        algorithm: String = "ES256"
    ) async throws {
        provider = RecheckProvider(.system)
        folder.write(
            "sojourn.json5",
            """
            {passkeys: {rp_id: "localhost"}, identity_providers: [{
                name: "acme", issuer: "\(provider.issuer)", audiences: ["app"], allow_http_on_loopback: true,
            }]}
            """)
        var program = CommandLineProgram(folder)
        program.environment = environment.merging([
            "SOJOURN_ADMIN_KEY": Self.adminKey, "SOJOURN_KEYS_ALGORITHM": algorithm,
            "SOJOURN_SERVER_TLS_CERTIFICATE": Certificates.shared.path("p256.crt"),
            "SOJOURN_SERVER_TLS_KEY": Certificates.shared.path("p256.key"),
            "SOJOURN_SERVER_SCOPES_SUPPORTED": "openid read write",
        ]) { given, _ in given }
        process = try program.start([
            "serve", "--config", "sojourn.json5", "--database", database, "--public", "127.0.0.1:0", "--admin",
            "127.0.0.1:0", "--ready-file", "ready.json", "--log-level", "error",
        ])
        guard await process.waitForFile("ready.json"), let ready = folder.text("ready.json"),
            let addresses = JSONValue(text: Array(ready.utf8)), let publicURL = addresses["public"]?.string,
            let adminURL = addresses["admin"]?.string
        else { throw CrashServer.NotReady(errors: process.errors() ?? "") }
        let idTokens = (0..<Self.idTokenCount).map { [provider] _ in
            provider.idToken(["email": .string("otto@example.org"), "email_verified": .bool(true)])
        }
        let authority = Certificates.shared.path("ca.crt")
        variables = [
            "SOJOURN_PUBLIC": publicURL, "SOJOURN_ADMIN": adminURL, "SOJOURN_KEY": Self.adminKey,
            "SOJOURN_ALGORITHM": algorithm, "SOJOURN_ID_TOKENS": idTokens.joined(separator: " "),
            "REQUESTS_CA_BUNDLE": authority, "SSL_CERT_FILE": authority,
        ]
    }

    /// How long schemathesis searches, and where it begins: as the environment says, or as long as the lane has time.
    private static var search: [String] {
        let given = ProcessInfo.processInfo.environment
        let examples = given["SOJOURN_ATTACK_EXAMPLES"] ?? String(Lane.rounds(push: 5, full: 15))
        return ["SOJOURN_ATTACK_EXAMPLES=\(examples)"]
            + (given["SOJOURN_ATTACK_SEED"].map { ["SOJOURN_ATTACK_SEED=\($0)"] } ?? [])
    }

    /// Runs a script of a folder of `Scripts` with the Python and the libraries that `.ci/setup tests` installs.
    func run(_ script: String, _ arguments: [String] = [], in scripts: String = "Clients") async throws -> Tool.Result {
        let peers = Repository.path(".build/peers/bin") + "/"
        let environment =
            variables.map { "\($0)=\($1)" } + Self.search + [
                "PATH=\(peers):/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1",
            ]
        return try await Tool.run(
            ["env", "-i"] + environment + [
                peers + "python", Repository.path("Tests/System/ServerTests/Scripts/\(scripts)/\(script).py"),
            ] + arguments, limit: 900)
    }

    /// Stops the server. Returns what it had to complain of.
    func stop() async -> String {
        provider.stop()
        process.signal(SIGTERM)
        return await process.result().errors
    }
}
