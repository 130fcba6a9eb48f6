import Glibc
import JSON
import Server
import Sockets
import Testing

@testable import sojourn

/// A program that is stopped and started again under load.
@Suite("Restarting", .timeLimit(.minutes(10)))
struct RestartTests {
    let folder = StartingFolder()

    private func program(_ environment: [String: String] = [:]) -> CommandLineProgram {
        var program = CommandLineProgram(folder)
        program.environment = environment.merging([
            "SOJOURN_ADMIN_KEY": CrashServer.adminKey, "SOJOURN_SERVER_ISSUER": "https://login.example",
            "SOJOURN_LOG_LEVEL": "error", "SOJOURN_DATABASE_URL": "sqlite:db",
            // Longer than a busy machine keeps a client waiting between two requests.
            "SOJOURN_LIMITS_STOP_GRACE_SECONDS": "10",
        ]) { given, _ in given }
        return program
    }

    /// Processes that follow each other on one port, with the patience that a busy machine needs.
    private static let sharing = [
        "SOJOURN_SERVER_REUSE_PORT": "true", "SOJOURN_LIMITS_STOP_TIMEOUT_SECONDS": "300",
        "SOJOURN_LOG_LEVEL": "notice",
    ]
    private static let waiting = "waiting for the process that has the database"

    private func publicAddress() throws -> SocketAddress {
        let ready = try #require(folder.text("ready.json"))
        let url = try #require(JSONValue(text: Array(ready.utf8))?["public"]?.string)
        return try SocketAddress(String(url.dropFirst("http://".count)))
    }

    @Test("while a supervisor holds the socket, a restart fails no request")
    func socketActivation() async throws {
        let listener = try Listener(SocketAddress("127.0.0.1:0"))
        let words = ["serve", "--admin", "127.0.0.1:0", "--ready-file", "ready.json"]
        var server = try program().start(words, socket: listener.number)
        #expect(await server.waitForFile("ready.json"))
        #expect(try publicAddress() == listener.address)
        let load = RestartLoad(8, to: listener.address)
        for _ in 1...5 {
            await load.awaitAnswers(50)
            server.signal(SIGTERM)
            let ended = await server.result()
            #expect(ended.status == 0, "\(ended.errors)")
            // No process serves now, and new connections wait.
            server = try program().start(words, socket: listener.number)
        }
        await load.awaitAnswers(50)
        let result = await load.end()
        #expect(result.failures == [])
        #expect(result.ended > 0)
        server.signal(SIGTERM)
        #expect(await server.result().status == 0)
    }

    @Test("with a shared port a second process takes over, and no request fails")
    func sharedPort() async throws {
        let environment = Self.sharing
        // The process itself takes a free port; its successors get the same.
        var server = try program(environment).start(
            ["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready.json"])
        #expect(await server.waitForFile("ready.json"))
        let address = try publicAddress()
        let load = RestartLoad(8, to: address)
        for number in 1...3 {
            await load.awaitAnswers(50)
            let ready = "ready-\(number).json"
            let next = try program(environment).start(
                ["serve", "--public", "\(address)", "--admin", "127.0.0.1:0", "--ready-file", ready])
            // The second one has the port, but not the database.
            #expect(await next.waitForError(Self.waiting))
            await load.awaitAnswers(50)
            #expect(!folder.exists(ready))
            server.signal(SIGTERM)
            let ended = await server.result()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(await next.waitForFile(ready))
            server = next
        }
        await load.awaitAnswers(50)
        let result = await load.end()
        #expect(result.failures == [])
        #expect(result.ended > 0)
        server.signal(SIGTERM)
        #expect(await server.result().status == 0)
    }

    @Test("a process that waits for the database of another one can be stopped")
    func waitingIsStopped() async throws {
        let environment = Self.sharing
        let words = ["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        let first = try program(environment).start(words + ["--ready-file", "ready.json"])
        #expect(await first.waitForFile("ready.json"))
        let waiting = try program(environment).start(words)
        #expect(await waiting.waitForError(Self.waiting))
        waiting.signal(SIGTERM)
        #expect(await waiting.result().status == 0)
        first.signal(SIGTERM)
        #expect(await first.result().status == 0)
    }

    @Test("without a shared port a second process says at once that the database is taken")
    func withoutSharedPort() async throws {
        let words = ["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        let first = try program().start(words + ["--ready-file", "ready.json"])
        #expect(await first.waitForFile("ready.json"))
        let second = try await program().run(words)
        #expect(second.status != 0)
        #expect(second.lines.count == 1)
        first.signal(SIGTERM)
        #expect(await first.result().status == 0)
    }

    @Test("a socket that is handed over for another process is left alone, and nonsense is refused")
    func handedOverWrongly() async throws {
        let words = ["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready.json"]
        let server = try program(["LISTEN_PID": "1", "LISTEN_FDS": "1"]).start(words)
        #expect(await server.waitForFile("ready.json"))
        server.signal(SIGTERM)
        #expect(await server.result().status == 0)
        let nonsense = try await program(["LISTEN_PID": "me", "LISTEN_FDS": "1"]).run(words)
        #expect(nonsense.errors.contains("LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES contradict each other"))
        let file = open(folder.file("db"), O_RDONLY)
        defer { close(file) }
        let noSocket = try program().start(words, socket: file)
        let result = await noSocket.result()
        #expect(result.status != 0)
        #expect(result.errors.contains("no stream socket that listens"), "\(result.errors)")
    }

    @Test("a supervisor is told when the server is ready, and when it stops")
    func notification() async throws {
        let supervisor = try NotificationReceiver(folder.file("notify"))
        let server = try program(["NOTIFY_SOCKET": folder.file("notify")]).start(
            ["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready.json"])
        #expect(await server.waitForFile("ready.json"))
        #expect(await supervisor.next() == "READY=1")
        server.signal(SIGTERM)
        #expect(await supervisor.next() == "STOPPING=1")
        #expect(await server.result().status == 0)
    }
}
