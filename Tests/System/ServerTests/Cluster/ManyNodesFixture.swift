import Cryptography
import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JOSE
import JSON
import PostgresFixture
import Sockets

@testable import sojourn

/// Several processes that serve one PostgreSQL database, as they would on several machines: each has a folder of its own, all
/// have the same root key.
struct ManyNodes: Sendable {
    struct Refused: Error { let answer: String }

    /// A stay on a device, with the tokens that were acknowledged last.
    struct Stay: Sendable {
        let sessionID: String
        var refresh: String
        var access: String

        /// The stay that an answer with tokens tells of.
        init(_ answer: CrashServer.Answer?) throws {
            guard let answer, answer.status == 200, let id = answer.json["session_id"]?.string,
                let refresh = answer.json["refresh_token"]?.string, let access = answer.json["access_token"]?.string
            else { throw Refused(answer: "\(answer?.status ?? 0) \(answer?.json ?? .null)") }
            (sessionID, self.refresh, self.access) = (id, refresh, access)
        }
    }

    let nodes: [CrashServer]
    let database: String
    let rootKey: String
    /// Where the nodes run; gone with this.
    private let folders: [StartingFolder]

    /// Starts all of them at once, on whatever the database holds. The first is of another version where there is one.
    init(
        _ count: Int = 3, on database: String, environment: [String: String] = [:],
        first: String = CommandLineProgram.otherPath ?? CommandLineProgram.path
    ) async throws {
        let rootKey = Hex.encode(RandomSource.system.bytes(32))
        let folders = (0..<count).map { _ in StartingFolder() }
        (self.database, self.rootKey, self.folders) = (database, rootKey, folders)
        nodes = try await withThrowingTaskGroup(of: (Int, CrashServer).self) { group in
            for (index, folder) in folders.enumerated() {
                let binary = index == 0 ? first : CommandLineProgram.path
                group.addTask { (index, try await Self.start(folder, rootKey, database, environment, binary)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func start(
        _ folder: StartingFolder, _ rootKey: String, _ database: String, _ environment: [String: String] = [:],
        _ binary: String = CommandLineProgram.path
    ) async throws -> CrashServer {
        let key = ["SOJOURN_ROOT_KEY": rootKey]
        return try await CrashServer(
            folder, environment: environment.merging(key) { $1 }, database: database, binary: binary)
    }

    /// Starts a node again that was killed or stopped, with this binary.
    func restart(_ index: Int, _ binary: String = CommandLineProgram.path) async throws -> CrashServer {
        try await Self.start(folders[index], rootKey, database, [:], binary)
    }

    /// Makes a user with a session on each of so many devices.
    func createUser(_ username: String, devices: Int, at node: CrashServer) throws -> [Stay] {
        let user = node.admin(.post, "/users", .object(["username": .string(username)]))
        guard user?.status == 201 else { throw Refused(answer: "\(user?.status ?? 0) \(user?.json ?? .null)") }
        return try (0..<devices).map { device in try logIn(username, device: "d\(device)", at: node) }
    }

    /// A session of the user on that device.
    func logIn(_ username: String, device: String, at node: CrashServer) throws -> Stay {
        let body = JSONValue.object(["device": .object(["id": .string(device)])])
        return try Stay(node.admin(.post, "/users/username:\(username)/sessions", body))
    }

    /// Changes settings and demands that it is acknowledged.
    func set(_ settings: [String: JSONValue], at node: CrashServer) throws {
        let answer = node.admin(.put, "/settings/sessions", .object(settings))
        guard answer?.status == 200 else { throw Refused(answer: "\(answer?.status ?? 0) \(answer?.json ?? .null)") }
    }

    /// Asks as often as it takes: each connection to a database that went away is noticed once.
    static func patiently(_ ask: () -> CrashServer.Answer?) -> CrashServer.Answer? {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let answer = ask()
            if answer?.status != 503 || ContinuousClock.now > deadline { return answer }
            usleep(20_000)
        }
    }

    /// How often the audit trail tells of a token newer than the database, and of reuse.
    static func betrayals(_ node: CrashServer) throws -> (restored: Int, reused: Int) {
        var (restored, reused) = (0, 0)
        var cursor = ""
        while true {
            let page = patiently { node.admin(.get, "/events?limit=200" + (cursor.isEmpty ? "" : "&cursor=\(cursor)")) }
            guard let page, page.status == 200 else { throw Refused(answer: "\(page?.status ?? 0)") }
            for event in page.json["items"]?.elements ?? [] {
                if event["event"]?.string == "session_restored" { restored += 1 }
                if event["reason"]?.string == "refresh_token_reused" { reused += 1 }
            }
            guard let next = page.json["next_cursor"]?.string else { return (restored, reused) }
            cursor = next
        }
    }

    /// The key with the signature that a token bears.
    static func keyID(of token: String?) -> String? { token.flatMap { try? JWT.parse($0).header.kid } }
}
