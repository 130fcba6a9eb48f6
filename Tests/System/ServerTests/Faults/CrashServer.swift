import FoundationEssentials
import Glibc
import HTTP
import JSON
import Server
import Sockets

@testable import sojourn

/// The built program as a server on the database `db` of a folder, to be killed and started again.
struct CrashServer: Sendable {
    struct NotReady: Error { let errors: String }

    static let adminKey = "an-admin-key-of-a-server-that-is-killed"

    private let process: CommandLineProcess
    let publicAddress: String
    let adminAddress: String

    /// Starts the program and waits until it answers.
    init(
        _ folder: StartingFolder, environment: [String: String] = [:], database: String = "sqlite:db",
        binary: String = CommandLineProgram.path
    ) async throws {
        process = try Self.spawn(folder, environment, database: database, binary: binary)
        guard await process.waitForFile("ready.json"), let ready = folder.text("ready.json"),
            let addresses = JSONValue(text: Array(ready.utf8)), let publicURL = addresses["public"]?.string,
            let adminURL = addresses["admin"]?.string
        else {
            process.signal(SIGKILL)
            throw NotReady(errors: await process.result().errors)
        }
        publicAddress = String(publicURL.dropFirst("http://".count))
        adminAddress = String(adminURL.dropFirst("http://".count))
    }

    /// Starts the program and does not wait.
    static func spawn(
        _ folder: StartingFolder, _ environment: [String: String], database: String = "sqlite:db",
        binary: String = CommandLineProgram.path
    ) throws -> CommandLineProcess {
        unlink(folder.file("ready.json"))
        var program = CommandLineProgram(folder)
        program.path = binary
        // The loads of tests refresh a few sessions in loops.
        let defaults = ["SOJOURN_ADMIN_KEY": adminKey, "SOJOURN_LIMITS_REFRESHES_PER_SESSION_PER_MINUTE": "0"]
        program.environment = environment.merging(defaults) { given, _ in given }
        return try program.start([
            "serve", "--database", database, "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--issuer",
            "https://login.example", "--ready-file", "ready.json", "--log-level", "error",
        ])
    }

    /// Sends SIGKILL; does not wait.
    func shoot() { process.signal(SIGKILL) }

    /// Sends SIGKILL and waits for the end. Returns what the process said on standard error.
    @discardableResult
    func kill() async -> String {
        shoot()
        return await process.result().errors
    }

    /// Sends SIGTERM and waits for the end. Returns what the process said on standard error.
    func stop() async -> String {
        process.signal(SIGTERM)
        return await process.result().errors
    }

    struct Answer: Sendable {
        let status: Int
        let retryAfter: String?
        let json: JSONValue
    }

    /// A call of an app. Nil: the connection broke, so that the outcome is unknown.
    func call(_ method: HTTP.Method, _ path: String, bearer: String? = nil, _ body: JSONValue? = nil) -> Answer? {
        Self.exchange(method, path, at: publicAddress, bearer: bearer, body)
    }

    /// A call of an admin.
    func admin(_ method: HTTP.Method, _ path: String, _ body: JSONValue? = nil) -> Answer? {
        Self.exchange(method, "/admin/v1" + path, at: adminAddress, bearer: Self.adminKey, body)
    }

    /// A refresh at `/v1/refresh`.
    func refresh(_ token: String) -> Answer? { call(.post, "/v1/refresh", .object(["refresh_token": .string(token)])) }

    private static func exchange(
        _ method: HTTP.Method, _ path: String, at address: String, bearer: String?, _ body: JSONValue?
    ) -> Answer? {
        var fields = Fields()
        if let bearer { fields.append("Authorization", "Bearer \(bearer)") }
        if body != nil { fields.append("Content-Type", "application/json") }
        let request = Request(method, path, fields: fields, body: body?.text() ?? [])
        guard let address = try? SocketAddress(address), let response = try? HTTPExchange.send(request, to: address)
        else { return nil }
        return Answer(
            status: response.status.code, retryAfter: response.fields.first("Retry-After"),
            json: JSONValue(text: response.body) ?? .null)
    }
}
