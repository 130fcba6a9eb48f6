import FoundationEssentials
import HTTP
import JSON
import Testing

@testable import sojourn

/// The disk fails under a running server. Nothing is acknowledged then, nothing acknowledged is lost, no session
/// ends, and when the disk is back so is the server, without a restart.
@Suite("A failing disk under the server", .timeLimit(.minutes(10)))
struct FaultProcessTests {
    /// A server with sessions on eight devices, each refreshed once, so that all of them hold acknowledged tokens.
    private struct World {
        let server: CrashServer
        var tokens: [(refresh: String, access: String)] = []

        init(_ folder: StartingFolder, _ library: FaultLibrary) async throws {
            server = try await CrashServer(folder, environment: library.environment)
            let strict = JSONValue.object(["rotation_interval": .integer(0)])
            try #require(server.admin(.put, "/settings/sessions", strict)?.status == 200)
            try #require(server.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
            for number in 0..<8 {
                let device = JSONValue.object(["device": .object(["id": .string("device-\(number)")])])
                let login = server.admin(.post, "/users/username:anna/sessions", device)
                let refreshed = server.refresh(login?.json["refresh_token"]?.string ?? "")
                tokens.append(
                    (
                        try #require(refreshed?.json["refresh_token"]?.string),
                        try #require(refreshed?.json["access_token"]?.string)
                    ))
            }
        }

        /// Everything that writes.
        func changes() -> [CrashServer.Answer?] {
            let anna = "/users/username:anna"
            return tokens.map { server.refresh($0.refresh) } + [
                server.admin(.post, anna + "/sessions"),
                server.admin(.post, anna + "/disable", .object([:])),
                server.admin(.post, anna + "/revoke", .object([:])),
                server.admin(.put, "/settings/sessions", .object(["refresh_after": .integer(77)])),
                server.call(.post, "/v1/logout", .object(["refresh_token": .string(tokens[0].refresh)])),
            ]
        }

        /// No session has ended, and nothing that was refused has happened.
        mutating func expectUntouched(_ server: CrashServer) {
            for index in tokens.indices {
                let answer = server.refresh(tokens[index].refresh)
                #expect(answer?.status == 200, "\(answer?.json ?? .null)")
                #expect(server.call(.get, "/v1/verify", bearer: tokens[index].access)?.status == 200)
                tokens[index].refresh = answer?.json["refresh_token"]?.string ?? tokens[index].refresh
            }
            let user = server.admin(.get, "/users/username:anna")
            #expect(user?.status == 200)
            #expect(user?.json["login_disabled_by_admin"] == nil)
            let settings = server.admin(.get, "/settings/sessions")
            #expect(settings?.json["refresh_after"] == .integer(3600))
            #expect(server.admin(.get, "/users/username:anna/sessions")?.json["items"]?.elements.count == tokens.count)
        }
    }

    @Test(
        "everything that writes gets 503 with Retry-After until the disk is back, and then goes on",
        arguments: [FaultLibrary.Fault.fullDisk, .fullLog, .shortWrites, .readOnlyDisk, .failingSync])
    func faultWhileRunning(_ fault: FaultLibrary.Fault) async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        var world = try await World(folder, library)
        for _ in 0..<2 {
            library.begin(fault)
            for answer in world.changes() + world.changes() {
                #expect(answer?.status == 503)
                #expect((answer?.retryAfter.flatMap(Int.init) ?? 0) > 0)
            }
            // Reads go on: users that are logged in stay so.
            for token in world.tokens {
                #expect(world.server.call(.get, "/v1/verify", bearer: token.access)?.status == 200)
            }
            #expect(world.server.call(.get, "/readyz")?.status == 503)
            #expect(world.server.call(.get, "/healthz")?.status == 200)
            library.end(fault)
            world.expectUntouched(world.server)
            #expect(world.server.call(.get, "/readyz")?.status == 200)
        }
        // Killed in the middle of it, the next start has everything acknowledged too.
        library.begin(fault)
        #expect(world.changes().allSatisfy { $0?.status == 503 })
        await world.server.kill()
        library.end(fault)
        let next = try await CrashServer(folder)
        world.expectUntouched(next)
        await next.kill()
        let (restored, reused) = try await CrashTests.betrayals(folder)
        #expect(restored == 0)
        #expect(reused == 0)
    }

    @Test("a disk that takes every write in small parts loses nothing of them")
    func slowWrites() async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        library.begin(.slowWrites)
        var world = try await World(folder, library)
        for _ in 0..<5 { world.expectUntouched(world.server) }
        await world.server.kill()
        let next = try await CrashServer(folder)
        world.expectUntouched(next)
        await next.kill()
    }

    /// Two thousand pages: a checkpoint is due, and cannot be made.
    @Test(
        "a database file that cannot grow stops no call while the log can, and stops the next start")
    func fullDatabaseFile() async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        var world = try await World(folder, library)
        library.begin(.fullDatabase)
        for _ in 0..<300 { world.expectUntouched(world.server) }
        #expect(world.server.call(.get, "/readyz")?.status == 200)
        #expect(await world.server.kill().contains("disk is full"))
        let error = await #expect(throws: CrashServer.NotReady.self) {
            try await CrashServer(folder, environment: library.environment)
        }
        #expect(error?.errors.contains("disk is full") == true, "\(error?.errors ?? "")")
        library.end(.fullDatabase)
        let next = try await CrashServer(folder, environment: library.environment)
        world.expectUntouched(next)
        await next.kill()
    }

    @Test("a limit on the size of files is a full disk, not the end of the process")
    func fileSizeLimit() async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        let limit = ["FAULT_FILE_SIZE": "\(500 * 1024)"]
        let server = try await CrashServer(folder, environment: library.environment.merging(limit) { $1 })
        try #require(server.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
        var tokens: [String] = []
        var refused: CrashServer.Answer?
        let name = JSONValue.string(String(repeating: "x", count: 100))
        while tokens.count < 5000 {
            let device = JSONValue.object(["id": .string("device-\(tokens.count)"), "name": name])
            let answer = server.admin(.post, "/users/username:anna/sessions", .object(["device": device]))
            guard answer?.status == 200, let token = answer?.json["access_token"]?.string else {
                refused = answer
                break
            }
            tokens.append(token)
        }
        #expect(refused?.status == 503)
        #expect(refused?.retryAfter != nil)
        #expect(server.call(.get, "/v1/verify", bearer: tokens.first)?.status == 200)
        let last = try #require(tokens.last)
        #expect(server.call(.get, "/v1/verify", bearer: last)?.status == 200)
        await server.kill()
        let next = try await CrashServer(folder)
        #expect(next.call(.get, "/v1/verify", bearer: last)?.status == 200)
        await next.kill()
    }

    @Test("a database that may only be read stops the start with a line that says so, and is left as it is")
    func readOnlyFile() async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        var world = try await World(folder, library)
        await world.server.kill()
        library.begin(.readOnlyFile)
        let error = await #expect(throws: CrashServer.NotReady.self) {
            try await CrashServer(folder, environment: library.environment)
        }
        #expect(error?.errors.contains("db") == true, "\(error?.errors ?? "")")
        #expect(error?.errors.split(separator: "\n").count == 1, "\(error?.errors ?? "")")
        library.end(.readOnlyFile)
        let next = try await CrashServer(folder, environment: library.environment)
        world.expectUntouched(next)
        await next.kill()
    }
}
