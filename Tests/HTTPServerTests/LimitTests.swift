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

    @Test func thousandsOfConnectionsLeaveNoDescriptorBehind() async throws {
        // In a process of its own: other tests open descriptors too.
        await #expect(processExitsWith: .success) {
            func descriptorCount() -> Int {
                var count = 0
                for number in 0..<Int32(4096) where fcntl(number, F_GETFD) >= 0 { count += 1 }
                return count
            }
            // What the runtime opens once for itself is no leak.
            try await withServer { _ = try await $0.client().ask(get("/")) }
            let before = descriptorCount()
            try await withServer { server in
                for number in 0..<3000 {
                    let client = try await server.client()
                    let ending = number % 2 == 0 ? "Connection: close\r\n" : ""
                    let status = try await client.ask(number % 3 == 0 ? "BAD\r\n\r\n" : get("/", ending)).status
                    if status != (number % 3 == 0 ? 400 : 200) { exit(2) }
                    await client.close()
                }
            }
            // Another thread of the runtime may have a file open for a moment; 3000 connections would leave thousands.
            exit(descriptorCount() - before < 10 ? 0 : 1)
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
                // Client and server share the process: one descriptor is left, and the client takes it.
                let next = dup(0)
                close(next)
                limitDescriptors(to: next + 1)
                let waiting = try await server.client()
                while server.server.statistics.acceptPauses == 0 { await Task.yield() }
                // Who is in goes on, and the loop does not spin: it waits for the clock.
                for _ in 0..<100 where try await first.ask(get("/")).status != 200 { exit(3) }
                if server.server.statistics.acceptPauses != 1 { exit(4) }
                limitDescriptors(to: next + 10)
                try await waiting.send(get("/"))
                server.advance(.seconds(1))
                if try await waiting.response().status != 200 { exit(5) }
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
