import EventLoops
import Glibc
import HTTP
import HTTPServer
import Sockets
import Testing

/// More than the server can carry is turned away in words, and costs nothing afterwards.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
    @Test func oneConnectionTooManyIsTurnedAwayAndAPlaceBecomesFreeAgain() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = 2
        try await withServer(configuration) { server in
            let first = try await server.client()
            let second = try await server.client()
            #expect(try await first.ask(get("/")).status == 200)
            #expect(try await second.ask(get("/")).status == 200)
            let third = try await server.client()
            let rejection = try await third.ask(get("/"))
            #expect(rejection.status == 503)
            #expect(rejection.fields["retry-after"] == "1")
            #expect(server.server.statistics.rejected == 1)
            // The answer with `close` comes before the place is given back, the end of the stream does not.
            #expect(try await first.ask(get("/", "Connection: close\r\n")).status == 200)
            #expect(try await first.isClosed())
            #expect(try await server.client().ask(get("/")).status == 200)
        }
    }

    @Test("a limit that one client reaches alone is no overload of the server") func overload() {
        #expect(HTTPServer.Limit.allCases.filter(\.isOverload) == [.requestTime, .pendingRequests, .bufferedBytes])
    }

    @Test func oneAddressCanBeLimited() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnectionsPerAddress = 1
        try await withServer(configuration) { server in
            let first = try await server.client()
            #expect(try await first.ask(get("/")).status == 200)
            #expect(try await server.client().ask(get("/")).status == 503)
            #expect(try await first.ask(get("/", "Connection: close\r\n")).status == 200)
            #expect(try await first.isClosed())
            #expect(try await server.client().ask(get("/")).status == 200)
        }
    }

    @Test func aConnectionEndsAfterItsLastRequest() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumRequestsPerConnection = 2
        try await withServer(configuration) { server in
            let client = try await server.client()
            #expect(try await client.ask(get("/")).fields["connection"] == nil)
            #expect(try await client.ask(get("/")).fields["connection"] == "close")
            await client.shutdownWrite()
            #expect(try await client.isClosed())
        }
    }

    @Test func aClientThatLeavesKeepsItsPlaceUntilItsHandlerHasEnded() async throws {
        let started = Gate()
        let release = Gate()
        let handler = slowEcho(started, release)
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = 1
        try await withServer(configuration, loops: 1, handler: handler) { server in
            let client = try await server.client()
            try await client.send(get("/slow"))
            await started.pass()
            await client.reset()
            #expect(try await server.client().ask(get("/")).status == 503)
            await release.open()
            // Once the late answer is dropped there is room again; until then, and it is soon, a 503 says so.
            var statuses: [Int] = []
            while statuses.last != 200, statuses.count < 10_000 {
                statuses.append(try await server.client().ask(get("/", "Connection: close\r\n")).status)
            }
            #expect(statuses.last == 200)
        }
    }

    @Test func thousandsOfConnectionsLeaveNothingBehind() async throws {
        // In a process of its own: other tests open descriptors too.
        await #expect(processExitsWith: .success) {
            try await withServer { server in
                // What the runtime and the server keep for good is no leak.
                try useConnections(2000, server.address)
                while server.server.statistics.open > 0 { server.advance(.seconds(3)) }
                let (descriptors, pages) = (descriptorCount(), residentPages())
                try useConnections(18_000, server.address)
                while server.server.statistics.open > 0 { server.advance(.seconds(3)) }
                // Another thread of the runtime may have a file open for a moment; a leak would leave thousands.
                if descriptorCount() - descriptors >= 10 { exit(3) }
                // A hundred bytes for each connection would be 440 pages.
                if residentPages() - pages > 256 { exit(4) }
                if server.server.statistics.bufferedBytes != 0 { exit(5) }
            }
            exit(0)
        }
    }

    @Test func theLastDescriptorsAreNotSpentOnConnections() async throws {
        await #expect(processExitsWith: .success) {
            // Client and server share the process. The server learns of a limit that it then has nearly reached.
            limitDescriptors(to: 300)
            try await withServer { server in
                var clients: [Client] = []
                while server.server.statistics.rejected == 0 {
                    let client = try await server.client()
                    clients.append(client)
                    guard let status = try? await client.ask(get("/")).status else { break }
                    if status != 200 { exit(2) }
                }
                if server.server.statistics.rejected != 1 || clients.count < 100 { exit(3) }
                let next = dup(0)
                close(next)
                if !(260..<300).contains(next) || server.server.statistics.acceptPauses != 0 { exit(4) }
                if try await clients[0].ask(get("/")).status != 200 { exit(5) }
            }
            exit(0)
        }
    }

    @Test func runningOutOfDescriptorsIsSurvived() async throws {
        await #expect(processExitsWith: .success) {
            try await withServer(loops: 1) { server in
                let first = try await server.client()
                if try await first.ask(get("/")).status != 200 { exit(2) }
                // The runtime opens what it needs for timers with the first of them, and could not go on without.
                await aMoment()
                // Client and server share the process: one descriptor is left, and the client takes it. The limit stays for a
                // moment only: Dispatch looks at its threads in /proc each second, and ends the process if it cannot. It may
                // also hold a descriptor just now, so that the server gets one after all.
                var waiting: [Client] = []
                while server.server.statistics.acceptPauses == 0 {
                    leaveOneDescriptor()
                    if let client = try? await server.client() { waiting.append(client) }
                    for _ in 0..<1000 where server.server.statistics.acceptPauses == 0 { await Task.yield() }
                }
                limitDescriptors(to: 1000)
                let accepted = server.server.statistics.accepted
                // An open connection goes on, and the loop does not spin: it waits for the clock.
                for _ in 0..<100 where await (try? first.ask(get("/")).status) != 200 { exit(3) }
                if server.server.statistics.acceptPauses != 1 { exit(4) }
                if server.server.statistics.accepted != accepted { exit(6) }
                try await waiting.last?.send(get("/"))
                server.advance(.seconds(1))
                if await (try? waiting.last?.response().status) != 200 { exit(5) }
            }
            exit(0)
        }
    }
}

/// Lowers or raises the soft limit of this process.
private func limitDescriptors(to count: Int32) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    limits.rlim_cur = rlim_t(count)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
}

/// Lowers the soft limit so that one more descriptor can be opened, if any can be opened now.
private func leaveOneDescriptor() {
    let next = dup(0)
    guard next >= 0 else { return }
    close(next)
    limitDescriptors(to: next + 1)
}

/// Opens, uses and ends connections in eight ways, one after the other.
private func useConnections(_ count: Int, _ address: SocketAddress) throws {
    for number in 0..<count {
        let socket = try ClientSocket(to: address, timeout: .seconds(20))
        let way = number % 8
        // Half of all resets leave no port behind that rests for a minute.
        if way % 2 == 0 { socket.resetOnClose() }
        let texts = [
            get("/"), get("/"), get("/", "Connection: close\r\n"), "BAD\r\n\r\n", "GET / HT", "", post("/", "abc"),
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n" + String(repeating: "a", count: 8000),
        ]
        try socket.send(Array(texts[way].utf8))
        guard way < 4 || way == 6 else { continue }
        if try !socket.receive().starts(with: "HTTP/1.1 \(way == 3 ? 400 : 200)".utf8) { exit(2) }
        if way == 2, try !socket.receive().isEmpty { exit(2) }
    }
}

private func descriptorCount() -> Int { (0..<Int32(4096)).count { fcntl($0, F_GETFD) >= 0 } }

/// Memory of this process, in pages.
private func residentPages() -> Int {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 200)
    let count = read(file, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
}
