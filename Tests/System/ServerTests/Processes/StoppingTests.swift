import Glibc
import JSON
import Server
import Sockets
import Testing

@testable import sojourn

/// What a signal does to the program.
@Suite("Stopping", .timeLimit(.minutes(10)))
struct StoppingTests {
    let folder = StartingFolder()

    private func start(stopTimeout: Int) async throws -> (CommandLineProcess, SocketAddress) {
        var program = CommandLineProgram(folder)
        program.environment = [
            "SOJOURN_ADMIN_KEY": CrashServer.adminKey, "SOJOURN_LOG_LEVEL": "notice", "SOJOURN_LOG_FORMAT": "text",
            "SOJOURN_LIMITS_STOP_TIMEOUT_SECONDS": "\(stopTimeout)", "SOJOURN_LIMITS_BODY_TIMEOUT_SECONDS": "3600",
        ]
        let server = try program.start([
            "serve", "--database", "sqlite:db", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file",
            "ready.json",
        ])
        guard await server.waitForFile("ready.json"), let ready = folder.text("ready.json"),
            let url = JSONValue(text: Array(ready.utf8))?["public"]?.string
        else { throw CrashServer.NotReady(errors: await server.result().errors) }
        return (server, try SocketAddress(String(url.dropFirst("http://".count))))
    }

    /// A request with content that does not come to an end.
    private func halfARequest(_ address: SocketAddress) throws -> ClientSocket {
        let socket = try ClientSocket(to: address, timeout: .seconds(60))
        try socket.send(
            Array("POST /v1/refresh HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n".utf8))
        // The server has it when it asks for the content.
        _ = try socket.receive()
        return socket
    }

    private func isRefused(_ address: SocketAddress) async throws {
        while (try? ClientSocket(to: address, timeout: .seconds(60))) != nil {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("SIGTERM refuses new connections, finishes requests under way as the last ones, and exits with 0")
    func finishesWhatRuns() async throws {
        let (server, address) = try await start(stopTimeout: 3600)
        let busy = try halfARequest(address)
        server.signal(SIGTERM)
        try await isRefused(address)
        #expect(!folder.exists("ready.json"))
        try busy.send(Array("{}".utf8))
        let answer = String(decoding: try busy.receive(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 4"))
        #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
        #expect(try busy.receive() == [])
        busy.shutdownWrite()
        #expect(await server.result().status == 0)
    }

    @Test("a request that is not finished at the deadline is cut, and the exit is 0 all the same")
    func cutsAtTheDeadline() async throws {
        let (server, address) = try await start(stopTimeout: 1)
        let busy = try halfARequest(address)
        server.signal(SIGTERM)
        let result = await server.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect((try? busy.receive()) ?? [] == [])
    }

    @Test("a second signal ends the process at once")
    func secondSignal() async throws {
        let (server, address) = try await start(stopTimeout: 3600)
        let busy = try halfARequest(address)
        server.signal(SIGTERM)
        try await isRefused(address)
        server.signal(SIGTERM)
        #expect(await server.result().status == -SIGTERM)
        #expect((try? busy.receive()) ?? [] == [])
    }

    @Test("SIGTERM during the start ends it, and the next one starts")
    func duringTheStart() async throws {
        for delay in 0..<12 {
            let server = try CrashServer.spawn(folder, [:])
            usleep(UInt32(delay) * 2000)
            server.signal(SIGTERM)
            // Before it listens to signals it ends as any program does.
            let result = await server.result()
            #expect([0, -SIGTERM].contains(result.status), "\(result.errors)")
            #expect(!folder.exists("ready.json"))
        }
        let (server, _) = try await start(stopTimeout: 10)
        server.signal(SIGINT)
        #expect(await server.result().status == 0)
    }
}
